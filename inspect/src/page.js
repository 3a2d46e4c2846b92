"use strict";
// Lines that were made from the same operations light up together; a click keeps them lit and brings them into view.
const lines = [...document.querySelectorAll(".l[data-n]")];
const made = new Map();
for (const line of lines) {
  for (const node of line.dataset.n.split(" ")) {
    if (!made.has(node)) made.set(node, []);
    made.get(node).push(line);
  }
}
// Lines in the graphs of a loop or a branch, by what they are in.
const inside = new Map();
for (const line of document.querySelectorAll(".l[data-in]")) {
  for (const node of line.dataset.in.split(" ")) {
    if (!inside.has(node)) inside.set(node, []);
    inside.get(node).push(line);
  }
}
const why = document.getElementById("why");
let pinned = null;
function related(line) {
  return new Set(line.dataset.n.split(" ").flatMap((node) => [...made.get(node), ...(inside.get(node) || [])]));
}
function show(line, style) {
  for (const other of document.querySelectorAll("." + style)) other.classList.remove(style);
  if (line) for (const other of related(line)) other.classList.add(style);
}
function explain(line) {
  const nodes = line ? line.dataset.n.split(" ") : [];
  const texts = nodes.map((node) => reasons[node]).filter((text) => text);
  why.textContent = texts.length ? texts.slice(0, 4).join("\n\n") : "The pointer on a line says why its operation has its dtype.";
}
function pin(line) {
  pinned = pinned === line ? null : line;
  show(pinned, "pin");
  if (!pinned) return;
  const others = related(line);
  for (const panel of document.querySelectorAll(".lines")) {
    if (panel.contains(line)) continue;
    const first = [...panel.querySelectorAll(".l[data-n]")].find((other) => others.has(other));
    if (first) panel.scrollTop = first.offsetTop - panel.offsetTop - panel.clientHeight / 3;
  }
}
document.addEventListener("mouseover", (event) => {
  const line = event.target.closest(".l[data-n]");
  show(line, "on");
  explain(line || pinned);
});
document.addEventListener("click", (event) => {
  const line = event.target.closest(".l[data-n]");
  if (line) pin(line);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && pinned) pin(pinned);
});
// A drawing is in the values of a stage, which it brings along when it is opened.
for (const drawer of document.querySelectorAll("details[data-shows]")) {
  drawer.querySelector("summary").addEventListener("click", () => {
    const box = document.querySelector(`nav input[data-panel="${drawer.dataset.shows}"]`);
    if (!drawer.open && !box.checked) box.click();
  });
}
for (const box of document.querySelectorAll("nav input")) {
  const panel = document.getElementById(box.dataset.panel);
  const set = () => panel.classList.toggle("hidden", !box.checked);
  box.addEventListener("change", set);
  set();
}
explain(null);
// A link may name a node: page.html#3.
const asked = made.get(location.hash.slice(1));
if (asked) {
  const line = asked.find((line) => line.closest("#graph")) || asked[0];
  pin(line);
  show(line, "on");
  explain(line);
}
