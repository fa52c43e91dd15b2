// The pictures of the panels: photo, depth, deviation, or the photo with what is nearer than d on it.

import { paint, ramp } from "./colours.js";
import { probabilityNearer } from "./lognormal.js";
import { on, reference, state } from "./state.js";

const TINT = [255, 92, 40]; // of what is nearer
const DIM = 0.42; // of the photo where nothing is

const ramps = {};
const drawn = new Map(); // by canvas: what it shows now, so that nothing is painted twice

/** The limits of the colours of a view, the same for all columns, so that one bar is right for all. */
export function limitsOf(view) {
  const answer = reference();
  return answer ? (view === "sigma" ? answer.sigma_limits : answer.depth_limits) : null;
}

export function rampOf(view) {
  ramps[view] ??= ramp(view === "sigma" ? state.options.sigma_stops : state.options.depth_stops);
  return ramps[view];
}

function paintNearer(pixels, answer) {
  const photo = state.photo.data;
  for (let i = 0, p = 0; i < answer.depth.length; i++, p += 4) {
    const share = probabilityNearer(answer.depth[i], answer.sigma[i], state.nearer);
    for (let c = 0; c < 3; c++) {
      const base = photo[p + c] * (DIM + 0.25 * share);
      pixels[p + c] = base + 0.55 * share * (TINT[c] - base);
    }
    pixels[p + 3] = 255;
  }
}

function draw(canvas, answer) {
  const limits = limitsOf(state.view);
  if (!answer || !limits || !state.photo) return;
  if (answer.width !== state.photo.width || answer.height !== state.photo.height) return; // of an older picture
  const key = [answer.id, state.view, ...(state.view === "nearer" ? [state.nearer] : limits)].join();
  if (drawn.get(canvas) === key) return;
  drawn.set(canvas, key);
  canvas.width = answer.width;
  canvas.height = answer.height;
  const image = new ImageData(answer.width, answer.height);
  if (state.view === "nearer") paintNearer(image.data, answer);
  else paint(image.data, state.view === "sigma" ? answer.sigma : answer.depth, limits, rampOf(state.view));
  canvas.getContext("2d").putImageData(image, 0, 0);
}

export function start(photoCanvas, columnCanvases) {
  on(["photo"], () => {
    if (!state.photo) return;
    for (const canvas of [photoCanvas, ...columnCanvases]) {
      canvas.width = state.photo.width;
      canvas.height = state.photo.height;
      canvas.getContext("2d").putImageData(state.photo, 0, 0);
      drawn.delete(canvas);
    }
  });
  on(["results", "view", "nearer", "photo"], () => {
    columnCanvases.forEach((canvas, column) => draw(canvas, state.results[column]));
  });
}
