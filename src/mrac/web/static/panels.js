// The four panels: the photo with the readings, and the maps of the three columns.

import { columnMethod, columnTitle } from "./compute.js";
import { metres } from "./colours.js";
import { $, element } from "./dom.js";
import { drawMarkers } from "./markers.js";
import { on, set, shown, state } from "./state.js";

export const panels = []; // {root, canvas, overlay, column}: column is -1 for the photo

function frame(label, focusable) {
  const canvas = element("canvas", { className: "map", width: 4, height: 3 });
  const overlay = element("canvas", { className: "overlay" });
  const view = element("div", { className: "view" }, canvas, overlay);
  if (focusable) {
    view.tabIndex = 0;
    view.setAttribute("role", "application");
  } else {
    view.setAttribute("role", "img");
  }
  view.setAttribute("aria-label", label);
  return { canvas, overlay, view };
}

function photoPanel() {
  const made = frame(
    "Picture with readings. Arrow keys move the cross, Shift in steps of ten; Enter adds a reading of the typed depth; " +
      "N and P go to the next and previous reading; Delete removes one that was added by hand, Alt and arrows move it.",
    true,
  );
  const place = element("span", { className: "place-px" });
  const head = element("div", { className: "panel-head" }, element("h3", { textContent: "Picture and readings" }), place);
  const legend = element("p", { className: "legend" });
  for (const [kind, text] of [["kept", "kept"], ["rejected", "rejected"], ["planted", "made wrong"], ["hand", "by hand"]]) {
    legend.append(element("span", { className: "entry" }, element("span", { className: `key ${kind}` }), ` ${text}`));
  }
  const root = element("article", { className: "panel", id: "panel-photo" }, head, made.view, legend);
  return { root, ...made, column: -1, place };
}

function columnPanel(column, title) {
  const made = frame(`Map of ${title}`, false);
  const choose = element("input", { type: "radio", name: "column", value: String(column), checked: column === state.selected });
  choose.addEventListener("change", () => set({ selected: column }));
  const name = element("code", { className: "method-name" });
  const status = element("span", { className: "status" });
  const shownTitle = element("span", { textContent: title });
  const label = element("label", {}, choose, shownTitle);
  const head = element("div", { className: "panel-head" }, element("h3", {}, label), name, status);
  const value = element("span", { className: "value" });
  const facts = element("p", { className: "facts" });
  made.view.append(value);
  const root = element("article", { className: "panel", id: `panel-${column}` }, head, made.view, facts);
  return { root, ...made, column, title: shownTitle, name, status, facts, value };
}

function renderColumn(panel) {
  const answer = state.results[panel.column];
  const failed = state.errors[panel.column];
  panel.root.classList.toggle("selected", state.selected === panel.column);
  panel.root.classList.toggle("failed", Boolean(failed));
  panel.title.textContent = columnTitle(panel.column);
  panel.name.textContent = columnMethod(panel.column);
  const word = failed ? "error" : (answer?.status ?? "");
  panel.status.textContent = word;
  panel.status.className = `status ${word === "ok" ? "good" : word ? "bad" : ""}`;
  panel.facts.replaceChildren();
  if (!answer || failed) return;
  const facts = [];
  if (answer.abs_rel !== null) facts.push(element("b", { textContent: `${(100 * answer.abs_rel).toFixed(1)} % error` }));
  facts.push(element("span", { textContent: `${answer.num_kept}/${answer.readings.u.length} kept` }));
  if (answer.num_wrong) facts.push(element("span", { textContent: `${answer.num_caught}/${answer.num_wrong} caught` }));
  if (answer.num_lost) facts.push(element("span", { textContent: `${answer.num_lost} lost` }));
  panel.facts.append(...facts);
}

function renderValue(panel) {
  const answer = state.results[panel.column];
  if (!answer || !state.cursor) {
    panel.value.textContent = "";
    return;
  }
  const at = state.cursor.v * answer.width + state.cursor.u;
  panel.value.textContent = `${metres(answer.depth[at])} ± ${metres(answer.sigma[at])}`;
}

export function drawOverlays() {
  for (const panel of panels) {
    drawMarkers(panel.overlay, panel.column < 0 ? shown() : state.results[panel.column], panel.column < 0);
  }
}

export function build(columns) {
  panels.push(photoPanel(), ...columns.map(({ title }, column) => columnPanel(column, title)));
  $("panels").replaceChildren(...panels.map((panel) => panel.root));
  const maps = panels.slice(1);
  on(["results", "errors", "selected", "thirdMethod"], () => maps.forEach(renderColumn));
  on(["cursor", "results"], () => {
    maps.forEach(renderValue);
    panels[0].place.textContent = state.cursor ? `u ${state.cursor.u}, v ${state.cursor.v}` : "";
  });
  on(["results", "cursor", "hovered", "selected", "showReadings", "scene", "photo"], drawOverlays);
  on(["pending"], () => $("panels").classList.toggle("working", state.pending > 0));
  new ResizeObserver(drawOverlays).observe($("panels"));
  maps.forEach(renderColumn);
}
