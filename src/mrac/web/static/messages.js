// Messages above the maps: errors, warnings about the readings, and that a first run takes longer.

import { repair } from "./api.js";
import { $, element } from "./dom.js";
import { on, reference, setScene, state } from "./state.js";

const SLOW_MS = 1500;

let problem = null; // the last error of an upload
let slow = false;
let timer = 0;

/** Shows an error until the next call; null removes it. */
export function report(error) {
  problem = error;
  render();
  // The file may have been dropped far below or above the maps.
  if (error) $("messages").scrollIntoView({ block: "nearest" });
}

function message(kind, title, text) {
  return element("p", { className: `message ${kind}` }, element("b", { textContent: title }), ` ${text}`);
}

/** A warning about the readings; what the server can put right has a button for it. */
function warningOf({ name, message: text, advice, can_repair: fixable }) {
  const canRepair = fixable && state.scene.readings;
  const shown = message("warning", `${name.replaceAll("_", " ")}:`, canRepair ? `${text}. ` : `${text}; ${advice}`);
  if (!canRepair) return shown;
  const button = element("button", { type: "button", className: "quiet", textContent: "Put it right" });
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      setScene(await repair(state.scene.id, name));
    } catch (error) {
      report(error.message);
    }
  });
  shown.append(button);
  return shown;
}

function render() {
  const found = [];
  if (problem) {
    const close = element("button", { type: "button", className: "close", textContent: "×" });
    close.setAttribute("aria-label", "Close the message");
    close.addEventListener("click", () => report(null));
    const shown = message("error", "That did not work.", problem);
    shown.append(close);
    found.push(shown);
  }
  if (slow && state.pending) {
    found.push(message("note", "Working.", "The first run on a machine compiles kernels, for about ten seconds."));
  }
  const failed = [...new Set(state.errors.filter(Boolean))];
  for (const text of failed) found.push(message("error", "No result.", text));
  for (const warning of reference()?.warnings ?? []) {
    found.push(warningOf(warning));
  }
  $("messages").replaceChildren(...found);
}

export function start() {
  on(["results", "errors"], render);
  on(["pending"], () => {
    clearTimeout(timer);
    if (state.pending) {
      timer = setTimeout(() => {
        slow = true;
        render();
      }, SLOW_MS);
    } else {
      slow = false;
      render();
    }
  });
}
