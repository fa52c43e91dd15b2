// The point cloud of the selected column: WebGL2, a point per pixel from a texture of depth, no library.

import { $ } from "./dom.js";
import { limitsOf, rampOf } from "./layers.js";
import { orbit, perspective, product } from "./matrix.js";
import { POINTS, READINGS } from "./shaders.js";
import { on, setRecipe, state } from "./state.js";

const MAX_POINTS = 160_000; // a software renderer draws these in a third of a second
const STEEPEST = 0.03; // change of depth to a neighbouring pixel, relative: beyond it lies an edge, smeared by any network
const FOV_Y = 0.8;
const START = { yaw: 0.28, pitch: 0.14, zoom: 1.1 };

let gl = null;
let programs = null;
let camera = { ...START };
let scheduled = false;
let seen = false; // nothing is drawn while it is off the screen: a slider's answer does not wait for it
let uploaded = { answer: null, photo: null };

function compile(kind, source) {
  const shader = gl.createShader(kind);
  gl.shaderSource(shader, source);
  gl.compileShader(shader);
  if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
  return shader;
}

function link({ vertex, fragment }) {
  const program = gl.createProgram();
  gl.attachShader(program, compile(gl.VERTEX_SHADER, vertex));
  gl.attachShader(program, compile(gl.FRAGMENT_SHADER, fragment));
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  return { program, at: (name) => gl.getUniformLocation(program, name) };
}

function texture(unit) {
  const made = gl.createTexture();
  gl.activeTexture(gl.TEXTURE0 + unit);
  gl.bindTexture(gl.TEXTURE_2D, made);
  for (const [name, value] of [[gl.TEXTURE_MIN_FILTER, gl.NEAREST], [gl.TEXTURE_MAG_FILTER, gl.NEAREST], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]]) {
    gl.texParameteri(gl.TEXTURE_2D, name, value);
  }
  return made;
}

function setUp() {
  gl = $("cloud-view").getContext("webgl2", { antialias: true });
  if (!gl) {
    $("cloud-note").textContent = "This browser has no WebGL2: the cloud is not drawn; the .ply below has it.";
    return false;
  }
  programs = { points: link(POINTS), readings: link(READINGS), buffer: gl.createBuffer(), array: gl.createVertexArray(), empty: gl.createVertexArray() };
  for (let unit = 0; unit < 4; unit++) texture(unit); // depth, deviation, photo, colours
  gl.bindVertexArray(programs.array);
  gl.bindBuffer(gl.ARRAY_BUFFER, programs.buffer);
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 28, 0);
  gl.enableVertexAttribArray(1);
  gl.vertexAttribPointer(1, 4, gl.FLOAT, false, 28, 12);
  gl.enable(gl.DEPTH_TEST);
  return true;
}

function upload(answer) {
  const { width, height } = answer;
  if (uploaded.answer !== answer.id) {
    for (const [unit, values] of [[0, answer.depth], [1, answer.sigma]]) {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.R32F, width, height, 0, gl.RED, gl.FLOAT, values);
    }
  }
  if (uploaded.photo !== state.photo) {
    gl.activeTexture(gl.TEXTURE2);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, state.photo);
  }
  uploaded = { answer: answer.id, photo: state.photo };
}

const focal = () => state.recipe.focal_px ?? state.scene.focal_px;

/** Numbers of a reading: x, y, z in the camera's frame, and its colour; `hidden` ones have no depth. */
function readingPoints(answer) {
  const { u, v, z_m: z, colour } = answer.readings;
  const f = focal();
  const [cx, cy] = centre(answer);
  const rows = [];
  for (let k = 0; k < u.length; k++) {
    if (!(z[k] > 0) || u[k] === null) continue;
    const rgb = [1, 3, 5].map((i) => parseInt(colour[k].slice(i, i + 2), 16) / 255);
    rows.push(((u[k] - cx) / f) * z[k], ((v[k] - cy) / f) * z[k], z[k], ...rgb, answer.readings.keep[k] ? 0 : 1);
  }
  return new Float32Array(rows);
}

const centre = (answer) => state.scene.centre_px ?? [(answer.width - 1) / 2, (answer.height - 1) / 2];

function schedule() {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    draw();
  });
}

function draw() {
  const answer = state.results[state.selected];
  const view = $("cloud-view");
  if (!gl || !answer || !state.photo || !seen) return;
  if (answer.width !== state.photo.width || answer.height !== state.photo.height) return;
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  view.width = Math.max(1, Math.round(view.clientWidth * ratio));
  view.height = Math.max(1, Math.round(view.clientHeight * ratio));
  gl.viewport(0, 0, view.width, view.height);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  gl.clearColor(...(dark ? [0.055, 0.066, 0.08, 1] : [0.93, 0.94, 0.955, 1]));
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  upload(answer);
  const [near, far] = answer.depth_limits;
  const middle = Math.sqrt(near * far);
  const span = Math.max(far - near, (answer.width / focal()) * middle);
  const distance = (0.62 * span) / Math.tan(FOV_Y / 2) / camera.zoom;
  const [cx, cy] = centre(answer);
  const target = [(((answer.width - 1) / 2 - cx) / focal()) * middle, (((answer.height - 1) / 2 - cy) / focal()) * middle, 0.5 * (near + far)];
  const matrix = product(perspective(FOV_Y, view.width / view.height, 0.02 * span, 30 * span), orbit(camera.yaw, camera.pitch, distance, target));
  drawPoints(answer, matrix, view.height, span);
  if ($("cloud-readings").checked) drawReadings(answer, matrix, ratio);
  view.dataset.yaw = camera.yaw.toFixed(3);
  view.dataset.points = String(numPoints(answer).count);
}

