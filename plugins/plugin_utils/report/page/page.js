// Copyright (c) gpufleet.node contributors
// GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Draws the report from the interned data that html.py embedded. One way round: the filters are in the address (after #), the address is read
// into `filters`, `scan` counts what passes, the sections are drawn from the counts. Names and values only ever become text nodes.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const { states: STATES, impacts: IMPACTS, views: VIEWS, outcomes: OUTCOMES, causes: CAUSES } = data.words;
const STATE_ORDER = Object.keys(STATES);
const ROWS_AT_ONCE = 40;
const SMALL_FLEET = 40;

const filters = { q: "", state: new Set(), impact: new Set(), owner: "", subsystem: "", group: "", node: "", by: "", open: "", show: "" };
const limits = { settings: ROWS_AT_ONCE, matrix: ROWS_AT_ONCE };
let found;

// ---- Elements -----------------------------------------------------------------------------------------------------------------------------

function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === false || value === undefined || value === null) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return element;
}

const number = (count) => count.toLocaleString("en-US");
const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
const words = (name) => name.replaceAll("_", " ");

function badge(state, title) {
  const about = STATES[state] || { letter: "×", title: "no answer" };
  return el("span", { class: `state s-${state}`, title: title || about.title }, about.letter);
}

function nodeLink(index) {
  const name = data.nodes[index].name;
  return el("button", { class: "link mono nowrap", type: "button", title: "show this node", onclick: (event) => { event.stopPropagation(); go({ show: name }); } }, name);
}

// The first names, and the others when they are asked for.
function names(indexes, most) {
  const box = el("span", {});
  const shown = indexes.length <= most + 1 ? indexes.length : most;
  const add = (from, to) => indexes.slice(from, to).forEach((index, at) => box.append(from + at ? ", " : "", nodeLink(index)));
  add(0, shown);
  if (shown < indexes.length) {
    const rest = el("button", { class: "link nowrap", type: "button", onclick: (event) => { event.stopPropagation(); rest.remove(); add(shown, indexes.length); } },
      ` and ${number(indexes.length - shown)} more`);
    box.append(rest);
  }
  return box;
}

// ---- What each result is, once ------------------------------------------------------------------------------------------------------------

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
    text: [result.state, words(result.state), result.desired, result.detail, winner.from, winner.owner, ...(result.blocked_by || []),
      ...Object.values(result.views).flatMap((view) => [view.value, view.from, view.error])].filter(Boolean).join("\n").toLowerCase(),
  };
});
const settings = data.settings.map((setting) => ({
  ...setting,
  rank: IMPACTS.includes(setting.impact) ? IMPACTS.indexOf(setting.impact) : IMPACTS.indexOf("performance"),
  text: [setting.id, setting.why, setting.source].filter(Boolean).join("\n").toLowerCase(),
}));
settings.forEach((setting) => { setting.impact = IMPACTS[setting.rank]; });
const facts = data.nodes.map((node) => Object.fromEntries(node.facts.map((index) => data.facts[index])));
const nodeIndex = new Map(data.nodes.map((node, index) => [node.name, index]));
const settingIndex = new Map(settings.map((setting, index) => [setting.id, index]));
const groupMembers = data.groups.map(() => []);
data.nodes.forEach((node, index) => node.groups.forEach((group) => groupMembers[group].push(index)));
const silent = data.nodes.map((node, index) => index).filter((index) => data.nodes[index].outcome !== "ok");

// ---- The address ------------------------------------------------------------------------------------------------------------------------------

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
  if (!("open" in changes) && !("show" in changes)) { limits.settings = ROWS_AT_ONCE; limits.matrix = ROWS_AT_ONCE; }
  draw();
}

function toggle(key, value) {
  const set = new Set(filters[key]);
  if (!set.delete(value)) set.add(value);
  go({ [key]: set });
}

const noFilter = () => ({ q: "", state: new Set(), impact: new Set(), owner: "", subsystem: "", group: "", node: "" });
const filtered = () => ["q", "owner", "subsystem", "group", "node"].some((key) => filters[key]) || filters.state.size || filters.impact.size;

// ---- Counting ---------------------------------------------------------------------------------------------------------------------------------

const stateOf = (result) => (result.waived_now ? "waived" : result.state);

