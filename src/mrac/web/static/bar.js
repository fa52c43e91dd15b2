// The colour bar below the maps, in metres; and the distance of "nearer than".

import { metricTicks } from "./colours.js";
import { $, element } from "./dom.js";
import { limitsOf } from "./layers.js";
import { on, set, state } from "./state.js";

const TITLES = {
  depth: "Depth in metres, one scale for all three maps.",
  sigma: "Standard deviation in metres, one scale for all three maps.",
};

function renderTicks(limits) {
  const [low, high] = limits.map(Math.log);
  const ticks = metricTicks(limits);
  $("bar-ticks").replaceChildren(
    ...ticks.map(([value, label], k) => {
      const tick = element("span", { textContent: k === ticks.length - 1 ? `${label} m` : label });
      tick.style.setProperty("--at", `${(100 * (Math.log(value) - low)) / (high - low)}%`);
      return tick;
    }),
  );
}

function render() {
  const limits = limitsOf(state.view);
  const isNearer = state.view === "nearer";
  $("nearer-field").hidden = !isNearer;
  $("bar").classList.toggle("bare", isNearer || !limits);
  $("bar-title").textContent = isNearer
    ? `Orange: probably nearer than ${state.nearer.toPrecision(3)} m; the stronger, the surer.`
    : TITLES[state.view];
  $("nearer-value").textContent = `${state.nearer.toPrecision(3)} m`;
  if (isNearer || !limits) return;
  const stops = state.view === "sigma" ? state.options.sigma_stops : state.options.depth_stops;
  $("bar-colours").style.setProperty("--stops", stops.join(", "));
  renderTicks(limits);
}

/** The slider is even in the logarithm over the colours of depth. */
function setNearer() {
  const limits = limitsOf("depth");
  if (!limits) return;
  const [low, high] = limits.map(Math.log);
  set({ nearer: Math.exp(low + $("nearer").valueAsNumber * (high - low)) });
}

export function start() {
  for (const radio of document.querySelectorAll("input[name=view]")) {
    radio.addEventListener("change", () => {
      if (radio.value === "nearer") setNearer();
      set({ view: radio.value });
    });
  }
  $("nearer").addEventListener("input", setNearer);
  $("show-readings").addEventListener("change", (event) => set({ showReadings: event.target.checked }));
  on(["view", "results", "nearer"], render);
}
