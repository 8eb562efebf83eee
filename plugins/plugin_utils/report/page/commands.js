// Copyright (c) gpufleet.node contributors
// GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What mends it, as command lines to copy.

const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);

// Always with the names: the run may have been limited itself, so that neither leaving --limit out nor naming a group would be safe.
function commandLine(mend, nodes) {
  const names = nodes
    .map((index) => data.nodes[index].name)
    .sort()
    .join(",");
  return ["ansible-playbook", mend.playbook, mend.options, `--limit ${quoted(names)}`].filter(Boolean).join(" ");
}

function command(line) {
  const button = el(
    "button",
    {
      type: "button",
      title: "copy the command",
      onclick: async (event) => {
        event.stopPropagation();
        await copy(line);
        button.textContent = "copied";
        setTimeout(() => {
          button.textContent = "copy";
        }, 1200);
      },
    },
    "copy",
  );
  return el("div", { class: "command" }, el("code", { title: line }, el("span", {}, line)), button);
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

// On a single node one command mends most of what is wrong: it stands once, above the table.
const isPlain = (mend) => mend !== undefined && data.nodes.length === 1 && !data.mends[mend].text && !data.mends[mend].options;

function commonCommand(rows) {
  const plain = rows.flatMap((row) => [...row.hits.keys()]).filter((r) => isPlain(results[r].mend));
  if (plain.length < 2) return null;
  const line = commandLine(data.mends[results[plain[0]].mend], [0]);
  return el("div", { class: "common" }, el("span", {}, `This mends ${number(plain.length)} of them`), command(line));
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
    if (isPlain(mend) && found.common) return el("span", { class: "soft" }, "The command above");
    const where = kinds.length > 1 ? ` (${plural(nodes.length, "node")})` : "";
    return [what.text && el("p", {}, what.text, el("span", { class: "soft" }, where)), what.playbook && command(commandLine(what, nodes))];
  });
}
