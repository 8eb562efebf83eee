// Copyright (c) gpufleet.node contributors
// GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The interned data, and what each result and setting is, once.

const data = JSON.parse(document.getElementById("data").textContent);
const { states: STATES, impacts: IMPACTS, views: VIEWS, outcomes: OUTCOMES, causes: CAUSES } = data.words;
const STATE_ORDER = Object.keys(STATES);

const results = data.results.map((result) => {
  const winner = result.winner || {};
  return {
    ...result,
    waived_now: Boolean(result.waived),
    matters: result.counts !== "nothing" || Boolean(result.waived),
    wants: data.rules[result.rule] || result.desired || "",
    winner_from: winner.from || "",
    winner_owner: winner.owner || "",
    owner: winner.owner || winner.from || "nobody",
    text: [
      result.state,
      words(result.state),
      result.desired,
      result.detail,
      winner.from,
      winner.owner,
      ...(result.blocked_by || []),
      ...Object.values(result.views).flatMap((view) => [view.value, view.from, view.error]),
    ]
      .filter(Boolean)
      .join("\n")
      .toLowerCase(),
  };
});
const settings = data.settings.map((setting) => ({
  ...setting,
  rank: IMPACTS.includes(setting.impact) ? IMPACTS.indexOf(setting.impact) : IMPACTS.indexOf("performance"),
  text: [setting.id, setting.why, setting.source].filter(Boolean).join("\n").toLowerCase(),
}));
settings.forEach((setting) => {
  setting.impact = IMPACTS[setting.rank];
});
const facts = data.nodes.map((node) => Object.fromEntries(node.facts.map((index) => data.facts[index])));
const nodeIndex = new Map(data.nodes.map((node, index) => [node.name, index]));
const groupMembers = data.groups.map(() => []);
data.nodes.forEach((node, index) => node.groups.forEach((group) => groupMembers[group].push(index)));
const silent = data.nodes.map((node, index) => index).filter((index) => data.nodes[index].outcome !== "ok");
