// Copyright (c) gpufleet.node contributors
// GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The filters are what stands in the address after #: read from there, written there.

const ROWS_AT_ONCE = 40;
const SMALL_FLEET = 40;

const filters = { q: "", state: new Set(), impact: new Set(), owner: "", subsystem: "", group: "", node: "", by: "", open: "", show: "" };
const limits = { settings: ROWS_AT_ONCE, matrix: ROWS_AT_ONCE, peers: 12 };
let found;

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const [key, old] of Object.entries(filters)) {
    const text = given.get(key) || "";
    filters[key] = old instanceof Set ? new Set(text.split(",").filter(Boolean)) : text;
  }
}

function address() {
  const given = new URLSearchParams();
  for (const [key, value] of Object.entries(filters)) {
    const text = value instanceof Set ? [...value].join(",") : value;
    if (text) given.set(key, text);
  }
  return given.toString();
}

// Opening a node is a step that the browser's back button takes back; typing in a filter is none.
function go(changes) {
  const step = "show" in changes && changes.show && !filters.show;
  Object.assign(filters, changes);
  const target = `#${address()}`;
  if (step) history.pushState(null, "", target);
  else history.replaceState(null, "", target);
  if (!("open" in changes) && !("show" in changes)) {
    limits.settings = ROWS_AT_ONCE;
    limits.matrix = ROWS_AT_ONCE;
  }
  draw();
}

function toggle(key, value) {
  const set = new Set(filters[key]);
  if (!set.delete(value)) set.add(value);
  go({ [key]: set });
}

const noFilter = () => ({ q: "", state: new Set(), impact: new Set(), owner: "", subsystem: "", group: "", node: "" });
const filtered = () =>
  ["q", "owner", "subsystem", "group", "node"].some((key) => filters[key]) || filters.state.size || filters.impact.size;
