// Copyright (c) gpufleet.node contributors
// GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later
//
// One node with all views of its settings.

const FACT_WORDS = {
  memory_bytes: "memory",
  page_size: "page size",
  numa_nodes: "NUMA nodes",
  cpus: "CPUs",
  boot_id: "boot id",
  distribution_version: "version",
  uid: "looked at as uid",
};
const factValue = (name, value) =>
  name === "memory_bytes" ? `${number(Math.round(value / 2 ** 30))} GiB` : value === true ? "yes" : value === false ? "no" : String(value);
const FACT_ORDER = [
  "kernel",
  "distribution",
  "distribution_version",
  "vendor",
  "product",
  "serial",
  "cpus",
  "numa_nodes",
  "memory_bytes",
  "architecture",
];
const inOrder = (of) => Object.entries(of).sort(([a], [b]) => (FACT_ORDER.indexOf(a) + 1 || 99) - (FACT_ORDER.indexOf(b) + 1 || 99));
let allOfNode = false;

function drawNode() {
  const index = nodeIndex.get(filters.show);
  document.querySelectorAll(".scrim, .sheet").forEach((element) => element.remove());
  document.body.style.overflow = index === undefined ? "" : "hidden";
  if (index === undefined) return;
  const node = data.nodes[index];
  const close = () => go({ show: "" });
  const judged = node.results.map((r, s) => ({ result: results[r], setting: settings[s] })).filter((one) => one.result);
  judged.sort(
    (a, b) =>
      b.result.matters - a.result.matters ||
      (a.result.counts === "nothing") - (b.result.counts === "nothing") ||
      a.setting.rank - b.setting.rank ||
      STATE_ORDER.indexOf(a.result.state) - STATE_ORDER.indexOf(b.result.state) ||
      (a.setting.id < b.setting.id ? -1 : 1),
  );
  const differ = judged.filter((one) => one.result.matters);
  const shown = allOfNode || !differ.length ? judged : differ;
  const present = VIEWS.filter((view) => shown.some((one) => one.result.views[view]));
  const list = [
    [
      "answer",
      [OUTCOMES[node.outcome], node.transport !== "none" && node.transport, node.duration_s && `${node.duration_s} s`]
        .filter(Boolean)
        .join(", "),
    ],
    ["groups", node.groups.map((group) => data.groups[group]).join(", ") || "none"],
    ["profile", (data.run.profiles[node.profile_key] || {}).profile || "not known"],
    ...inOrder(facts[index]).map(([name, value]) => [FACT_WORDS[name] || words(name), factValue(name, value)]),
  ];
  const odd = data.peers.flatMap((peer) =>
    Object.entries(peer.odd)
      .filter(([, hosts]) => hosts.includes(node.name))
      .map(([value]) => `${peer.what} is ${value}; ${peer.usual} on ${plural(peer.usual_nodes, "peer")}`),
  );
  const bullets = (title, lines) =>
    lines.length
      ? [
          el("h3", {}, title),
          el(
            "ul",
            { class: "list" },
            lines.map((text) => el("li", {}, text)),
          ),
        ]
      : [];
  const table = el(
    "div",
    { class: "kinds" },
    el(
      "table",
      { class: "grid" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("th", {}, "Setting"),
          el("th", {}, "State"),
          el("th", {}, "Wants"),
          present.map((view) => el("th", {}, words(view))),
          el("th", {}, "Whose doing"),
        ),
      ),
      el(
        "tbody",
        {},
        shown.map(({ result, setting }) =>
          el(
            "tr",
            {},
            el("td", {}, el("code", {}, setting.id), el("div", { class: "soft" }, setting.impact)),
            el(
              "td",
              {},
              el("span", { class: "nowrap" }, badge(result.state), ` ${STATES[result.state].title}`),
              el(
                "div",
                { class: "soft" },
                [result.needs !== "nothing" && `needs ${words(result.needs)}`, result.cause && CAUSES[result.cause]]
                  .filter(Boolean)
                  .join("; "),
              ),
              el("div", { class: "soft since" }, sinceText(result.since, 16)),
            ),
            el("td", {}, el("code", {}, result.wants)),
            present.map((view) => viewCell(result, view)),
            el(
              "td",
              {},
              result.winner_from && el("code", {}, result.winner_from),
              result.winner_owner && el("div", { class: "soft" }, result.winner_owner),
              el("div", { class: "soft" }, detailText(result)),
            ),
          ),
        ),
      ),
    ),
  );
  const mine = differ.filter((one) => one.result.mend !== undefined && data.mends[one.result.mend].playbook);
  const commands = [...new Set(mine.map((one) => commandLine(data.mends[one.result.mend], [index])))];
  const sheet = el(
    "div",
    { class: "sheet", role: "dialog", "aria-modal": "true", "aria-label": `node ${node.name}`, tabindex: "-1" },
    el("button", { class: "button close", type: "button", onclick: close, title: "Esc" }, "Close"),
    el("h2", { class: "mono" }, node.name),
    el(
      "div",
      { class: "soft" },
      node.outcome === "ok"
        ? `${plural(differ.length, "setting")} of ${number(judged.length)} to look at`
        : [el("b", {}, OUTCOMES[node.outcome]), `: ${node.error || ""}`],
    ),
    el(
      "dl",
      { class: "facts" },
      list.map(([label, value]) => el("div", {}, el("dt", {}, label), el("dd", {}, value))),
    ),
    commands.map(command),
    judged.length
      ? el(
          "h2",
          { style: { fontSize: "15px", marginTop: "22px", paddingRight: 0 } },
          allOfNode || !differ.length ? "All settings" : "Settings that differ",
          el(
            "span",
            { class: "tools" },
            differ.length
              ? el(
                  "button",
                  {
                    class: "button",
                    type: "button",
                    onclick: () => {
                      allOfNode = !allOfNode;
                      drawNode();
                    },
                  },
                  allOfNode ? "Only what differs" : `All ${number(judged.length)}`,
                )
              : null,
          ),
        )
      : null,
    judged.length ? table : null,
    ...bullets("Odd among its peers", odd),
    ...bullets(
      "Faults",
      node.faults.map((fault) => `${fault.subsystem}: ${fault.error}`),
    ),
    ...bullets("Notes", node.notes),
  );
  document.body.append(el("div", { class: "scrim", onclick: close }), sheet);
  sheet.focus({ preventScroll: true });
}
