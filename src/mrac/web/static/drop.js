// Files that are dropped on an element.

export function takeDrops(target, take) {
  target.addEventListener("dragover", (event) => {
    event.preventDefault();
    target.classList.add("over");
  });
  target.addEventListener("dragleave", () => target.classList.remove("over"));
  target.addEventListener("drop", (event) => {
    event.preventDefault();
    target.classList.remove("over");
    const [file] = event.dataTransfer.files;
    if (file) take(file);
  });
}
