// Readings by hand: with the pointer, and with the keyboard on the focused picture.

import { $, element } from "./dom.js";
import { hoverFrom, pixelUnder, readingNear, speak } from "./hover.js";
import { report } from "./messages.js";
import { panels } from "./panels.js";
import { on, set, setRecipe, shown, state } from "./state.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const SAME_PX = 3; // so near to the cross a reading is the one that is meant

function typedDepth() {
  const value = $("typed").valueAsNumber;
  if (Number.isFinite(value) && value > 0) return value;
  report("Type the depth of the reading in metres, a number above 0, then click again.");
  $("by-hand").open = true;
  $("typed").focus();
  return null;
}

function add({ u, v }) {
  const z = typedDepth();
  if (z === null) return;
  if (state.recipe.clicked.length >= state.options.limits.clicked) {
    report(`At most ${state.options.limits.clicked} readings can be added by hand; take a file for more.`);
    return;
  }
  report(null);
  setRecipe({ clicked: [...state.recipe.clicked, [u, v, z]] });
}

const remove = (k) => setRecipe({ clicked: state.recipe.clicked.toSpliced(k, 1) });

function change(k, u, v, z) {
  setRecipe({ clicked: state.recipe.clicked.with(k, [u, v, z]) });
}

function ownAt({ u, v }) {
  return state.recipe.clicked.findIndex((one) => Math.hypot(one[0] - u, one[1] - v) <= SAME_PX);
}

function moved([across, down], step) {
  const from = state.cursor ?? { u: Math.floor(state.scene.width / 2), v: Math.floor(state.scene.height / 2) };
  return {
    u: Math.min(state.scene.width - 1, Math.max(0, from.u + across * step)),
    v: Math.min(state.scene.height - 1, Math.max(0, from.v + down * step)),
  };
}

function toReading(step) {
  const readings = shown()?.readings;
  if (!readings?.u.length) return;
  const count = readings.u.length;
  const next = state.hovered === null ? (step > 0 ? 0 : count - 1) : (state.hovered + step + count) % count;
  const u = Math.min(state.scene.width - 1, Math.max(0, Math.round(readings.u[next])));
  const v = Math.min(state.scene.height - 1, Math.max(0, Math.round(readings.v[next])));
  set({ cursor: { u, v }, hovered: next });
}

function onKey(event, view) {
  if (!state.scene) return;
  hoverFrom(view);
  const arrow = ARROWS[event.key];
  if (arrow) {
    const to = moved(arrow, event.shiftKey ? 10 : 1);
    const own = event.altKey && state.cursor ? ownAt(state.cursor) : -1;
    if (own >= 0) change(own, to.u, to.v, state.recipe.clicked[own][2]);
    set({ cursor: to, hovered: readingNear(to, view) });
  } else if (event.key === "Enter" || event.key === " ") {
    add(state.cursor ?? moved([0, 0], 0));
  } else if (event.key === "Delete" || event.key === "Backspace") {
    const own = state.cursor ? ownAt(state.cursor) : -1;
    if (own >= 0) remove(own);
  } else if (event.key === "n" || event.key === "p") {
    toReading(event.key === "n" ? 1 : -1);
  } else if (event.key === "Escape") {
    set({ cursor: null, hovered: null });
  } else {
    return;
  }
  event.preventDefault();
  speak();
}

function renderList() {
  $("clicked").replaceChildren(
    ...state.recipe.clicked.map(([u, v, z], k) => {
      const depth = element("input", { type: "number", value: String(z), min: "0.01", step: "any", inputMode: "decimal" });
      depth.setAttribute("aria-label", `Depth in metres of the reading at ${Math.round(u)}, ${Math.round(v)}`);
      depth.addEventListener("change", () => {
        if (depth.valueAsNumber > 0) change(k, u, v, depth.valueAsNumber);
        else depth.value = String(z);
      });
      const gone = element("button", { type: "button", className: "close", textContent: "×" });
      gone.setAttribute("aria-label", `Remove the reading at ${Math.round(u)}, ${Math.round(v)}`);
      gone.addEventListener("click", () => remove(k));
      return element("li", {}, element("span", { textContent: `(${Math.round(u)}, ${Math.round(v)})` }), depth, " m", gone);
    }),
  );
}

export function start() {
  const { view } = panels[0];
  view.addEventListener("click", (event) => {
    const pixel = pixelUnder(view, event);
    if (!pixel) return;
    const own = ownAt(pixel); // a click on one that is there is about that one
    if (own >= 0) $("clicked").children[own].querySelector("input").select();
    else add(pixel);
  });
  view.addEventListener("keydown", (event) => onKey(event, view));
  view.addEventListener("focus", () => {
    hoverFrom(view);
    if (state.scene && !state.cursor && view.matches(":focus-visible")) set({ cursor: moved([0, 0], 0) });
  });
  view.addEventListener("blur", () => set({ cursor: null, hovered: null }));
  on(["recipe"], renderList);
}