function numPoints({ width, height }) {
  const stride = Math.max(1, Math.ceil(Math.sqrt((width * height) / MAX_POINTS)));
  const columns = Math.ceil(width / stride);
  return { stride, columns, count: columns * Math.ceil(height / stride) };
}

function drawPoints(answer, matrix, pixels, span) {
  const { program, at } = programs.points;
  const { stride, columns, count } = numPoints(answer);
  const paint = document.querySelector("input[name=paint]:checked").value;
  gl.useProgram(program);
  gl.bindVertexArray(programs.empty);
  gl.uniformMatrix4fv(at("matrix"), false, matrix);
  gl.uniform1i(at("depth"), 0);
  gl.uniform1i(at("sigma"), 1);
  gl.uniform1i(at("photo"), 2);
  gl.uniform1i(at("colours"), 3);
  gl.uniform1i(at("stride"), stride);
  gl.uniform1i(at("columns"), columns);
  gl.uniform1i(at("paint"), ["photo", "depth", "sigma"].indexOf(paint));
  gl.uniform1f(at("focal"), focal());
  gl.uniform1f(at("steepest"), $("cloud-edges").checked ? 1e9 : STEEPEST);
  gl.uniform2f(at("centre"), ...centre(answer));
  gl.uniform1f(at("size"), (pixels * stride * 1.25) / focal() / Math.tan(FOV_Y / 2) / 2);
  if (paint !== "photo") {
    const [low, high] = limitsOf(paint).map(Math.log);
    gl.uniform2f(at("limits"), low, high);
    const colours = rampOf(paint);
    gl.activeTexture(gl.TEXTURE3);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB8, 256, 1, 0, gl.RGB, gl.UNSIGNED_BYTE, new Uint8Array(colours));
  }
  gl.drawArrays(gl.POINTS, 0, count);
}

function drawReadings(answer, matrix, ratio) {
  const rows = readingPoints(answer);
  gl.useProgram(programs.readings.program);
  gl.bindVertexArray(programs.array);
  gl.bindBuffer(gl.ARRAY_BUFFER, programs.buffer);
  gl.bufferData(gl.ARRAY_BUFFER, rows, gl.DYNAMIC_DRAW);
  gl.uniformMatrix4fv(programs.readings.at("matrix"), false, matrix);
  gl.uniform1f(programs.readings.at("size"), 11 * ratio);
  gl.drawArrays(gl.POINTS, 0, rows.length / 7);
}

function turn(yaw, pitch, zoom = 1) {
  camera.yaw += yaw;
  camera.pitch = Math.min(1.4, Math.max(-1.4, camera.pitch + pitch));
  camera.zoom = Math.min(8, Math.max(0.3, camera.zoom * zoom));
  schedule();
}

function listen(view) {
  view.addEventListener("pointerdown", (event) => view.setPointerCapture(event.pointerId));
  view.addEventListener("pointermove", (event) => {
    if (view.hasPointerCapture(event.pointerId)) turn(event.movementX * 0.008, event.movementY * 0.008);
  });
  view.addEventListener("wheel", (event) => {
    if (document.activeElement !== view) return; // else the page could not be scrolled past it
    event.preventDefault();
    turn(0, 0, Math.exp(-event.deltaY * 0.001));
  }, { passive: false });
  view.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1], "+": [0, 0, 1.15], "=": [0, 0, 1.15], "-": [0, 0, 1 / 1.15] };
    if (event.key === "Home") camera = { ...START };
    else if (!moves[event.key]) return;
    event.preventDefault();
    turn(...(moves[event.key] ?? [0, 0]));
  });
  new ResizeObserver(schedule).observe(view);
  new IntersectionObserver((entries) => {
    seen = entries.some((entry) => entry.isIntersecting);
    schedule();
  }).observe(view);
}

function renderFocal() {
  if (!state.scene || document.activeElement === $("focal")) return;
  $("focal").value = String(Number(focal().toPrecision(6)));
  $("focal-note").textContent = state.recipe.focal_px !== null ? "typed" : state.scene.focal_is_known ? "as calibrated" : "assumed";
}

export function start() {
  if (setUp()) {
    listen($("cloud-view"));
    on(["results", "selected", "photo"], schedule);
    for (const input of document.querySelectorAll("input[name=paint], #cloud-readings, #cloud-edges")) input.addEventListener("change", schedule);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", schedule);
  }
  $("focal").addEventListener("change", (event) => {
    const value = event.target.valueAsNumber;
    setRecipe({ focal_px: value > 0 ? value : null });
  });
  on(["scene", "recipe"], renderFocal);
}
