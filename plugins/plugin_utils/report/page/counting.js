// Copyright (c) gpufleet.node contributors
// GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Counts what passes the filters: all that the sections show.

const stateOf = (result) => (result.waived_now ? "waived" : result.state);

function scopeNodes() {
  const group = data.groups.indexOf(filters.group);
  const wanted = filters.node.toLowerCase();
  return data.nodes
    .map((node, index) => index)
    .filter((index) => {
      const node = data.nodes[index];
      return (!filters.group || node.groups.includes(group)) && (!wanted || node.name.toLowerCase().includes(wanted));
    });
}

// Everything that the sections show. `mix` counts all that was judged, `hits` what passes every filter.
function scan() {
  const q = filters.q.trim().toLowerCase();
  const resultText = results.map((result) => !q || result.text.includes(q));
  const resultState = results.map((result) => (filters.state.size ? filters.state.has(stateOf(result)) : result.matters));
  const resultOwner = results.map((result) => !filters.owner || result.owner === filters.owner);
  const wanted = settings.map(
    (setting) =>
      (!filters.impact.size || filters.impact.has(setting.impact)) && (!filters.subsystem || setting.subsystem === filters.subsystem),
  );
  const settingText = settings.map((setting) => !q || setting.text.includes(q));
  const rows = settings.map((setting, index) => ({ index, setting, mix: new Map(), hits: new Map(), nodes: 0, hitNodes: [] }));
  const nodes = scopeNodes();
  const perState = new Map();
  for (const n of nodes) {
    const nodeText = !q || data.nodes[n].name.toLowerCase().includes(q);
    const own = data.nodes[n].results;
    for (let s = 0; s < own.length; s++) {
      const r = own[s];
      if (r < 0 || !wanted[s]) continue;
      const row = rows[s];
      row.nodes++;
      row.mix.set(r, (row.mix.get(r) || 0) + 1);
      if (!resultOwner[r] || !(nodeText || settingText[s] || resultText[r])) continue;
      const state = stateOf(results[r]);
      perState.set(state, (perState.get(state) || 0) + 1);
      if (!resultState[r]) continue;
      const hit = row.hits.get(r);
      if (hit) hit.push(n);
      else row.hits.set(r, [n]);
      row.hitNodes.push(n);
    }
  }
  const shown = rows.filter((row) => row.hitNodes.length);
  shown.forEach((row) => {
    const worst = [...row.hits.keys()].map((r) => results[r]);
    row.counts = worst.some((result) => result.counts !== "nothing");
    row.worst = Math.min(...worst.map((result) => STATE_ORDER.indexOf(result.state)));
  });
  shown.sort(
    (a, b) =>
      b.counts - a.counts ||
      a.setting.rank - b.setting.rank ||
      a.worst - b.worst ||
      b.hitNodes.length - a.hitNodes.length ||
      (a.setting.id < b.setting.id ? -1 : 1),
  );
  return { nodes, rows: shown, perState };
}

// How many of what, worst first: [[value, nodes], ...]
function tally(row, key) {
  const counts = new Map();
  for (const [r, nodes] of row.hits) {
    const value = key(results[r]);
    if (value !== "" && value !== undefined) counts.set(value, (counts.get(value) || 0) + nodes.length);
  }
  return [...counts].sort((a, b) => b[1] - a[1]);
}
