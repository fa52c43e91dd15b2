// Requests to our own server. An error is an Error with a message for a person.

async function checked(response) {
  if (response.ok) return response;
  let message = `The server answered ${response.status}.`;
  try {
    message = (await response.json()).error ?? message;
  } catch {
    // not JSON: the status is all there is
  }
  throw new Error(message);
}

async function ask(path, init) {
  let response;
  try {
    response = await fetch(path, { credentials: "omit", ...init });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer. Is `mrac web` still running?");
  }
  return checked(response);
}

export const getOptions = async () => (await ask("/api/options")).json();

export const openExample = async (name) =>
  (await ask(`/api/examples/${encodeURIComponent(name)}`, { method: "POST" })).json();

export async function uploadPicture(file) {
  const form = new FormData();
  form.append("image", file, file.name);
  return (await ask("/api/scenes", { method: "POST", body: form })).json();
}

export async function uploadReadings(scene, form) {
  return (await ask(`/api/scenes/${scene}/readings`, { method: "POST", body: form })).json();
}

export const repair = async (scene, name) =>
  (
    await ask(`/api/scenes/${scene}/repair`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name }),
    })
  ).json();

export const dropReadings = async (scene) =>
  (await ask(`/api/scenes/${scene}/readings`, { method: "DELETE" })).json();

export const pictureAddress = (scene) => `/api/scenes/${scene}/image.png`;

export const downloadAddress = (result, name) => `/api/results/${result}/${name}`;

/** One calibration: the server's summary with `depth` and `sigma`, Float32Arrays of the picture's size. */
export async function calibrate(scene, recipe, signal) {
  const response = await ask(`/api/scenes/${scene}/results`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(recipe),
    signal,
  });
  const bytes = await response.arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  const summary = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  const count = summary.width * summary.height;
  return {
    ...summary,
    depth: new Float32Array(bytes, 4 + length, count),
    sigma: new Float32Array(bytes, 4 + length + 4 * count, count),
  };
}
