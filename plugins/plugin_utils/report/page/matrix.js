// Copyright (c) gpufleet.node contributors
// GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Groups or nodes down, subsystems across.

// Groups or nodes down, subsystems across. A place shows the state of the worst setting in it: worst impact first, then worst state.
function drawMatrix() {
  const subsystems = [...new Set(settings.map((setting) => setting.subsystem))].filter(
    (name) => !filters.subsystem || name === filters.subsystem,
  );
  const byNode = filters.by ? filters.by === "node" : found.nodes.length <= SMALL_FLEET || !data.groups.length || Boolean(filters.group);
  const wrong = wrongOfNodes();
  const judged = data.nodes.map((node) => new Set(node.results.map((r, s) => (r < 0 ? "" : settings[s].subsystem))));
  const scope = new Set(found.nodes);
  const places = (
    byNode
      ? found.nodes.map((n) => ({ name: data.nodes[n].name, node: n, members: [n] }))
      : data.groups.map((name, group) => ({ name, members: groupMembers[group].filter((n) => scope.has(n)) }))
  ).filter((place) => place.members.length);
  for (const place of places) {
    place.silent = place.members.filter((n) => data.nodes[n].outcome !== "ok").length;
    place.cells = subsystems.map((subsystem) => ({
      subsystem,
      ...worstOf(place.members, (one) => one.subsystem === subsystem, wrong),
      judged: place.members.some((n) => judged[n].has(subsystem)),
    }));
    place.rank = Math.min(...place.cells.map((cell) => (cell.worst ? cell.worst.rank : Infinity)), place.silent ? SILENT_RANK : Infinity);
  }
  places.sort((a, b) => a.rank - b.rank || b.silent - a.silent || total(b) - total(a) || (a.name < b.name ? -1 : 1));
  const shown = places.slice(0, limits.matrix);
  const anySilent = places.some((place) => place.silent);
  const columns = [byNode ? "Node" : "Group", ...(anySilent ? ["no answer"] : []), ...subsystems, byNode ? "Settings" : "Nodes"];
  const table = el(
    "table",
    { class: "matrix" },
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        columns.map((name) => el("th", { scope: "col" }, name)),
      ),
    ),
    el(
      "tbody",
      {},
      shown.map((place) => matrixLine(place, byNode, anySilent, wrong)),
    ),
  );
  const used = new Set(places.flatMap((place) => place.cells.map((cell) => cell.worst && cell.worst.state)));
  const legend = [
    ...[...STATE_ORDER, "waived"].filter((state) => used.has(state)).map((state) => el("span", {}, mark(state), stateTitle(state))),
    anySilent && el("span", {}, badge("silent"), "no full answer"),
    el("span", {}, "framed: correctness, filled: performance, pale: hygiene"),
    el("span", {}, `number: ${byNode ? "settings" : "nodes"} with it`),
  ];
  const mode = (by, text) =>
    el("button", { class: "button", type: "button", "aria-pressed": String(byNode === (by === "node")), onclick: () => go({ by }) }, text);
  const more =
    shown.length < places.length
      ? el(
          "button",
          {
            class: "more",
            type: "button",
            onclick: () => {
              limits.matrix = Infinity;
              draw();
            },
          },
          `Show all ${plural(places.length, byNode ? "node" : "group")}`,
        )
      : null;
  byId("matrix").replaceChildren(
    heading(
      "Where",
      byNode ? "the worst of each node, worst node first" : "the worst of each group, worst group first; a group opens into its nodes",
      ...(data.groups.length && data.nodes.length > 1 ? [mode("group", "By group"), mode("node", "By node")] : []),
    ),
    el(
      "div",
      { class: "panel" },
      places.length
        ? [el("div", { class: "matrix-box" }, table), more, el("div", { class: "legend" }, legend)]
        : el("p", { class: "empty" }, "No node passes these filters."),
    ),
  );
}

const SILENT_RANK = 99; // after correctness, before what only costs performance
const total = (place) => place.cells.reduce((sum, cell) => sum + cell.count, 0);

