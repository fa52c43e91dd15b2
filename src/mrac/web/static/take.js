// Downloads, the Python lines, and all readings as a table, of the selected column.

import { downloadAddress } from "./api.js";
import { metres } from "./colours.js";
import { columnMethod, columnTitle } from "./compute.js";
import { $, element } from "./dom.js";
import { on, set, state } from "./state.js";

const ROWS = 300;

function renderDownloads(answer) {
  const files = state.options.downloads.filter(({ name }) => !name.startsWith("anchors.") || name === answer.anchors_file);
  $("downloads").replaceChildren(
    ...files.map(({ name, text }) =>
      element("li", {}, element("a", { href: downloadAddress(answer.id, name), download: name, textContent: name }), element("span", { className: "muted", textContent: ` ${text}` })),
    ),
  );
}

function renderTable(answer) {
  const { readings } = answer;
  const order = [...readings.u.keys()].sort((a, b) => readings.probability[b] - readings.probability[a]).slice(0, ROWS);
  const head = ["u", "v", "reading", "verdict", "reason", "P(wrong)", "score", "weight", "made wrong here"];
  const rows = order.map((k) => {
    const cells = [
      readings.u[k]?.toFixed(0) ?? "", readings.v[k]?.toFixed(0) ?? "", readings.z_m[k] === null ? "" : metres(readings.z_m[k]),
      readings.keep[k] ? "kept" : "rejected", readings.reason[k].replaceAll("_", " "), readings.probability[k].toFixed(3),
      readings.score[k] >= 1e6 ? "" : readings.score[k].toFixed(1), readings.weight[k].toFixed(2),
      readings.wrong[k] ? `yes, was ${metres(readings.true_m[k])}` : "",
    ];
    const row = element("tr", { className: readings.keep[k] ? "" : "rejected" }, ...cells.map((textContent) => element("td", { textContent })));
    row.addEventListener("pointerenter", () => set({ hovered: k, cursor: { u: clamp(readings.u[k], answer.width), v: clamp(readings.v[k], answer.height) } }));
    return row;
  });
  $("rows").replaceChildren(
    element("thead", {}, element("tr", {}, ...head.map((textContent) => element("th", { scope: "col", textContent })))),
    element("tbody", {}, ...rows),
  );
}

const clamp = (value, size) => Math.min(size - 1, Math.max(0, Math.round(value)));

function render() {
  const answer = state.results[state.selected];
  $("take-name").textContent = `${columnTitle(state.selected)} (${columnMethod(state.selected)})`;
  if (!answer) {
    $("downloads").replaceChildren();
    $("python").textContent = "";
    return;
  }
  renderDownloads(answer);
  $("python").textContent = answer.python;
  if ($("table").querySelector("details").open) renderTable(answer);
  $("table-note").textContent = `${answer.readings.u.length}, the most doubtful first`;
}

export function start() {
  on(["results", "selected", "thirdMethod"], render);
  $("table").querySelector("details").addEventListener("toggle", render);
  $("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText($("python").textContent);
      $("copy").textContent = "Copied";
    } catch {
      getSelection().selectAllChildren($("python"));
      $("copy").textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => ($("copy").textContent = "Copy the lines"), 1500);
  });
}
