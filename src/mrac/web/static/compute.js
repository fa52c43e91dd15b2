// Asks the server for all columns whenever the recipe changes; an older question is given up.

import { calibrate } from "./api.js";
import { on, set, state } from "./state.js";

const WAIT_MS = 40; // a slider sends many events; this many milliseconds of rest make one question

let timer = 0;
let asked = null;

export const columnMethod = (column) =>
  column === 2 ? state.thirdMethod : state.options.columns[column].method;

export const columnTitle = (column) => {
  const { title, method } = state.options.columns[column];
  return columnMethod(column) === method ? title : "Your choice";
};

function ask() {
  asked?.abort();
  if (!state.scene) return;
  const controller = new AbortController();
  asked = controller;
  const scene = state.scene.id;
  const columns = state.options.columns.map((_, column) => column);
  const started = performance.now();
  let left = columns.length;
  set({ pending: left });
  for (const column of columns.toReversed()) { // the last one sets the colours of all
    calibrate(scene, { ...state.recipe, method: columnMethod(column) }, controller.signal)
      .then((answer) => [answer, null])
      .catch((error) => [null, error.message])
      .then(([answer, message]) => {
        if (controller.signal.aborted) return; // a newer question is on its way
        left -= 1;
        set({
          results: state.results.with(column, answer),
          errors: state.errors.with(column, message),
          pending: left,
          ...(left ? {} : { answeredMs: performance.now() - started }),
        });
      });
  }
}

export function start() {
  on(["scene", "recipe", "thirdMethod"], () => {
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT_MS);
  });
}
