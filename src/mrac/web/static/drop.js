// Files that are dropped on an element: `take` gets the first, and all of them.

export function takeDrops(target, take) {
  target.addEventListener("dragover", (event) => {
    event.preventDefault();
    target.classList.add("over");
  });
  target.addEventListener("dragleave", () => target.classList.remove("over"));
  target.addEventListener("drop", (event) => {
    event.preventDefault();
    target.classList.remove("over");
    const files = [...event.dataTransfer.files];
    if (files.length) take(files[0], files);
  });
}
