// The method: κ of the paper's gate, the third column's method, the network.

import { $, element } from "./dom.js";
import { on, set, setRecipe, state } from "./state.js";

function note() {
  const found = state.options.methods.find(({ name }) => name === state.thirdMethod);
  $("method-note").textContent = found?.summary ?? "";
  $("kappa-value").textContent = state.recipe.kappa.toFixed(1);
}

export function start(options) {
  $("method-name").replaceChildren(...options.methods.map(({ name, summary }) => element("option", { value: name, textContent: name, title: summary })));
  $("foundation").replaceChildren(
    element("option", { value: "", textContent: options.own_foundation || "the method's own" }),
    ...options.foundations.map(({ name, summary }) => element("option", { value: name, textContent: name === "none" ? "none: readings and colours alone" : name, title: summary })),
  );
  $("kappa").addEventListener("input", (event) => setRecipe({ kappa: event.target.valueAsNumber }));
  $("method-name").addEventListener("change", (event) => set({ thirdMethod: event.target.value }));
  $("foundation").addEventListener("change", (event) => setRecipe({ foundation: event.target.value }));
  on(["recipe", "thirdMethod"], note);
  note();
}
