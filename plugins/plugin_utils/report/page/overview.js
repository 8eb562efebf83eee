// Copyright (c) gpufleet.node contributors
// GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Above and below the tables: how bad it is, who did not answer, waivers that end, odd ones out, what run it was.

function drawTiles() {
  const ok = data.nodes.length - silent.length;
  let asked = 0;
  const impact = new Map(IMPACTS.map((name) => [name, { settings: new Set(), nodes: new Set() }]));
  data.nodes.forEach((node, n) =>
    node.results.forEach((r, s) => {
      if (r < 0) return;
      asked++;
      if (results[r].counts !== "nothing") {
        const of = impact.get(settings[s].impact);
        of.settings.add(s);
        of.nodes.add(n);
      }
    }),
  );
  const total = data.totals.settings;
  const meter = (part, whole) => el("span", { class: "meter" }, el("i", { style: { width: `${whole ? (100 * part) / whole : 0}%` } }));
  const tile = (label, part, whole) =>
    el(
      "div",
      { class: "tile" },
      el("span", { class: "label" }, label),
      el("b", {}, number(part), el("small", {}, ` of ${number(whole)}`)),
      meter(part, whole),
    );
  const impactTile = (name) => {
    const of = impact.get(name);
    const none = !of.settings.size;
    return el(
      "button",
      {
        type: "button",
        class: `tile ${none ? "none" : name === "hygiene" ? "" : "bad"}`,
        "aria-pressed": String(filters.impact.has(name)),
        onclick: () => toggle("impact", name),
      },
      el("span", { class: "label" }, name[0].toUpperCase() + name.slice(1)),
      el(
        "b",
        {},
        none ? "0" : number(of.settings.size),
        el("small", {}, none ? " settings" : ` ${of.settings.size === 1 ? "setting" : "settings"} on ${plural(of.nodes.size, "node")}`),
      ),
    );
  };
  byId("tiles").replaceChildren(
    tile("Nodes answered", ok, data.nodes.length),
    tile("Settings judged", total.judged, total.asked),
    ...IMPACTS.map(impactTile),
  );
}

function drawAlarms() {
  const items = new Map();
  for (const index of silent) {
    const node = data.nodes[index];
    const key = JSON.stringify([node.outcome, node.error || ""]);
    items.set(key, [...(items.get(key) || []), index]);
  }
  const rows = [...items]
    .sort((a, b) => b[1].length - a[1].length)
    .map(([key, indexes]) => {
      const [outcome, error] = JSON.parse(key);
      return el(
        "div",
        { class: "item" },
        el("strong", {}, `${plural(indexes.length, "node")} ${OUTCOMES[outcome]}`),
        el("div", { class: "why" }, error),
        el("div", {}, names(indexes, 5)),
      );
    });
  const again = el(
    "div",
    { class: "again" },
    el("span", { class: "soft" }, "Ask again"),
    command(commandLine({ playbook: "gpufleet.node.drift", options: "" }, silent)),
  );
  byId("silent").replaceChildren(
    ...(silent.length
      ? [heading("No full answer", "what is not known is not counted as right"), el("div", { class: "panel alarm silent" }, rows, again)]
      : []),
  );
  const broken = data.faults.map((fault) => el("div", { class: "item" }, el("strong", {}, "fault"), el("div", { class: "why" }, fault)));
  byId("faults").replaceChildren(
    ...(broken.length
      ? [
          heading("Faults of the tool", "please report them; what they touched is unknown"),
          el("div", { class: "panel alarm fault" }, broken),
        ]
      : []),
  );
}

function drawWaivers() {
  const line = (waiver) =>
    el(
      "tr",
      {},
      el("td", { class: "mono" }, waiver.setting),
      el("td", { class: `ends ${waiver.days < 0 && waiver.needed_by.length ? "ended" : ""}` }, waiver.when),
      el("td", {}, waiver.about),
      el(
        "td",
        {},
        el("div", {}, waiver.need),
        names(
          waiver.needed_by.map((name) => nodeIndex.get(name)),
          5,
        ),
      ),
    );
  const head = ["Setting", "End", "Waiver", "Without it"].map((text) => el("th", { scope: "col" }, text));
  const table = el("table", { class: "grid" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, data.waivers.map(line)));
  byId("waivers").replaceChildren(
    ...(data.waivers.length
      ? [heading("Waivers", "that end soon, or have ended and count no more"), el("div", { class: "panel" }, table)]
      : []),
  );
}

function drawPeers() {
  const peers = data.peers.slice(0, limits.peers);
  if (!peers.length) {
    byId("peers").replaceChildren();
    return;
  }
  const line = (odd) =>
    Object.entries(odd.odd).map(([value, hosts]) =>
      el(
        "tr",
        {},
        el("td", { class: "mono" }, odd.what),
        el("td", {}, el("code", {}, clipped(odd.usual, 80)), el("span", { class: "soft" }, ` on ${plural(odd.usual_nodes, "node")}`)),
        el("td", {}, el("code", {}, clipped(value, 80))),
        el(
          "td",
          {},
          names(
            hosts.map((name) => nodeIndex.get(name)),
            5,
          ),
        ),
      ),
    );
  byId("peers").replaceChildren(
    heading("Odd ones out", "compared with nodes of the same hardware, whatever the profile says"),
    el(
      "div",
      { class: "panel" },
      el(
        "table",
        { class: "grid" },
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            ["", "Usual", "Odd", "Nodes"].map((text) => el("th", { scope: "col" }, text)),
          ),
        ),
        el("tbody", {}, peers.map(line)),
      ),
      peers.length < data.peers.length
        ? el(
            "button",
            {
              class: "more",
              type: "button",
              onclick: () => {
                limits.peers = Infinity;
                drawPeers();
              },
            },
            `Show all ${number(data.peers.length)}`,
          )
        : null,
    ),
  );
}

function drawFooter() {
  const { run } = data;
  const profiles = Object.values(run.profiles)
    .map((profile) => `${profile.profile} (${profile.files.join(", ")})`)
    .join("; ");
  const controller = Object.entries(run.controller)
    .map(([name, version]) => `${name} ${version}`)
    .join(", ");
  byId("footer").replaceChildren(
    ...[`${run.action} ${run.id}`, `started ${run.started}`, `finished ${run.finished}`, profiles && `profiles: ${profiles}`, controller]
      .filter(Boolean)
      .map((text) => el("span", {}, text)),
  );
}