// node -> what passes the filters there: [{setting, subsystem, state, rank}]
function wrongOfNodes() {
  const wrong = data.nodes.map(() => []);
  for (const row of found.rows)
    for (const [r, nodes] of row.hits) {
      const state = stateOf(results[r]);
      const rank =
        results[r].counts === "nothing" ? 900 + STATE_ORDER.indexOf(results[r].state) : row.setting.rank * 100 + STATE_ORDER.indexOf(state);
      for (const n of nodes) wrong[n].push({ setting: row.setting, subsystem: row.setting.subsystem, state, rank });
    }
  return wrong;
}

// The worst among these nodes, and how many nodes (of one node: settings) have it.
function worstOf(members, which, wrong) {
  let worst = null;
  let count = 0;
  for (const n of members) {
    const mine = wrong[n].filter(which);
    const best = Math.min(...mine.map((one) => one.rank));
    if (!mine.length || (worst && best > worst.rank)) continue;
    if (!worst || best < worst.rank) {
      worst = mine.find((one) => one.rank === best);
      count = 0;
    }
    count += members.length > 1 ? 1 : mine.filter((one) => one.rank === best).length;
  }
  return { worst, count };
}

const weight = (one) => (one.rank >= 900 ? "quiet" : one.setting.impact);

function matrixLine(place, byNode, anySilent, wrong) {
  const name = byNode
    ? nodeLink(place.node)
    : [
        el("button", { class: "link mono", type: "button", onclick: () => go({ group: place.name, by: "" }) }, place.name),
        el("span", { class: "soft" }, ` ${plural(place.members.length, "node")}`),
      ];
  const quiet = place.silent
    ? el(
        "span",
        { class: "cell s-silent", title: "no full answer" },
        "×",
        el("span", { class: "n" }, byNode ? OUTCOMES[data.nodes[place.node].outcome] : number(place.silent)),
      )
    : null;
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, name),
    anySilent ? el("td", {}, quiet) : null,
    place.cells.map((cell) => el("td", {}, matrixCell(place, cell, byNode))),
    el("td", { class: "rest" }, byNode ? settingNames(wrong[place.node]) : nodeShares(place, wrong)),
  );
}

function matrixCell(place, cell, byNode) {
  if (!cell.worst)
    return el("span", { class: `cell calm ${cell.judged ? "s-ok" : "s-not_applicable"}` }, cell.judged ? "✓" : place.silent ? "" : "–");
  const { state } = cell.worst;
  const title = `${place.name}, ${cell.subsystem}: ${stateTitle(state)}, ${cell.worst.setting.impact}`;
  return el(
    "button",
    {
      type: "button",
      class: `cell s-${state} ${weight(cell.worst)}`,
      title,
      onclick: () => go(byNode ? { show: place.name } : { group: place.name, subsystem: cell.subsystem, by: "" }),
    },
    state === "waived" ? "w" : STATES[state].letter,
    el("span", { class: "n" }, number(cell.count)),
  );
}

function settingNames(wrong) {
  const sorted = [...wrong].sort((a, b) => a.rank - b.rank);
  return sorted
    .slice(0, 4)
    .map((one, at) => [
      at ? ", " : "",
      el("span", { class: weight(one) === "correctness" ? "mono grave" : "mono" }, one.setting.id.split("/").slice(1).join("/")),
    ])
    .concat(sorted.length > 4 ? ` and ${number(sorted.length - 4)} more` : []);
}

// Each node of a group once, by the worst that it has.
function nodeShares(place, wrong) {
  const shares = { correctness: 0, silent: 0, performance: 0, hygiene: 0, right: 0 };
  for (const n of place.members) {
    const worst = wrong[n].filter((one) => one.rank < 900).sort((a, b) => a.rank - b.rank)[0];
    const silence = data.nodes[n].outcome !== "ok";
    shares[worst && (worst.setting.impact === "correctness" || !silence) ? worst.setting.impact : silence ? "silent" : "right"]++;
  }
  const parts = Object.entries(shares).filter(([, count]) => count);
  const title = parts.map(([share, count]) => `${number(count)} ${share}`).join(", ");
  return el(
    "div",
    { class: "shares", title },
    el(
      "div",
      { class: "mix", role: "img", "aria-label": title },
      parts.map(([share, count]) => el("i", { class: `share-${share}`, style: { flexGrow: count } })),
    ),
    el("span", { class: "soft nowrap" }, `${number(shares.right)} right`),
  );
}