function scopeNodes() {
  const group = data.groups.indexOf(filters.group);
  const wanted = filters.node.toLowerCase();
  return data.nodes.map((node, index) => index).filter((index) => {
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
  const wanted = settings.map((setting) => (!filters.impact.size || filters.impact.has(setting.impact)) && (!filters.subsystem || setting.subsystem === filters.subsystem));
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
  shown.sort((a, b) => b.counts - a.counts || a.setting.rank - b.setting.rank || a.worst - b.worst || b.hitNodes.length - a.hitNodes.length || (a.setting.id < b.setting.id ? -1 : 1));
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

// ---- Commands -----------------------------------------------------------------------------------------------------------------------------------

function limit(nodes) {
  if (nodes.length === data.nodes.length && data.nodes.length > 1) return "";
  if (nodes.length > 1) {
    const wanted = new Set(nodes);
    const fitting = data.groups.filter((group, index) => groupMembers[index].length === wanted.size && groupMembers[index].every((node) => wanted.has(node)));
    if (fitting.length) return fitting.sort()[0];
  }
  return nodes.map((index) => data.nodes[index].name).sort().join(",");
}

const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);

function commandLine(mend, nodes) {
  const where = limit(nodes);
  return ["ansible-playbook", mend.playbook, where && `--limit ${quoted(where)}`, mend.options].filter(Boolean).join(" ");
}

function command(line) {
  const button = el("button", { type: "button", title: "copy the command", onclick: async (event) => {
    event.stopPropagation();
    await copy(line);
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1200);
  } }, "copy");
  return el("div", { class: "command" }, el("code", { title: line }, line), button);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", {}, text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

function mending(row) {
  const byMend = new Map();
  for (const [r, nodes] of row.hits) {
    const { mend } = results[r];
    if (mend !== undefined) byMend.set(mend, [...(byMend.get(mend) || []), ...nodes]);
  }
  const kinds = [...byMend].sort((a, b) => b[1].length - a[1].length);
  return kinds.map(([mend, nodes]) => {
    const what = data.mends[mend];
    const where = kinds.length > 1 ? ` (${plural(nodes.length, "node")})` : "";
    return [what.text && el("p", {}, what.text, el("span", { class: "soft" }, where)), what.playbook && command(commandLine(what, nodes))];
  });
}

// ---- Sections -------------------------------------------------------------------------------------------------------------------------------------

function drawTiles() {
  const ok = data.nodes.length - silent.length;
  let asked = 0;
  const impact = new Map(IMPACTS.map((name) => [name, { settings: new Set(), nodes: new Set() }]));
  data.nodes.forEach((node, n) => node.results.forEach((r, s) => {
    if (r < 0) return;
    asked++;
    if (results[r].counts !== "nothing") { const of = impact.get(settings[s].impact); of.settings.add(s); of.nodes.add(n); }
  }));
  const total = data.totals.settings;
  const meter = (part, whole) => el("span", { class: "meter" }, el("i", { style: { width: `${whole ? (100 * part) / whole : 0}%` } }));
  const tile = (label, part, whole) => el("div", { class: "tile" }, el("span", { class: "label" }, label), el("b", {}, number(part), el("small", {}, ` of ${number(whole)}`)), meter(part, whole));
  const impactTile = (name) => {
    const of = impact.get(name);
    const none = !of.settings.size;
    return el("button", { type: "button", class: `tile ${none ? "none" : name === "hygiene" ? "" : "bad"}`, "aria-pressed": String(filters.impact.has(name)), onclick: () => toggle("impact", name) },
      el("span", { class: "label" }, name[0].toUpperCase() + name.slice(1)),
      el("b", {}, none ? "0" : number(of.settings.size), el("small", {}, none ? " settings" : ` ${of.settings.size === 1 ? "setting" : "settings"} on ${plural(of.nodes.size, "node")}`)));
  };
  byId("tiles").replaceChildren(tile("Nodes answered", ok, data.nodes.length), tile("Settings judged", total.judged, total.asked), ...IMPACTS.map(impactTile));
}

function drawAlarms() {
  const items = new Map();
  for (const index of silent) {
    const node = data.nodes[index];
    const key = JSON.stringify([node.outcome, node.error || ""]);
    items.set(key, [...(items.get(key) || []), index]);
  }
  const rows = [...items].sort((a, b) => b[1].length - a[1].length).map(([key, indexes]) => {
    const [outcome, error] = JSON.parse(key);
    return el("div", { class: "item" }, el("strong", {}, `${plural(indexes.length, "node")} ${OUTCOMES[outcome]}`), el("div", {}, el("div", { class: "why" }, error), el("div", { class: "names" }, names(indexes, 8))));
  });
  const again = silent.length ? el("div", { class: "item" }, el("span", { class: "soft" }, "When they can be reached"), command(commandLine({ playbook: "gpufleet.node.drift", options: "" }, silent))) : null;
  byId("silent").replaceChildren(...(silent.length ? [heading("No full answer", "what is not known is not counted as right"), el("div", { class: "panel alarm silent" }, rows, again)] : []));
  const broken = data.faults.map((fault) => el("div", { class: "item" }, el("strong", {}, "fault"), el("div", { class: "why" }, fault)));
  byId("faults").replaceChildren(...(broken.length ? [heading("Faults of the tool", "please report them; what they touched is unknown"), el("div", { class: "panel alarm fault" }, broken)] : []));
}

const heading = (text, note, ...tools) => el("h2", {}, text, note && el("span", { class: "note" }, note), tools.length ? el("span", { class: "tools" }, tools) : null);
const byId = (id) => document.getElementById(id);

function select(key, all, options) {
  if (options.length < 2 && !filters[key]) return null;
  return el("select", { class: filters[key] ? "set" : "", "aria-label": all, "data-filter": key, onchange: (event) => go({ [key]: event.target.value }) },
    el("option", { value: "" }, all), options.map((option) => el("option", { value: option, selected: option === filters[key] }, option)));
}

// The text fields stay the same elements while someone types in them; everything else in the bar is drawn anew.
function buildFilters() {
  const typed = (key, attributes) => el("input", { ...attributes, "data-filter": key, autocomplete: "off", spellcheck: "false", oninput: (event) => go({ [key]: event.target.value }) });
  byId("filters").replaceChildren(
    el("div", { class: "line" },
      typed("q", { type: "search", id: "search", placeholder: "Search settings, values, files, owners, nodes   ( / )", "aria-label": "search" }),
      typed("node", { class: "node", placeholder: "Node", "aria-label": "node", list: "node-names" }),
      el("datalist", { id: "node-names" }),
      el("span", { id: "selects", style: { display: "contents" } }),
      el("button", { class: "button", type: "button", id: "csv", title: "what the list shows, one line for each node and setting", onclick: download }, "CSV"),
      el("button", { class: "button", type: "button", id: "help-button", title: "keyboard (?)", onclick: help }, "?")),
    el("div", { class: "line", id: "pills" }));
  document.querySelector("input.node").addEventListener("focus", () => {
    if (!byId("node-names").childElementCount) byId("node-names").append(...data.nodes.map((node) => el("option", { value: node.name })));
  }, { once: true });
}

function drawFilters() {
  for (const key of ["q", "node"]) {
    const input = document.querySelector(`input[data-filter=${key}]`);
    if (input.value !== filters[key]) input.value = filters[key];
    input.classList.toggle("set", Boolean(filters[key]));
  }
  const owners = [...new Set(results.filter((result) => result.matters).map((result) => result.owner))].sort();
  const subsystems = [...new Set(settings.map((setting) => setting.subsystem))];
  byId("selects").replaceChildren(...[select("group", "All groups", [...data.groups].sort()), select("subsystem", "All subsystems", subsystems), select("owner", "All owners", owners)].filter(Boolean));
  const pill = (key, value, label, mark, count) => el("button", { type: "button", class: `pill ${mark ? "" : "text"}`, "data-pill": `${key}:${value}`, "aria-pressed": String(filters[key].has(value)), onclick: () => toggle(key, value) },
    mark, label, count === undefined ? null : el("span", { class: "count" }, number(count)));
  const present = new Set(results.map(stateOf));
  const list = [...STATE_ORDER, "waived"].filter((state) => present.has(state) || filters.state.has(state));
  const waivedMark = () => el("span", { class: "state s-waived" }, "w");
  byId("pills").replaceChildren(
    ...list.map((state) => pill("state", state, state === "waived" ? "waived" : STATES[state].title, state === "waived" ? waivedMark() : badge(state), found.perState.get(state) || 0)),
    el("span", { class: "divide" }),
    ...IMPACTS.map((impact) => pill("impact", impact, impact)),
    ...(filtered() ? [el("button", { class: "link", type: "button", id: "reset", style: { marginLeft: "8px" }, onclick: () => go(noFilter()) }, "Clear filters")] : []));
}

function mixBar(row) {
  const counts = new Map();
  for (const [r, count] of row.mix) counts.set(stateOf(results[r]), (counts.get(stateOf(results[r])) || 0) + count);
  const parts = [...STATE_ORDER, "waived"].filter((state) => counts.has(state));
  const label = parts.map((state) => `${number(counts.get(state))} ${state === "waived" ? "waived" : STATES[state].title}`).join(", ");
  return el("div", { class: "mix", role: "img", "aria-label": label, title: label }, parts.map((state) => el("i", { class: `s-${state}`, style: { flexGrow: counts.get(state) } })));
}

function valueList(label, kind, counts) {
  if (!counts.length) return null;
  const shown = counts.slice(0, 3).map(([value, count]) => [" ", el("code", {}, clipped(value, 60)), counts.length > 1 ? el("span", { class: "times" }, ` ×${number(count)}`) : null]);
  return el("span", { class: kind }, label, shown, counts.length > 3 ? el("span", { class: "times" }, ` and ${number(counts.length - 3)} other values`) : null);
}

const clipped = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function whose(row) {
  const winners = tally(row, (result) => (result.winner_from ? JSON.stringify([result.winner_from, result.winner_owner]) : ""));
  const shown = winners.slice(0, 2).map(([key, count]) => {
    const [from, owner] = JSON.parse(key);
    return el("div", {}, el("span", { class: "from" }, from), owner && el("span", { class: "soft" }, owner), winners.length > 1 ? el("span", { class: "soft" }, ` ×${number(count)}`) : null);
  });
  if (winners.length > 2) shown.push(el("div", { class: "soft" }, `and ${plural(winners.length - 2, "other place")}`));
  if (!winners.length) shown.push(el("span", { class: "soft" }, "No file sets it."));
  const causes = tally(row, (result) => result.cause || "").map(([cause, count], at, all) => `${CAUSES[cause] || cause}${all.length > 1 ? ` ×${number(count)}` : ""}`);
  const waivers = tally(row, (result) => (result.waived_now ? [`waived: ${result.waived.reason || "no reason"}`, result.waived.ticket, result.waived.until && `until ${result.waived.until}`].filter(Boolean).join(", ") : ""));
  const holders = [...new Set([...row.hits.keys()].flatMap((r) => results[r].blocked_by || []))];
  return [shown, causes.length ? el("span", { class: "cause" }, causes.join(", ")) : null,
    waivers.slice(0, 2).map(([text]) => el("span", { class: "cause" }, text)),
    holders.length ? el("span", { class: "cause" }, `held by ${clipped(holders[0], 60)}${holders.length > 1 ? ` and ${holders.length - 1} more` : ""}`) : null];
}

function settingRow(row) {
  const { setting } = row;
  const [family, ...rest] = setting.id.split("/");
  const opened = filters.open === setting.id;
  const counts = tally(row, stateOf).sort((a, b) => STATE_ORDER.indexOf(a[0]) - STATE_ORDER.indexOf(b[0]));
  const one = data.nodes.length === 1;
  const where = el("td", { class: "where", "data-label": "Where" },
    one ? null : [el("div", {}, el("b", {}, number(row.hitNodes.length)), ` of ${plural(row.nodes, "node")}`), mixBar(row)],
    el("div", { class: "tally" }, counts.map(([state, count]) => el("span", {}, state === "waived" ? el("span", { class: "state s-waived" }, "w") : badge(state),
      `${one ? "" : `${number(count)} `}${state === "waived" ? "waived" : STATES[state].title}`))),
    one ? null : el("div", { class: "names" }, names([...new Set(row.hitNodes)], 3)));
  const line = el("tr", { class: `row ${row.counts ? "" : "waived"}`, tabindex: "-1", "data-setting": setting.id, "aria-expanded": String(opened), onclick: (event) => { if (!getSelection().toString()) go({ open: opened ? "" : setting.id }); } },
    el("td", {}, el("span", { class: "id" }, rest.length ? [el("span", { class: "family" }, `${family}/`), rest.join("/")] : family),
      el("div", { class: "values" }, valueList("wants", "wants", tally(row, (result) => result.wants)),
        valueList("has", row.counts ? "has" : "", tally(row, (result) => result.seen)))),
    where,
    el("td", { class: "whose", "data-label": "Whose doing" }, whose(row)),
    el("td", { class: "mends", "data-label": "What mends it" }, mending(row)));
  return opened ? [line, el("tr", { class: "detail" }, el("td", { colspan: 4 }, settingDetail(row)))] : [line];
}

function settingDetail(row) {
  const { setting } = row;
  const needs = tally(row, (result) => (result.needs === "nothing" ? "" : words(result.needs))).map(([need]) => need).join(", ");
  const rules = tally(row, (result) => result.wants).map(([text, count], at, all) => (all.length > 1 ? `${text} ×${number(count)}` : text)).join("; ");
  const about = [["Why", setting.why], ["Source", setting.source], ["Rule", rules], ["Impact", setting.impact], ["Writing it can disturb", setting.disturbs], ["Owner", setting.owner === "leave" ? "left to others, compared only" : setting.owner], ["Needs", needs], ["Mended", setting.mend === "never" ? "never, check only" : ""]];
  const kinds = [...row.hits].sort((a, b) => STATE_ORDER.indexOf(results[a[0]].state) - STATE_ORDER.indexOf(results[b[0]].state) || b[1].length - a[1].length);
  const shown = kinds.slice(0, 25);
  const present = VIEWS.filter((view) => kinds.some(([r]) => results[r].views[view]));
  return [
    el("dl", { class: "about" }, about.filter(([, text]) => text).map(([label, text]) => [el("dt", {}, label), el("dd", {}, text)])),
    el("div", { class: "kinds" }, el("table", { class: "grid" },
      el("thead", {}, el("tr", {}, el("th", {}, "State"), present.map((view) => el("th", {}, words(view))), el("th", {}, "Detail"), el("th", {}, "Nodes"))),
      el("tbody", {}, shown.map(([r, nodes]) => el("tr", {}, el("td", { class: "nowrap" }, badge(results[r].state), ` ${STATES[results[r].state].title}${results[r].waived_now ? ", waived" : ""}`),
        present.map((view) => viewCell(results[r], view)), el("td", {}, detailText(results[r])), el("td", {}, `${number(nodes.length)}: `, names(nodes, 6))))))),
    kinds.length > shown.length ? el("p", { class: "soft" }, `${plural(kinds.length - shown.length, "more combination")} of values: they are in the CSV.`) : null,
  ];
}

function viewCell(result, name) {
  const view = result.views[name];
  if (!view) return el("td", { class: "view soft" }, "");
  const wrong = result.counts === "drift" && view.value !== undefined && result.desired !== undefined && view.value !== result.desired && ((name === "live") === ["live_wrong", "refused", "blocked", "partial"].includes(result.state));
  const value = view.value !== undefined ? el("code", { class: wrong ? "wrong" : "" }, view.value) : view.error !== undefined ? el("span", { class: "error" }, view.error) : el("span", { class: "soft" }, view.unset);
  return el("td", { class: "view" }, value, view.from && el("span", { class: "from" }, view.from));
}

const detailText = (result) => [result.detail, ...(result.blocked_by || []), result.waived_now && `waived: ${[result.waived.reason, result.waived.ticket, result.waived.until && `until ${result.waived.until}`].filter(Boolean).join(", ")}`].filter(Boolean).join("; ");

function drawSettings() {
  const { rows } = found;
  const active = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.setting : undefined;
  const differ = rows.filter((row) => row.counts).length;
  const note = filtered() ? `${number(rows.length)} of ${plural(settings.length, "setting")} pass the filters` : differ ? `${number(differ)} of ${plural(settings.length, "setting")}, worst impact first` : "";
  const shown = rows.slice(0, limits.settings);
  // A setting that the address opens is drawn even when it is further down.
  const opened = rows.findIndex((row) => row.setting.id === filters.open);
  if (opened >= shown.length) shown.push(rows[opened]);
  const body = el("tbody", {});
  let last = "";
  for (const row of shown) {
    const part = row.counts ? row.setting.impact : "counts for nothing";
    if (part !== last) body.append(el("tr", { class: "impact-row" }, el("td", { colspan: 4 }, el("b", {}, part), ` ${IMPACT_WORDS[part]}`)));
    last = part;
    body.append(...settingRow(row));
  }
  const table = el("table", { class: "settings" }, el("colgroup", {}, el("col", { class: "c-what" }), el("col", { class: "c-where" }), el("col", { class: "c-whose" }), el("col", {})),
    el("thead", {}, el("tr", {}, ["What is wrong", "Where", "Whose doing", "What mends it"].map((text) => el("th", { scope: "col" }, text)))), body);
  const more = shown.length < rows.length ? el("button", { class: "more", type: "button", onclick: () => { limits.settings = Infinity; draw(); } }, `Show all ${plural(rows.length, "setting")}`) : null;
  const empty = el("p", { class: "empty" }, filtered() ? "Nothing passes these filters." : silent.length === data.nodes.length ? "No node answered in full: nothing is known about its settings." : "Every setting that was read is as the profile wants it.");
  byId("settings").replaceChildren(heading("Settings that differ", note), el("div", { class: "panel" }, rows.length ? [table, more] : empty));
  byId("count").textContent = note;
  if (active !== undefined) focusRow([...document.querySelectorAll("tr.row")].find((row) => row.dataset.setting === active));
}

const IMPACT_WORDS = {
  correctness: "– results can be wrong or jobs can fail", performance: "– jobs run slower or less evenly", hygiene: "– order, safety and what a later change trips over", "counts for nothing": "– waived, right, or not to be judged",
};

// Groups or nodes down, subsystems across; the worst state of each place.
function drawMatrix() {
  const subsystems = [...new Set(settings.map((setting) => setting.subsystem))].filter((name) => !filters.subsystem || name === filters.subsystem);
  const byNode = filters.by ? filters.by === "node" : found.nodes.length <= SMALL_FLEET || !data.groups.length || Boolean(filters.group);
  const cells = data.nodes.map(() => null);
  for (const row of found.rows) for (const [r, nodes] of row.hits) for (const n of nodes) {
    const key = subsystems.indexOf(row.setting.subsystem);
    const state = stateOf(results[r]);
    cells[n] = cells[n] || {};
    (cells[n][key] = cells[n][key] || new Map()).set(state, (cells[n][key].get(state) || 0) + 1);
  }
  const judged = data.nodes.map((node) => new Set(node.results.map((r, s) => (r < 0 ? -1 : subsystems.indexOf(settings[s].subsystem)))));
  const scope = new Set(found.nodes);
  const places = byNode
    ? found.nodes.map((n) => ({ name: data.nodes[n].name, node: n, members: [n] }))
    : data.groups.map((name, group) => ({ name, members: groupMembers[group].filter((n) => scope.has(n)) })).filter((place) => place.members.length);
  for (const place of places) {
    place.silent = place.members.filter((n) => data.nodes[n].outcome !== "ok").length;
    place.cells = subsystems.map((name, key) => {
      const counts = new Map();
      for (const n of place.members) if (cells[n] && cells[n][key]) for (const [state, count] of cells[n][key]) counts.set(state, (counts.get(state) || 0) + (byNode ? count : 1));
      const worst = [...STATE_ORDER, "waived"].find((state) => counts.has(state));
      return { worst, count: worst ? counts.get(worst) : 0, judged: place.members.some((n) => judged[n].has(key)) };
    });
    place.rank = Math.min(place.silent ? 0.5 : 99, ...place.cells.map((cell) => (cell.worst ? (cell.worst === "waived" ? 98 : STATE_ORDER.indexOf(cell.worst)) : 99)));
  }
  places.sort((a, b) => a.rank - b.rank || b.cells.reduce((sum, cell) => sum + cell.count, 0) - a.cells.reduce((sum, cell) => sum + cell.count, 0) || (a.name < b.name ? -1 : 1));
  const shown = places.slice(0, limits.matrix);
  const anySilent = places.some((place) => place.silent);
  const line = (place) => el("tr", {},
    el("th", { scope: "row" }, byNode ? nodeLink(place.node) : [el("button", { class: "link mono", type: "button", onclick: () => go({ group: place.name, by: "" }) }, place.name), el("span", { class: "soft" }, ` ${plural(place.members.length, "node")}`)]),
    anySilent ? el("td", {}, place.silent ? el("span", { class: "cell s-silent", title: "no full answer" }, "×", byNode ? el("span", { class: "n" }, OUTCOMES[data.nodes[place.node].outcome]) : el("span", { class: "n" }, number(place.silent))) : null) : null,
    place.cells.map((cell, key) => el("td", {}, matrixCell(place, cell, subsystems[key], byNode))), el("td", {}));
  const used = new Set(places.flatMap((place) => place.cells.map((cell) => cell.worst)).filter(Boolean));
  const legend = [...STATE_ORDER.filter((state) => used.has(state)).map((state) => el("span", {}, badge(state), STATES[state].title)),
    used.has("waived") ? el("span", {}, el("span", { class: "state s-waived" }, "w"), "waived") : null, anySilent ? el("span", {}, badge("silent"), "no full answer") : null,
    el("span", {}, badge("ok"), "nothing to mend"), el("span", {}, byNode ? "number: settings in that state" : "number: nodes in that state")].filter(Boolean);
  const mode = (by, text) => el("button", { class: "button", type: "button", "aria-pressed": String(byNode === (by === "node")), onclick: () => go({ by }) }, text);
  const more = shown.length < places.length ? el("button", { class: "more", type: "button", onclick: () => { limits.matrix = Infinity; draw(); } }, `Show all ${plural(places.length, byNode ? "node" : "group")}`) : null;
  const table = el("table", { class: "matrix" }, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, byNode ? "Node" : "Group"), anySilent ? el("th", { scope: "col" }, "no answer") : null, subsystems.map((name) => el("th", { scope: "col" }, name)), el("th", {}))), el("tbody", {}, shown.map(line)));
  byId("matrix").replaceChildren(
    heading("Where", byNode ? "each node's worst state" : "the worst state in each group; a group opens into its nodes", data.groups.length && data.nodes.length > 1 ? [mode("group", "By group"), mode("node", "By node")] : []),
    el("div", { class: "panel" }, places.length ? [el("div", { class: "matrix-box" }, table), more, el("div", { class: "legend" }, legend)] : el("p", { class: "empty" }, "No node passes these filters.")));
}

