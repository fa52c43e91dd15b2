// Starts the page: asks the server what it offers, builds the panels, wires the parts.

import { getOptions } from "./api.js";
import * as bar from "./bar.js";
import * as clicking from "./clicking.js";
import * as cloud from "./cloud.js";
import * as compute from "./compute.js";
import { $ } from "./dom.js";
import * as hover from "./hover.js";
import * as layers from "./layers.js";
import * as messages from "./messages.js";
import * as method from "./method.js";
import { build, panels } from "./panels.js";
import * as picture from "./picture.js";
import * as readings from "./readings.js";
import { on, set, state } from "./state.js";
import * as take from "./take.js";

function timing() {
  const slowest = Math.max(0, ...state.results.map((answer) => answer?.wall_ms ?? 0));
  $("timing").textContent = state.pending ? "computing…" : slowest ? `answered in ${Math.round(state.answeredMs ?? slowest)} ms` : "";
  document.body.dataset.idle = String(!state.pending);
}

try {
  const options = await getOptions();
  set({ options, recipe: { ...state.recipe, kappa: options.kappa } });
  $("place").textContent = `${location.hostname} only · version ${options.version}`;
  build(options.columns);
  const [photo, ...columns] = panels.map((panel) => panel.canvas);
  layers.start(photo, columns);
  messages.start();
  hover.start();
  clicking.start();
  readings.start(options);
  method.start(options);
  bar.start();
  cloud.start();
  take.start();
  compute.start();
  on(["pending", "results"], timing);
  picture.start(options);
  document.body.dataset.ready = "true";
} catch (error) {
  messages.report(error.message);
}
