// Step 1: the picture, from the shipped examples or from a file.

import { openExample, pictureAddress, uploadPicture } from "./api.js";
import { $, element } from "./dom.js";
import { takeDrops } from "./drop.js";
import { report } from "./messages.js";
import { set, state } from "./state.js";

async function pixelsOf(scene) {
  const image = new Image();
  image.src = pictureAddress(scene.id);
  await image.decode();
  const canvas = element("canvas", { width: scene.width, height: scene.height });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(image, 0, 0);
  return context.getImageData(0, 0, scene.width, scene.height);
}

let latest = 0;

async function load(promise, recipe) {
  const own = ++latest;
  document.body.classList.add("loading");
  try {
    const scene = await promise;
    const photo = await pixelsOf(scene);
    if (own !== latest) return;
    report(null);
    set({ results: [null, null, null], errors: [null, null, null], cursor: null, hovered: null });
    set({ photo, scene, recipe: { ...state.recipe, clicked: [], focal_px: null, ...recipe } });
    show(scene);
  } catch (error) {
    if (own === latest) report(error.message);
  } finally {
    if (own === latest) document.body.classList.remove("loading");
  }
}

function show(scene) {
  $("empty").hidden = true;
  document.body.classList.add("loaded");
  $("maps").style.setProperty("--aspect", String(scene.width / scene.height));
  for (const id of ["maps", "cloud", "take", "table"]) $(id).hidden = false;
  for (const id of ["readings-controls", "method-controls"]) $(id).disabled = false;
  const [width, height] = scene.original_size;
  const smaller = scene.width !== width ? `, computed at ${scene.width} × ${scene.height}` : "";
  $("picture-now").hidden = false;
  $("picture-now").replaceChildren(
    element("b", { textContent: scene.title }),
    ` ${width} × ${height}${smaller}. `,
    ...(scene.credit ? [element("small", { className: "muted", textContent: scene.credit, title: scene.credit })] : []),
  );
}

const loadExample = (name) => load(openExample(name), { num_readings: 50, share: 0.25 });

export function loadFile(file) {
  const { body_bytes: most } = state.options.limits;
  if (file.size > most) {
    report(`${file.name} has ${(file.size / 2 ** 20).toFixed(0)} MB; at most ${(most / 2 ** 20).toFixed(0)} MB are read.`);
    return;
  }
  load(uploadPicture(file), { share: 0 });
}

export function start(options) {
  $("examples").replaceChildren(
    ...options.examples.map(({ name, title }) => {
      const picture = element("img", { src: `/api/examples/${name}/thumbnail.jpg`, alt: "", width: 120, height: 80 });
      const button = element("button", { type: "button", className: "example", dataset: { example: name } }, picture, element("span", { textContent: title }));
      button.addEventListener("click", () => loadExample(name));
      return button;
    }),
  );
  const { pixels, body_bytes: bytes } = options.limits;
  $("picture-limits").textContent = `up to ${Math.round(pixels / 1e6)} megapixels, ${Math.round(bytes / 2 ** 20)} MB`;
  $("picture-file").addEventListener("change", (event) => {
    const [file] = event.target.files;
    if (file) loadFile(file);
    event.target.value = "";
  });
  takeDrops($("picture-drop"), loadFile);
  takeDrops($("result"), loadFile);
  if (options.examples.length) {
    $("start").disabled = false;
    $("start").textContent = "Load the example";
    $("start").addEventListener("click", () => loadExample(options.examples[0].name));
  } else {
    $("start").hidden = true;
  }
}
