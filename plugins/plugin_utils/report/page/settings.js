// Copyright (c) gpufleet.node contributors
// GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The settings that differ: what is wrong, where, whose doing, what mends it.

function mixBar(row) {
  const counts = new Map();
  for (const [r, count] of row.mix) counts.set(stateOf(results[r]), (counts.get(stateOf(results[r])) || 0) + count);
  const parts = [...STATE_ORDER, "waived"].filter((state) => counts.has(state));
  const label = parts.map((state) => `${number(counts.get(state))} ${stateTitle(state)}`).join(", ");
  return el(
    "div",
    { class: "mix", role: "img", "aria-label": label, title: label },
    parts.map((state) => el("i", { class: `s-${state}`, style: { flexGrow: counts.get(state) } })),
  );
}

function valueList(label, kind, counts) {
  if (!counts.length) return null;
  const shown = counts
    .slice(0, 3)
    .map(([value, count], at) => [
      at ? ", " : " ",
      el("code", { class: value === "unreadable" ? "error" : "" }, clipped(value, 60)),
      counts.length > 1 ? el("span", { class: "times" }, ` ×${number(count)}`) : null,
    ]);
  return el(
    "span",
    { class: kind },
    label,
    shown,
    counts.length > 3 ? el("span", { class: "times" }, ` and ${number(counts.length - 3)} other values`) : null,
  );
}

const clipped = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function whose(row) {
  const places = tally(row, (result) => JSON.stringify(result.whose));
  const shown = places.slice(0, 2).map(([key, count]) => {
    const [from, owner] = JSON.parse(key);
    return el(
      "div",
      {},
      from && el("span", { class: "from" }, from),
      owner && el("span", { class: from ? "soft" : "sentence" }, clipped(owner, 120)),
      places.length > 1 ? el("span", { class: "soft" }, ` ×${number(count)}`) : null,
    );
  });
  if (places.length > 2) shown.push(el("div", { class: "soft" }, `and ${plural(places.length - 2, "other")}`));
  const causes = tally(row, (result) => result.cause || "").map(
    ([cause, count], at, all) => `${CAUSES[cause] || cause}${all.length > 1 ? ` ×${number(count)}` : ""}`,
  );
  const waivers = tally(row, (result) =>
    result.waived_now
      ? [`waived: ${result.waived.reason || "no reason"}`, result.waived.ticket, result.waived.until && `until ${result.waived.until}`]
          .filter(Boolean)
          .join(", ")
      : "",
  );
  const since = sinceOfRow(row);
  const holders = [...new Set([...row.hits.keys()].flatMap((r) => results[r].blocked_by || []))];
  return [
    shown,
    causes.length ? el("span", { class: "cause" }, causes.join(", ")) : null,
    since ? el("span", { class: "cause since" }, since) : null,
    waivers.slice(0, 2).map(([text]) => el("span", { class: "cause" }, text)),
    holders.length
      ? el("span", { class: "cause" }, `held by ${clipped(holders[0], 60)}${holders.length > 1 ? ` and ${holders.length - 1} more` : ""}`)
      : null,
  ];
}

// "since 2026-11-12, new on 3 nodes"; nothing where no earlier run saw the setting.
function sinceOfRow(row) {
  let fresh = 0;
  let first = null;
  for (const [r, nodes] of row.hits) {
    const { since } = results[r];
    if (isNew(since)) fresh += nodes.length;
    else if (since && since.run !== data.run.id && (!first || since.started < first.started)) first = since;
  }
  const whole = fresh === row.hitNodes.length;
  return [first && sinceText(first, 10), fresh && (whole ? "new in this run" : `new on ${plural(fresh, "node")}`)]
    .filter(Boolean)
    .join(", ");
}

const isNew = (since) => Boolean(since && since.run === data.run.id && since.before);

// With the first 10 letters of a time its day, with 16 its minute.
function sinceText(since, letters) {
  if (isNew(since)) return `new in this run, was ${stateTitle(since.before)}`;
  if (!since || since.run === data.run.id) return "";
  const before = letters > 10 && since.before ? `, was ${stateTitle(since.before)}` : "";
  return `since ${since.started.slice(0, letters).replace("T", " ")}${since.before ? before : " or longer"}`;
}

