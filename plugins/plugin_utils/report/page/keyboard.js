// Copyright (c) gpufleet.node contributors
// GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The keyboard.

function help() {
  const old = document.querySelector(".help");
  if (old) {
    old.remove();
    return;
  }
  const keys = [
    ["/", "search"],
    ["j  k", "next and previous setting (also the arrows, once one is chosen)"],
    ["Enter", "open or close the setting"],
    ["n", "open the first node of the setting"],
    ["Esc", "close what is open, leave the search, clear the filters"],
    ["?", "this list"],
  ];
  const box = el(
    "div",
    { class: "help", role: "dialog", "aria-label": "keyboard", tabindex: "-1" },
    el("b", {}, "Keyboard"),
    el(
      "dl",
      {},
      keys.map(([key, text]) => [
        el(
          "dt",
          {},
          key.split("  ").map((one) => [el("kbd", {}, one), " "]),
        ),
        el("dd", {}, text),
      ]),
    ),
  );
  document.body.append(box);
  box.focus();
}

function focusRow(row) {
  if (!row) return;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const rows = [...document.querySelectorAll("tr.row")];
  const at = rows.indexOf(document.activeElement);
  focusRow(rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))]);
}

function onEscape() {
  const box = document.querySelector(".help");
  if (box) box.remove();
  else if (filters.show) go({ show: "" });
  else if (document.activeElement.matches("input, select")) document.activeElement.blur();
  else if (filters.open) go({ open: "" });
  else if (filtered()) go(noFilter());
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const onRow = document.activeElement.matches("tr.row");
  const typing = document.activeElement.matches("input, select, textarea");
  const acts = {
    Escape: onEscape,
    ...(typing
      ? {}
      : {
          "/": () => {
            byId("search").focus();
            byId("search").select();
          },
          "?": help,
        }),
    ...(typing || filters.show ? {} : { j: () => step(1), k: () => step(-1) }),
    ...(onRow && !filters.show
      ? {
          ArrowDown: () => step(1),
          ArrowUp: () => step(-1),
          Enter: () => document.activeElement.click(),
          n: () => {
            const row = found.rows.find((one) => one.setting.id === document.activeElement.dataset.setting);
            if (row) go({ show: data.nodes[Math.min(...row.hitNodes)].name });
          },
        }
      : {}),
  };
  if (!acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
}
