// Colour maps and metric ticks, as in mrac/io/picture.py; the stops come from the server, which has them from there.

const GREY = [96, 96, 96];

/** 256 colours, 3 bytes each, between evenly spaced stops such as "#fff7c2". */
export function ramp(stops) {
  const table = stops.map((stop) => [1, 3, 5].map((i) => parseInt(stop.slice(i, i + 2), 16)));
  const colours = new Uint8ClampedArray(256 * 3);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (table.length - 1);
    const k = Math.min(Math.floor(at), table.length - 2);
    for (let c = 0; c < 3; c++) {
      colours[3 * i + c] = Math.floor(table[k][c] + (at - k) * (table[k + 1][c] - table[k][c]));
    }
  }
  return colours;
}

/** Fills RGBA `pixels` with colours of metres, even in the logarithm between `limits`. */
export function paint(pixels, metres, limits, colours) {
  const low = Math.log(limits[0]);
  const scale = 255 / (Math.log(limits[1]) - low);
  for (let i = 0, p = 0; i < metres.length; i++, p += 4) {
    const share = (Math.log(metres[i]) - low) * scale + 0.5;
    if (Number.isFinite(share)) {
      const k = 3 * Math.min(255, Math.max(0, Math.floor(share)));
      pixels[p] = colours[k];
      pixels[p + 1] = colours[k + 1];
      pixels[p + 2] = colours[k + 2];
    } else {
      [pixels[p], pixels[p + 1], pixels[p + 2]] = GREY;
    }
    pixels[p + 3] = 255;
  }
}

/** Round values between `limits` with their labels: 1, 2, 5, 10 ..., or even steps where these are too few. */
export function metricTicks([low, high]) {
  const values = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
    for (const m of [1, 2, 5]) {
      const value = m * 10 ** e;
      if (value >= low && value <= high) values.push(value);
    }
  }
  if (values.length >= 3) return values.map((value) => [value, String(Number(value.toPrecision(6)))]);
  const power = 10 ** Math.floor(Math.log10(high - low));
  const steps = [power, power / 2, power / 5, power / 10];
  const step = steps.find((s) => Math.floor(high / s) - Math.floor(low / s) >= 3) ?? power / 10;
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n <= Math.floor(high / step + 1e-9); n++) {
    ticks.push([n * step, (n * step).toFixed(decimals)]);
  }
  return ticks;
}

/** Metres for a person: 3 digits. */
export const metres = (value) => (Number.isFinite(value) ? `${Number(value.toPrecision(3))} m` : "no value");
