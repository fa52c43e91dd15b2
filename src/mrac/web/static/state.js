// The state of the page: one object, changed by `set`, with listeners by field.

export const state = {
  options: null, // what the server offers
  scene: null, // the loaded picture
  photo: null, // its ImageData
  recipe: { num_readings: 50, family: "near", share: 0.25, seed: 0, clicked: [], kappa: 2, foundation: "", focal_px: null },
  thirdMethod: "default",
  results: [null, null, null], // one answer per column
  errors: [null, null, null],
  pending: 0,
  selected: 2, // the column that cloud, table and downloads are of
  view: "depth",
  nearer: 2.0, // metres
  showReadings: true,
  cursor: null, // {u, v} of the picture
  hovered: null, // index of a reading
};

const listeners = [];

/** Calls `run` after a change of any of `fields`. */
export function on(fields, run) {
  listeners.push({ fields: new Set(fields), run });
}

/** Changes fields and tells the listeners. */
export function set(patch) {
  const changed = Object.keys(patch).filter((name) => state[name] !== patch[name]);
  Object.assign(state, patch);
  for (const { fields, run } of listeners) {
    if (changed.some((name) => fields.has(name))) run(state);
  }
}

/** Changes fields of the recipe. */
export function setRecipe(patch) {
  set({ recipe: { ...state.recipe, ...patch } });
}

/** The answer whose numbers are shown where one is enough: the selected column's, or else any. */
export function shown() {
  return state.results[state.selected] ?? reference();
}

/** Takes a changed scene from the server, unless another picture has been loaded while it was asked for. */
export function setScene(scene, recipe = state.recipe) {
  if (scene.id === state.scene.id) set({ scene, recipe });
}

/** The answer that colours and markers go by: the last column's, or else any. */
export function reference() {
  return state.results[2] ?? state.results.find(Boolean) ?? null;
}
