// Copyright (c) gpufleet.node contributors
// GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The bar with the filters.

function select(key, all, options) {
  if (options.length < 2 && !filters[key]) return null;
  return el(
    "select",
    { class: filters[key] ? "set" : "", "aria-label": all, "data-filter": key, onchange: (event) => go({ [key]: event.target.value }) },
    el("option", { value: "" }, all),
    options.map((option) => el("option", { value: option, selected: option === filters[key] }, option)),
  );
}

// The text fields stay the same elements while someone types in them; everything else in the bar is drawn anew.
function buildFilters() {
  const typed = (key, attributes) =>
    el("input", {
      ...attributes,
      "data-filter": key,
      autocomplete: "off",
      spellcheck: "false",
      oninput: (event) => go({ [key]: event.target.value }),
    });
  byId("filters").replaceChildren(
    el(
      "div",
      { class: "line" },
      typed("q", {
        type: "search",
        id: "search",
        placeholder: "Search settings, values, files, owners, nodes   ( / )",
        "aria-label": "search",
      }),
      typed("node", { class: "node", placeholder: "Node", "aria-label": "node", list: "node-names" }),
      el("datalist", { id: "node-names" }),
      el("span", { id: "selects", style: { display: "contents" } }),
      el(
        "span",
        { class: "buttons" },
        el(
          "button",
          {
            class: "button",
            type: "button",
            id: "csv",
            title: "what the list shows, one line for each node and setting",
            onclick: download,
          },
          "CSV",
        ),
        el("button", { class: "button", type: "button", id: "help-button", title: "keyboard (?)", onclick: help }, "?"),
      ),
    ),
    el("div", { class: "line", id: "pills" }),
  );
  document.querySelector("input.node").addEventListener(
    "focus",
    () => {
      if (!byId("node-names").childElementCount) byId("node-names").append(...data.nodes.map((node) => el("option", { value: node.name })));
    },
    { once: true },
  );
}

function drawFilters() {
  for (const key of ["q", "node"]) {
    const input = document.querySelector(`input[data-filter=${key}]`);
    if (input.value !== filters[key]) input.value = filters[key];
    input.classList.toggle("set", Boolean(filters[key]));
  }
  const owners = [...new Set(results.filter((result) => result.matters).map((result) => result.owner))].sort();
  const subsystems = [...new Set(settings.map((setting) => setting.subsystem))];
  byId("selects").replaceChildren(
    ...[
      select("group", "All groups", [...data.groups].sort()),
      select("subsystem", "All subsystems", subsystems),
      select("owner", "All owners", owners),
    ].filter(Boolean),
  );
  const pill = (key, value, label, mark, count) =>
    el(
      "button",
      {
        type: "button",
        class: `pill ${mark ? "" : "text"}`,
        "data-pill": `${key}:${value}`,
        "aria-pressed": String(filters[key].has(value)),
        onclick: () => toggle(key, value),
      },
      mark,
      label,
      count === undefined ? null : el("span", { class: "count" }, number(count)),
    );
  const present = new Set(results.map(stateOf));
  const list = [...STATE_ORDER, "waived"].filter((state) => present.has(state) || filters.state.has(state));
  byId("pills").replaceChildren(
    ...list.map((state) => pill("state", state, stateTitle(state), mark(state), found.perState.get(state) || 0)),
    el("span", { class: "divide" }),
    ...IMPACTS.map((impact) => pill("impact", impact, impact)),
    ...(filtered()
      ? [
          el(
            "button",
            { class: "link", type: "button", id: "reset", style: { marginLeft: "8px" }, onclick: () => go(noFilter()) },
            "Clear filters",
          ),
        ]
      : []),
  );
}
