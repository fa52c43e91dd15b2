// Step 2: how many readings, how many of them wrong and how; readings from a file.

import { dropReadings, uploadReadings } from "./api.js";
import { $, element } from "./dom.js";
import { takeDrops } from "./drop.js";
import { report } from "./messages.js";
import { on, setRecipe, setScene, state } from "./state.js";

const ALL_UP_TO = 300; // readings of a file, that are all taken at first
let chosen = []; // the files that wait to be read: one, or those of a COLMAP model

/** The slider's hundred steps are even in the logarithm: 1 to `most` readings, none at 0. */
const mostReadings = () => Math.min(state.scene.readings.count, state.options.limits.readings);
function fromSlider(step) {
  const most = mostReadings();
  if (step <= 0) return 0;
  return Math.min(most, Math.max(1, Math.round(Math.exp((Math.log(most) * (step - 1)) / 99))));
}
function toSlider(count) {
  if (!count) return 0;
  const most = Math.max(2, mostReadings());
  return Math.round(1 + (99 * Math.log(Math.min(count, most))) / Math.log(most));
}

function renderScene() {
  const readings = state.scene?.readings;
  for (const id of ["count-field", "share-field", "family-field", "seed-field"]) $(id).hidden = !readings;
  $("drop-pool").disabled = !readings;
  if (!state.scene) return;
  if (!readings) {
    $("readings-now").textContent = "None yet: click the picture, or take a file.";
    return;
  }
  const many = readings.count.toLocaleString("en");
  $("readings-now").textContent = `From ${readings.name}, ${many} of them${readings.dense ? "; the error is stated against all" : ""}.`;
  $("count").value = String(toSlider(state.recipe.num_readings));
}

function renderRecipe() {
  const { recipe, scene } = state;
  $("count-value").textContent = scene?.readings ? String(Math.min(recipe.num_readings, scene.readings.count)) : "";
  $("share-value").textContent = `${Math.round(100 * recipe.share)} %`;
  $("share").value = String(recipe.share);
  $("family").value = recipe.family;
  $("seed-value").textContent = String(recipe.seed);
}

const MODEL = /^(cameras|images|points3D|rigs|frames)\.(bin|txt)$/;

function choose(files) {
  chosen = files;
  $("readings-drop").querySelector("b").textContent = files.map((file) => file.name).join(", ");
  $("read-file").disabled = false;
  if (files.every((file) => MODEL.test(file.name))) $("kind").value = "colmap";
  else if ($("kind").value === "colmap") $("kind").value = "";
  showKind();
  // A model has no scale of its own, and names its images: both are asked for before it is read.
  if ($("kind").value !== "colmap") read();
}

function showKind() {
  const isModel = $("kind").value === "colmap";
  $("colmap-fields").hidden = !isModel;
  if (isModel && !$("image-name").value) $("image-name").value = state.scene.title;
}

function appendModel(form) {
  chosen.forEach((file, k) => form.append(`model${k}`, file, file.name));
  form.append("from", "colmap");
  form.append("image_name", $("image-name").value);
  form.append("metres_per_unit", $("metres-per-unit").value);
}

function appendReadings(form) {
  form.append("anchors", chosen[0], chosen[0].name);
  for (const [name, id] of [["camera", "camera-file"], ["pose", "pose-file"]]) {
    const [file] = $(id).files;
    if (file) form.append(name, file, file.name);
  }
  for (const [name, id] of [["from", "kind"], ["anchors_scale", "scale"], ["sensor", "sensor"]]) {
    if ($(id).value) form.append(name, $(id).value);
  }
}

async function read() {
  const form = new FormData();
  if ($("kind").value === "colmap") appendModel(form);
  else appendReadings(form);
  try {
    const scene = await uploadReadings(state.scene.id, form);
    const { count, dense } = scene.readings;
    report(null);
    const taken = dense ? 50 : count <= ALL_UP_TO ? count : ALL_UP_TO;
    setScene(scene, { ...state.recipe, num_readings: taken, share: 0 });
  } catch (error) {
    report(error.message);
  }
}

async function handOnly() {
  try {
    setScene(await dropReadings(state.scene.id));
  } catch (error) {
    report(error.message);
  }
}

export function start(options) {
  $("family").replaceChildren(...Object.entries(options.families).map(([value, textContent]) => element("option", { value, textContent })));
  $("kind").replaceChildren(
    element("option", { value: "", textContent: "by its name" }),
    ...Object.entries(options.sources).map(([value, text]) => element("option", { value, textContent: text })),
  );
  $("scale").replaceChildren(
    ...[["", "as the file says"], ["m", "metres"], ["mm", "millimetres"], ["kitti", "1/256 m (KITTI)"], ["tum", "1/5000 m (TUM)"]].map(
      ([value, textContent]) => element("option", { value, textContent }),
    ),
  );
  $("sensor").replaceChildren(
    element("option", { value: "", textContent: "not known" }),
    ...options.sensors.map((value) => element("option", { value, textContent: value })),
  );
  $("count").addEventListener("input", (event) => setRecipe({ num_readings: fromSlider(event.target.valueAsNumber) }));
  $("share").addEventListener("input", (event) => setRecipe({ share: event.target.valueAsNumber }));
  $("family").addEventListener("change", (event) => setRecipe({ family: event.target.value }));
  $("redraw").addEventListener("click", () => setRecipe({ seed: state.recipe.seed + 1 }));
  $("readings-file").addEventListener("change", (event) => {
    const files = [...event.target.files];
    if (files.length) choose(files);
    event.target.value = "";
  });
  $("kind").addEventListener("change", showKind);
  takeDrops($("readings-drop"), (_, files) => choose(files));
  $("read-file").addEventListener("click", read);
  $("drop-pool").addEventListener("click", handOnly);
  on(["scene"], renderScene);
  on(["scene", "recipe"], renderRecipe);
}
