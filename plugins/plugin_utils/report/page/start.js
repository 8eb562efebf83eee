// Copyright (c) gpufleet.node contributors
// GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Draws everything, and again when a filter changes.

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
  byId("page").append(
    el("div", { class: "tiles", id: "tiles" }),
    el("section", { id: "faults" }),
    el("section", { id: "silent" }),
    el("div", { class: "filters", id: "filters" }),
    el("span", { id: "count", class: "hidden", "aria-live": "polite" }),
    el("section", { id: "settings" }),
    el("section", { id: "matrix" }),
    el("section", { id: "waivers" }),
    el("section", { id: "peers" }),
    el("footer", { id: "footer" }),
  );
  buildFilters();
  readAddress();
  drawAlarms();
  drawWaivers();
  drawPeers();
  drawFooter();
  draw();
  addEventListener("hashchange", () => {
    readAddress();
    draw();
  });
  addEventListener("popstate", () => {
    readAddress();
    draw();
  });
  addEventListener("keydown", onKey);
  addEventListener("beforeprint", () => {
    limits.settings = Infinity;
    draw();
  });
  performance.mark("drawn");
  document.documentElement.dataset.ready = "yes";
}

start();
