// Copyright (c) gpufleet.node contributors
// GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Elements and words. Names and values of nodes only ever become text nodes.
"use strict";

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
  return el(
    "button",
    {
      class: "link mono nowrap",
      type: "button",
      title: "show this node",
      onclick: (event) => {
        event.stopPropagation();
        go({ show: name });
      },
    },
    name,
  );
}

// The first names, and the others when they are asked for.
function names(indexes, most) {
  const box = el("span", {});
  const shown = indexes.length <= most + 1 ? indexes.length : most;
  const add = (from, to) =>
    indexes
      .slice(from, to)
      .forEach((index, at) =>
        box.append(
          el("span", { class: "nowrap" }, nodeLink(index), from + at + 1 < indexes.length && from + at + 1 !== shown ? "," : null),
          " ",
        ),
      );
  add(0, shown);
  if (shown < indexes.length) {
    const rest = el(
      "button",
      {
        class: "link nowrap",
        type: "button",
        onclick: (event) => {
          event.stopPropagation();
          rest.remove();
          add(shown, indexes.length);
        },
      },
      `and ${number(indexes.length - shown)} more`,
    );
    box.append(rest);
  }
  return box;
}

const heading = (text, note, ...tools) =>
  el("h2", {}, text, note && el("span", { class: "note" }, note), tools.length ? el("span", { class: "tools" }, tools) : null);
const byId = (id) => document.getElementById(id);

const stateTitle = (state) => (state === "waived" ? "waived" : STATES[state].title);
const mark = (state) => (state === "waived" ? el("span", { class: "state s-waived" }, "w") : badge(state));