function settingRow(row) {
  const { setting } = row;
  const [family, ...rest] = setting.id.split("/");
  const opened = filters.open === setting.id;
  const counts = tally(row, stateOf).sort((a, b) => STATE_ORDER.indexOf(a[0]) - STATE_ORDER.indexOf(b[0]));
  const one = data.nodes.length === 1;
  const where = el(
    "td",
    { class: "where", "data-label": "Where" },
    one ? null : [el("div", {}, el("b", {}, number(row.hitNodes.length)), ` of ${plural(row.nodes, "node")}`), mixBar(row)],
    el(
      "div",
      { class: "tally" },
      counts.map(([state, count]) => el("span", {}, mark(state), `${one ? "" : `${number(count)} `}${stateTitle(state)}`)),
    ),
    one ? null : el("div", { class: "names" }, names([...new Set(row.hitNodes)], 5)),
  );
  const line = el(
    "tr",
    {
      class: `row ${row.counts ? "" : "waived"}`,
      tabindex: "-1",
      "data-setting": setting.id,
      "aria-expanded": String(opened),
      onclick: (event) => {
        if (!getSelection().toString()) go({ open: opened ? "" : setting.id });
      },
    },
    el(
      "td",
      {},
      el("span", { class: "id" }, rest.length ? [el("span", { class: "family" }, `${family}/`), rest.join("/")] : family),
      el(
        "div",
        { class: "values" },
        valueList(
          "wants",
          "wants",
          tally(row, (result) => result.wants),
        ),
        valueList(
          "has",
          row.counts ? "has" : "",
          tally(row, (result) => result.seen),
        ),
      ),
    ),
    where,
    el("td", { class: "whose", "data-label": "Whose doing" }, whose(row)),
    el("td", { class: "mends", "data-label": "What mends it" }, mending(row)),
  );
  return opened ? [line, el("tr", { class: "detail" }, el("td", { colspan: 4 }, settingDetail(row)))] : [line];
}

function settingDetail(row) {
  const { setting } = row;
  const needs = tally(row, (result) => (result.needs === "nothing" ? "" : words(result.needs)))
    .map(([need]) => need)
    .join(", ");
  const rules = tally(row, (result) => result.wants)
    .map(([text, count], at, all) => (all.length > 1 ? `${text} ×${number(count)}` : text))
    .join("; ");
  const about = [
    ["Why", setting.why],
    ["Source", setting.source],
    ["Rule", rules],
    ["Impact", setting.impact],
    ["Writing it can disturb", setting.disturbs],
    ["Owner", setting.owner === "leave" ? "left to others, compared only" : setting.owner],
    ["Needs", needs],
    ["Mended", setting.mend === "never" ? "never, check only" : ""],
  ];
  const kinds = [...row.hits].sort(
    (a, b) => STATE_ORDER.indexOf(results[a[0]].state) - STATE_ORDER.indexOf(results[b[0]].state) || b[1].length - a[1].length,
  );
  const shown = kinds.slice(0, 25);
  const present = VIEWS.filter((view) => kinds.some(([r]) => results[r].views[view]));
  return [
    el(
      "dl",
      { class: "about" },
      about.filter(([, text]) => text).map(([label, text]) => [el("dt", {}, label), el("dd", {}, text)]),
    ),
    el(
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
            el("th", {}, "State"),
            present.map((view) => el("th", {}, words(view))),
            el("th", {}, "Detail"),
            el("th", {}, "Nodes"),
          ),
        ),
        el(
          "tbody",
          {},
          shown.map(([r, nodes]) =>
            el(
              "tr",
              {},
              el(
                "td",
                { class: "nowrap" },
                badge(results[r].state),
                ` ${STATES[results[r].state].title}${results[r].waived_now ? ", waived" : ""}`,
                el("div", { class: "soft since" }, sinceText(results[r].since, 16)),
              ),
              present.map((view) => viewCell(results[r], view)),
              el("td", { class: "detail-text" }, detailText(results[r])),
              el("td", {}, `${number(nodes.length)}: `, names(nodes, 6)),
            ),
          ),
        ),
      ),
    ),
    kinds.length > shown.length
      ? el("p", { class: "soft" }, `${plural(kinds.length - shown.length, "more combination")} of values: they are in the CSV.`)
      : null,
  ];
}