function matrixCell(place, cell, subsystem, byNode) {
  if (!cell.worst) return el("span", { class: `cell calm ${cell.judged ? "s-ok" : "s-not_applicable"}` }, cell.judged ? "✓" : place.silent ? "" : "–");
  const letter = cell.worst === "waived" ? "w" : STATES[cell.worst].letter;
  const title = `${place.name}, ${subsystem}: ${cell.worst === "waived" ? "waived" : STATES[cell.worst].title}`;
  return el("button", { type: "button", class: `cell state-cell s-${cell.worst}`, title, onclick: () => go(byNode ? { show: place.name } : { group: place.name, subsystem, by: "" }) }, letter, el("span", { class: "n" }, number(cell.count)));
}

function drawPeers() {
  const ROWS = 12;
  const peers = data.peers.slice(0, limits.peers || ROWS);
  if (!peers.length) { byId("peers").replaceChildren(); return; }
  const line = (odd) => Object.entries(odd.odd).map(([value, hosts]) => el("tr", {},
    el("td", { class: "mono" }, odd.what), el("td", {}, el("code", {}, clipped(odd.usual, 80)), el("span", { class: "soft" }, ` on ${plural(odd.usual_nodes, "node")}`)),
    el("td", {}, el("code", {}, clipped(value, 80))), el("td", {}, names(hosts.map((name) => nodeIndex.get(name)), 5))));
  byId("peers").replaceChildren(heading("Odd ones out", "compared with nodes of the same hardware, whatever the profile says"),
    el("div", { class: "panel" }, el("table", { class: "grid" }, el("thead", {}, el("tr", {}, ["", "Usual", "Odd", "Nodes"].map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, peers.map(line))),
      peers.length < data.peers.length ? el("button", { class: "more", type: "button", onclick: () => { limits.peers = Infinity; drawPeers(); } }, `Show all ${number(data.peers.length)}`) : null));
}

function drawFooter() {
  const { run } = data;
  const profiles = Object.values(run.profiles).map((profile) => `${profile.profile} (${profile.files.join(", ")})`).join("; ");
  const controller = Object.entries(run.controller).map(([name, version]) => `${name} ${version}`).join(", ");
  byId("footer").replaceChildren(...[`${run.action} ${run.id}`, `started ${run.started}`, `finished ${run.finished}`, profiles && `profiles: ${profiles}`, controller].filter(Boolean).map((text) => el("span", {}, text)));
}

// ---- One node ---------------------------------------------------------------------------------------------------------------------------------------

const FACT_WORDS = { memory_bytes: "memory", page_size: "page size", numa_nodes: "NUMA nodes", cpus: "CPUs", boot_id: "boot id", distribution_version: "version", uid: "looked at as uid" };
const factValue = (name, value) => (name === "memory_bytes" ? `${number(Math.round(value / 2 ** 30))} GiB` : value === true ? "yes" : value === false ? "no" : String(value));
let allOfNode = false;

function drawNode() {
  const index = nodeIndex.get(filters.show);
  document.querySelectorAll(".scrim, .sheet").forEach((element) => element.remove());
  document.body.style.overflow = index === undefined ? "" : "hidden";
  if (index === undefined) return;
  const node = data.nodes[index];
  const close = () => go({ show: "" });
  const judged = node.results.map((r, s) => ({ result: results[r], setting: settings[s] })).filter((one) => one.result);
  judged.sort((a, b) => b.result.matters - a.result.matters || (a.result.counts === "nothing") - (b.result.counts === "nothing") || a.setting.rank - b.setting.rank || STATE_ORDER.indexOf(a.result.state) - STATE_ORDER.indexOf(b.result.state) || (a.setting.id < b.setting.id ? -1 : 1));
  const differ = judged.filter((one) => one.result.matters);
  const shown = allOfNode || !differ.length ? judged : differ;
  const present = VIEWS.filter((view) => shown.some((one) => one.result.views[view]));
  const list = [["answered", `${OUTCOMES[node.outcome]}${node.transport === "none" ? "" : ` by ${node.transport} in ${node.duration_s} s`}`], ["groups", node.groups.map((group) => data.groups[group]).join(", ") || "none"], ["profile", (data.run.profiles[node.profile_key] || {}).profile || "not known"],
    ...Object.entries(facts[index]).map(([name, value]) => [FACT_WORDS[name] || words(name), factValue(name, value)])];
  const odd = data.peers.flatMap((peer) => Object.entries(peer.odd).filter(([, hosts]) => hosts.includes(node.name)).map(([value]) => `${peer.what} is ${value}; ${peer.usual} on ${plural(peer.usual_nodes, "peer")}`));
  const bullets = (title, lines) => (lines.length ? [el("h3", {}, title), el("ul", { class: "list" }, lines.map((text) => el("li", {}, text)))] : []);
  const table = el("div", { class: "kinds" }, el("table", { class: "grid" },
    el("thead", {}, el("tr", {}, el("th", {}, "Setting"), el("th", {}, "State"), el("th", {}, "Wants"), present.map((view) => el("th", {}, words(view))), el("th", {}, "Whose doing"))),
    el("tbody", {}, shown.map(({ result, setting }) => el("tr", {}, el("td", {}, el("code", {}, setting.id), el("div", { class: "soft" }, setting.impact)),
      el("td", {}, el("span", { class: "nowrap" }, badge(result.state), ` ${STATES[result.state].title}`), el("div", { class: "soft" }, [result.needs !== "nothing" && `needs ${words(result.needs)}`, result.cause && CAUSES[result.cause]].filter(Boolean).join("; "))),
      el("td", {}, el("code", {}, result.wants)), present.map((view) => viewCell(result, view)),
      el("td", {}, result.winner_from && el("code", {}, result.winner_from), result.winner_owner && el("div", { class: "soft" }, result.winner_owner), el("div", { class: "soft" }, detailText(result))))))));
  const mine = differ.filter((one) => one.result.mend !== undefined && data.mends[one.result.mend].playbook);
  const commands = [...new Set(mine.map((one) => commandLine(data.mends[one.result.mend], [index])))];
  const sheet = el("div", { class: "sheet", role: "dialog", "aria-modal": "true", "aria-label": `node ${node.name}`, tabindex: "-1" },
    el("button", { class: "button close", type: "button", onclick: close, title: "Esc" }, "Close"),
    el("h2", { class: "mono" }, node.name),
    el("div", { class: "soft" }, node.outcome === "ok" ? `${plural(differ.length, "setting")} of ${number(judged.length)} to look at` : [el("b", {}, OUTCOMES[node.outcome]), `: ${node.error || ""}`]),
    el("dl", { class: "facts" }, list.map(([label, value]) => el("div", {}, el("dt", {}, label), el("dd", {}, value)))),
    commands.map(command),
    judged.length ? el("h2", { style: { fontSize: "15px", marginTop: "22px", paddingRight: 0 } }, allOfNode || !differ.length ? "All settings" : "Settings that differ",
      el("span", { class: "tools" }, differ.length ? el("button", { class: "button", type: "button", onclick: () => { allOfNode = !allOfNode; drawNode(); } }, allOfNode ? "Only what differs" : `All ${number(judged.length)}`) : null)) : null,
    judged.length ? table : null,
    ...bullets("Odd among its peers", odd), ...bullets("Faults", node.faults.map((fault) => `${fault.subsystem}: ${fault.error}`)), ...bullets("Notes", node.notes));
  document.body.append(el("div", { class: "scrim", onclick: close }), sheet);
  sheet.focus({ preventScroll: true });
}

// ---- CSV ----------------------------------------------------------------------------------------------------------------------------------------------

// A spreadsheet takes a text that begins like a formula for one; plain negative numbers are left alone.
function csvField(value) {
  let text = value === undefined ? "" : String(value);
  if (/^[=+\-@\t\r]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csv() {
  const columns = ["node", "groups", "outcome", "setting", "subsystem", "impact", "state", "waived", "rule", "desired", ...VIEWS, "winner", "owner", "cause", "needs", "detail"];
  const lines = [columns];
  const show = (view) => (view === undefined ? "" : view.value !== undefined ? view.value : view.error !== undefined ? `error: ${view.error}` : "");
  for (const row of found.rows) for (const [r, nodes] of row.hits) for (const n of nodes) {
    const result = results[r];
    const node = data.nodes[n];
    lines.push([node.name, node.groups.map((group) => data.groups[group]).join(" "), node.outcome, row.setting.id, row.setting.subsystem, row.setting.impact, result.state, result.waived_now ? "yes" : "", result.wants, result.desired,
      ...VIEWS.map((view) => show(result.views[view])), result.winner_from, result.winner_owner, result.cause, result.needs, detailText(result)]);
  }
  const bySetting = filters.state.size || filters.impact.size || filters.subsystem || filters.owner;
  const q = filters.q.trim().toLowerCase();
  if (!bySetting) for (const n of found.nodes) {
    const node = data.nodes[n];
    if (node.outcome !== "ok" && (!q || node.name.toLowerCase().includes(q))) lines.push([node.name, node.groups.map((group) => data.groups[group]).join(" "), node.outcome, ...columns.slice(4).map(() => ""), node.error]);
  }
  return lines.map((line) => line.map(csvField).join(",")).join("\r\n") + "\r\n";
}

function download() {
  const link = el("a", { href: URL.createObjectURL(new Blob([csv()], { type: "text/csv" })), download: `drift-${data.run.id}.csv` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// ---- Keyboard --------------------------------------------------------------------------------------------------------------------------------------------

function help() {
  const old = document.querySelector(".help");
  if (old) { old.remove(); return; }
  const keys = [["/", "search"], ["j  k", "next and previous setting (also the arrows, once one is chosen)"], ["Enter", "open or close the setting"], ["n", "open the first node of the setting"], ["Esc", "close what is open, leave the search, clear the filters"], ["?", "this list"]];
  const box = el("div", { class: "help", role: "dialog", "aria-label": "keyboard", tabindex: "-1" }, el("b", {}, "Keyboard"), el("dl", {}, keys.map(([key, text]) => [el("dt", {}, key.split("  ").map((one) => [el("kbd", {}, one), " "])), el("dd", {}, text)])));
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
    ...(typing ? {} : { "/": () => { byId("search").focus(); byId("search").select(); }, "?": help }),
    ...(typing || filters.show ? {} : { j: () => step(1), k: () => step(-1) }),
    ...(onRow && !filters.show ? {
      ArrowDown: () => step(1), ArrowUp: () => step(-1),
      Enter: () => document.activeElement.click(),
      n: () => { const row = found.rows.find((one) => one.setting.id === document.activeElement.dataset.setting); if (row) go({ show: data.nodes[Math.min(...row.hitNodes)].name }); },
    } : {}),
  };
  if (!acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
}

// ---- Start -------------------------------------------------------------------------------------------------------------------------------------------------

let drawn = "";

function draw() {
  // Opening a node or a setting changes no count.
  const now = JSON.stringify([address().replace(/&?(open|show)=[^&]*/g, ""), limits.settings, limits.matrix]);
  if (now !== drawn) {
    found = scan();
    drawFilters();
    drawTiles();
    drawMatrix();
    drawn = now;
  }
  drawSettings();
  drawNode();
}

function start() {
  byId("page").append(el("div", { class: "tiles", id: "tiles" }), el("section", { id: "faults" }), el("section", { id: "silent" }), el("div", { class: "filters", id: "filters" }), el("span", { id: "count", class: "hidden", "aria-live": "polite" }),
    el("section", { id: "settings" }), el("section", { id: "matrix" }), el("section", { id: "peers" }), el("footer", { id: "footer" }));
  buildFilters();
  readAddress();
  drawAlarms();
  drawPeers();
  drawFooter();
  draw();
  addEventListener("hashchange", () => { readAddress(); draw(); });
  addEventListener("popstate", () => { readAddress(); draw(); });
  addEventListener("keydown", onKey);
  addEventListener("beforeprint", () => { limits.settings = Infinity; draw(); });
  performance.mark("drawn");
  document.documentElement.dataset.ready = "yes";
}

start();
