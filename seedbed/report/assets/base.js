// Text from models reaches the page through textContent only; nothing here builds HTML from strings.
const make = (tag, text, className) => {
  const node = document.createElement(tag);
  if (text !== undefined && text !== null) node.textContent = text;
  if (className) node.className = className;
  return node;
};
const byId = (name) => document.getElementById(name);
const count = (number) => number.toLocaleString("en");

// ---- theme: images follow the page's color-scheme, so that drawings turn with it
const root = document.documentElement;
byId("theme").addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});

// ---- where the reader is: what stands behind the # as names and values
const place = () => new URLSearchParams(location.hash.slice(1));
const typing = (event) => /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName ?? "");