function viewCell(result, name) {
  const view = result.views[name];
  if (!view) return el("td", { class: "view soft" }, "");
  const wrong =
    result.counts === "drift" &&
    view.value !== undefined &&
    result.desired !== undefined &&
    view.value !== result.desired &&
    (name === "live") === ["live_wrong", "refused", "blocked", "partial"].includes(result.state);
  const value =
    view.value !== undefined
      ? el("code", { class: wrong ? "wrong" : "" }, view.value)
      : view.error !== undefined
        ? el("span", { class: "error" }, view.error)
        : el("span", { class: "soft" }, view.unset);
  return el("td", { class: "view" }, value, view.from && el("span", { class: "from" }, view.from));
}

const detailText = (result) =>
  [
    result.detail,
    ...(result.blocked_by || []),
    result.waived_now &&
      `waived: ${[result.waived.reason, result.waived.ticket, result.waived.until && `until ${result.waived.until}`].filter(Boolean).join(", ")}`,
  ]
    .filter(Boolean)
    .join("; ");

function drawSettings() {
  const { rows } = found;
  const active = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.setting : undefined;
  const differ = rows.filter((row) => row.counts).length;
  const note = filtered()
    ? `${number(rows.length)} of ${plural(settings.length, "setting")} pass the filters`
    : differ
      ? `${number(differ)} of ${plural(settings.length, "setting")}, worst impact first`
      : "";
  const shown = rows.slice(0, limits.settings);
  found.common = commonCommand(rows);
  // A setting that the address opens is drawn even when it is further down.
  const opened = rows.findIndex((row) => row.setting.id === filters.open);
  if (opened >= shown.length) shown.push(rows[opened]);
  const body = el("tbody", {});
  let last = "";
  for (const row of shown) {
    const part = row.counts ? row.setting.impact : "counts for nothing";
    if (part !== last)
      body.append(el("tr", { class: `impact-row ${part}` }, el("td", { colspan: 4 }, el("b", {}, part), ` ${IMPACT_WORDS[part]}`)));
    last = part;
    body.append(...settingRow(row));
  }
  const table = el(
    "table",
    { class: "settings" },
    el("colgroup", {}, el("col", { class: "c-what" }), el("col", { class: "c-where" }), el("col", { class: "c-whose" }), el("col", {})),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        ["What is wrong", "Where", "Whose doing", "What mends it"].map((text) => el("th", { scope: "col" }, text)),
      ),
    ),
    body,
  );
  const more =
    shown.length < rows.length
      ? el(
          "button",
          {
            class: "more",
            type: "button",
            onclick: () => {
              limits.settings = Infinity;
              draw();
            },
          },
          `Show all ${plural(rows.length, "setting")}`,
        )
      : null;
  const empty = el(
    "p",
    { class: "empty" },
    filtered()
      ? "Nothing passes these filters."
      : silent.length === data.nodes.length
        ? "No node answered in full: nothing is known about its settings."
        : "Every setting that was read is as the profile wants it.",
  );
  byId("settings").replaceChildren(
    heading("Settings that differ", note),
    el("div", { class: "panel" }, rows.length ? [found.common, table, more] : empty),
  );
  byId("count").textContent = note;
  if (active !== undefined) focusRow([...document.querySelectorAll("tr.row")].find((row) => row.dataset.setting === active));
}

const IMPACT_WORDS = {
  correctness: "– results can be wrong or jobs can fail",
  performance: "– jobs run slower or less evenly",
  hygiene: "– order, safety and what a later change trips over",
  "counts for nothing": "– waived, right, or not to be judged",
};
