// Elements by id, and elements made in one call. Text is always set as text, never as HTML.

export const $ = (id) => document.getElementById(id);

export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  const { dataset, attributes, ...plain } = properties;
  Object.assign(made, plain);
  Object.assign(made.dataset, dataset ?? {});
  for (const [name, value] of Object.entries(attributes ?? {})) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}
