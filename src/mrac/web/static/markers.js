// Readings on a panel: rings are kept, crosses rejected, in the colour of the reason; and the cross of the cursor.

import { state } from "./state.js";

const INK = "rgba(22, 24, 29, 0.82)";
const MANY = 2000;

function ring(context, x, y, radius, colour, dot) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.lineWidth = radius * 0.95;
  context.strokeStyle = INK;
  context.stroke();
  context.lineWidth = radius * 0.45;
  context.strokeStyle = colour;
  context.stroke();
  if (dot) {
    context.fillStyle = colour;
    context.fill();
  }
}

function cross(context, x, y, radius, colour) {
  const a = radius * 0.9;
  context.lineCap = "round";
  for (const [width, style] of [[radius * 1.05, INK], [radius * 0.5, colour]]) {
    context.beginPath();
    context.moveTo(x - a, y - a);
    context.lineTo(x + a, y + a);
    context.moveTo(x - a, y + a);
    context.lineTo(x + a, y - a);
    context.lineWidth = width;
    context.strokeStyle = style;
    context.stroke();
  }
}

function halo(context, x, y, radius, style, dash) {
  context.save();
  context.setLineDash(dash);
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  for (const [width, colour] of [[3, INK], [1.5, style]]) {
    context.lineWidth = width;
    context.strokeStyle = colour;
    context.stroke();
  }
  context.restore();
}

/** Draws the readings of `answer` over a panel; `planted` also rings those that the page made wrong. */
export function drawMarkers(overlay, answer, planted) {
  const box = overlay.getBoundingClientRect();
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
  if (!width || !height || !state.scene) return;
  if (overlay.width !== width) overlay.width = width;
  if (overlay.height !== height) overlay.height = height;
  const context = overlay.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, box.width, box.height);
  const zoom = box.width / state.scene.width;
  const place = (u, v) => [(u + 0.5) * zoom, (v + 0.5) * zoom];
  if (answer && state.showReadings) drawReadings(context, answer.readings, place, box, planted);
  if (state.cursor) drawCursor(context, place(state.cursor.u, state.cursor.v), box);
}

function drawReadings(context, readings, place, box, planted) {
  const count = readings.u.length;
  const radius = Math.min(6, Math.max(1.6, 0.09 * Math.sqrt((box.width * box.height) / Math.max(count, 1))));
  const order = [...readings.u.keys()].sort((a, b) => Number(readings.keep[b]) - Number(readings.keep[a]));
  for (const k of order) {
    if (readings.u[k] === null || readings.v[k] === null) continue;
    const [x, y] = place(readings.u[k], readings.v[k]);
    if (readings.keep[k]) ring(context, x, y, radius, readings.colour[k], count > MANY);
    else cross(context, x, y, Math.max(radius, 3), readings.colour[k]);
    if (planted && readings.wrong[k]) halo(context, x, y, radius + 6, "#ffd60a", [3, 3]);
    if (readings.clicked[k]) halo(context, x, y, radius + 4, "#7ce0ff", []);
    if (k === state.hovered) halo(context, x, y, radius + 9, "#ffffff", []);
  }
}

function drawCursor(context, [x, y], box) {
  for (const [width, style] of [[3, "rgba(0, 0, 0, 0.35)"], [1, "rgba(255, 255, 255, 0.9)"]]) {
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, y - 8);
    context.moveTo(x, y + 8);
    context.lineTo(x, box.height);
    context.moveTo(0, y);
    context.lineTo(x - 8, y);
    context.moveTo(x + 8, y);
    context.lineTo(box.width, y);
    context.lineWidth = width;
    context.strokeStyle = style;
    context.stroke();
  }
}
