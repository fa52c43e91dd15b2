// What lies under the cursor: depth and deviation in every map, and the verdicts on the reading next to it.

import { metres } from "./colours.js";
import { columnTitle } from "./compute.js";
import { $, element } from "./dom.js";
import { panels } from "./panels.js";
import { on, set, shown, state } from "./state.js";

const REACH_PX = 11; // on the screen, within which a reading is meant

/** The pixel of the picture under a pointer event, or null. */
export function pixelUnder(view, event) {
  if (!state.scene) return null;
  const box = view.getBoundingClientRect();
  const u = Math.round(((event.clientX - box.left) / box.width) * state.scene.width - 0.5);
  const v = Math.round(((event.clientY - box.top) / box.height) * state.scene.height - 0.5);
  const inside = u >= 0 && v >= 0 && u < state.scene.width && v < state.scene.height;
  return inside ? { u, v } : null;
}

/** The index of the reading nearest to a pixel, within reach on the screen; null without one. */
export function readingNear(pixel, view) {
  const readings = shown()?.readings;
  if (!readings || !pixel || !state.showReadings) return null;
  let best = (REACH_PX * state.scene.width) / view.getBoundingClientRect().width;
  let found = null;
  for (let k = 0; k < readings.u.length; k++) {
    const off = Math.hypot(readings.u[k] - pixel.u, readings.v[k] - pixel.v);
    if (off < best) [best, found] = [off, k];
  }
  return found;
}

const words = (reason) => reason.replaceAll("_", " ");

function residual(answer, k) {
  const { u, v, z_m: z } = answer.readings;
  const x = Math.min(answer.width - 1, Math.max(0, Math.round(u[k])));
  const y = Math.min(answer.height - 1, Math.max(0, Math.round(v[k])));
  const depth = answer.depth[y * answer.width + x];
  const off = z[k] - depth;
  const sign = off < 0 ? "−" : "+";
  return `${sign}${metres(Math.abs(off))} (${sign}${Math.abs((100 * off) / depth).toFixed(0)} %)`;
}

function row(answer, title, k) {
  const { keep, reason, probability, colour, z_m: z } = answer.readings;
  const mark = element("span", { className: `key ${keep[k] ? "kept" : "rejected"}` });
  mark.style.color = colour[k];
  const chance = `${(100 * probability[k]).toFixed(probability[k] > 0.01 && probability[k] < 0.99 ? 0 : 1)} %`;
  return element(
    "tr",
    {},
    element("th", { scope: "row", textContent: title }),
    element("td", {}, mark, ` ${keep[k] ? "kept" : "rejected"}: ${words(reason[k])}`),
    element("td", { textContent: chance }),
    element("td", { textContent: z[k] === null ? "" : residual(answer, k) }),
  );
}

/** The card on a reading: what it says, and what each column makes of it. */
export function cardOf(k) {
  const answer = shown();
  const { u, v, z_m: z, true_m: truth, wrong, clicked } = answer.readings;
  const origin = clicked[k] ? "added by hand" : wrong[k] ? `made wrong here; it was ${metres(truth[k])}` : "as it was read";
  const head = element("tr", {}, ...["", "verdict", "P(wrong)", "residual"].map((text) => element("th", { scope: "col", textContent: text })));
  const rows = state.results.flatMap((each, column) =>
    each && each.readings.u.length > k ? [row(each, columnTitle(column), k)] : [],
  );
  return [
    element("p", {}, element("b", { textContent: z[k] === null ? "no value" : metres(z[k]) }), ` at (${Math.round(u[k])}, ${Math.round(v[k])}), ${origin}`),
    element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)),
  ];
}

function placeCard(k) {
  const card = $("hovercard");
  card.hidden = k === null;
  if (k === null) return;
  card.replaceChildren(...cardOf(k));
  const answer = shown();
  const view = (panels.find((panel) => panel.view === hoveredView) ?? panels[0]).view.getBoundingClientRect();
  const x = view.left + ((answer.readings.u[k] + 0.5) / answer.width) * view.width;
  const y = view.top + ((answer.readings.v[k] + 0.5) / answer.height) * view.height;
  const box = card.getBoundingClientRect();
  const left = Math.min(Math.max(8, x + 18), document.documentElement.clientWidth - box.width - 8);
  const above = y + 22 + box.height > window.innerHeight;
  card.style.left = `${Math.max(8, left)}px`;
  card.style.top = `${Math.max(8, above ? y - box.height - 18 : y + 18)}px`;
}

let hoveredView = null;

/** Says what the keyboard has reached; the pointer's way would be too much to listen to. */
export function speak() {
  if (!state.cursor) return;
  const { u, v } = state.cursor;
  const at = (answer) => `${metres(answer.depth[v * answer.width + u])} ± ${metres(answer.sigma[v * answer.width + u])}`;
  const parts = state.results.flatMap((answer, column) => (answer ? [`${columnTitle(column)} ${at(answer)}`] : []));
  const answer = shown();
  const k = clampedHover();
  const reading = k === null ? "" : ` Reading of ${metres(answer.readings.z_m[k])}: ${answer.readings.keep[k] ? "kept" : "rejected"}, ${words(answer.readings.reason[k])}.`;
  $("spoken").textContent = `u ${u}, v ${v}: ${parts.join(", ")}.${reading}`;
}

export function start() {
  for (const { view } of panels) {
    view.addEventListener("pointermove", (event) => {
      hoveredView = view;
      const cursor = pixelUnder(view, event);
      set({ cursor, hovered: readingNear(cursor, view) });
    });
    view.addEventListener("pointerleave", () => {
      if (document.activeElement !== view) set({ cursor: null, hovered: null });
    });
  }
  on(["hovered", "results"], () => placeCard(state.results.some(Boolean) ? clampedHover() : null));
  addEventListener("scroll", () => ($("hovercard").hidden = true), { passive: true });
}

function clampedHover() {
  const answer = shown();
  return state.hovered !== null && answer && state.hovered < answer.readings.u.length ? state.hovered : null;
}

/** From the keyboard: the card belongs to the panel with the focus. */
export function hoverFrom(view) {
  hoveredView = view;
}
