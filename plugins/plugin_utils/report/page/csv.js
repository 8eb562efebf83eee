// Copyright (c) gpufleet.node contributors
// GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What the list shows as CSV, one line for each node and setting.

// A spreadsheet takes a text that begins like a formula for one; plain negative numbers are left alone.
function csvField(value) {
  let text = value === undefined ? "" : String(value);
  if (/^[=+\-@\t\r]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csv() {
  const columns = [
    "node",
    "groups",
    "outcome",
    "setting",
    "subsystem",
    "impact",
    "state",
    "waived",
    "rule",
    "desired",
    ...VIEWS,
    "winner",
    "owner",
    "cause",
    "needs",
    "since",
    "detail",
  ];
  const lines = [columns];
  const show = (view) =>
    view === undefined ? "" : view.value !== undefined ? view.value : view.error !== undefined ? `error: ${view.error}` : "";
  for (const row of found.rows)
    for (const [r, nodes] of row.hits)
      for (const n of nodes) {
        const result = results[r];
        const node = data.nodes[n];
        lines.push([
          node.name,
          node.groups.map((group) => data.groups[group]).join(" "),
          node.outcome,
          row.setting.id,
          row.setting.subsystem,
          row.setting.impact,
          result.state,
          result.waived_now ? "yes" : "",
          result.wants,
          result.desired,
          ...VIEWS.map((view) => show(result.views[view])),
          result.winner_from,
          result.winner_owner,
          result.cause,
          result.needs,
          result.since && result.since.started,
          detailText(result),
        ]);
      }
  const bySetting = filters.state.size || filters.impact.size || filters.subsystem || filters.owner;
  const q = filters.q.trim().toLowerCase();
  if (!bySetting)
    for (const n of found.nodes) {
      const node = data.nodes[n];
      if (node.outcome !== "ok" && (!q || node.name.toLowerCase().includes(q)))
        lines.push([
          node.name,
          node.groups.map((group) => data.groups[group]).join(" "),
          node.outcome,
          ...columns.slice(4).map(() => ""),
          node.error,
        ]);
    }
  return lines.map((line) => line.map(csvField).join(",")).join("\r\n") + "\r\n";
}

function download() {
  const link = el("a", { href: URL.createObjectURL(new Blob([csv()], { type: "text/csv" })), download: `drift-${data.run.id}.csv` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
