// ---- tables: sort by a heading, filter by words and by values, choose columns
const text = (cell) => cell.textContent.trim();

// "<0.001" is a number just below 0.001; what is undefined has none.
const number = (shown) => {
  const found = shown.replace(/[,$*†]/g, "").match(/^\s*([<>]?)\s*([+-]?\d*\.?\d+(?:e[+-]?\d+)?)/i);
  if (!found) return null;
  const value = parseFloat(found[2]);
  return found[1] === "<" ? value - 1e-9 : found[1] === ">" ? value + 1e-9 : value;
};

const byColumn = (column, sign) => (a, b) => {
  const x = text(a.cells[column]), y = text(b.cells[column]), p = number(x), q = number(y);
  const none = (shown) => shown === "-" || shown === "?" || shown === "";
  if (none(x) || none(y)) return none(x) - none(y);
  if (p === null || q === null) {
    if ((p === null) !== (q === null)) return p === null ? 1 : -1;
    return sign * x.localeCompare(y);
  }
  return sign * (p - q || x.localeCompare(y));
};

const sortable = (table) => {
  const headings = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  headings.forEach((heading, column) => {
    const sort = () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      body.append(...[...body.rows].sort(byColumn(column, down ? -1 : 1)));
    };
    heading.tabIndex = 0;
    heading.addEventListener("click", sort);
    heading.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); }
    });
  });
};

// "F1 > 0.6", "p (Holm) <= .05", "n = 60": the longest heading that the text begins with, then a comparison.
const plain = (name) => name.toLowerCase().replace(/\s+/g, "");
const condition = (part, names) => {
  const found = part.match(/^(.*?)(<=|>=|!=|=|<|>)\s*([+-]?\d*\.?\d+)\s*$/);
  const column = found ? names.indexOf(plain(found[1])) : -1;
  if (column < 0) return null;
  const limit = parseFloat(found[3]);
  const holds = { "<": (v) => v < limit, ">": (v) => v > limit, "<=": (v) => v <= limit, ">=": (v) => v >= limit,
    "=": (v) => v === limit, "!=": (v) => v !== limit }[found[2]];
  return (row) => { const value = number(text(row.cells[column])); return value !== null && holds(value); };
};
const filterable = (table, input) => {
  const names = [...table.tHead.rows[0].cells].map((cell) => plain(text(cell)));
  input.addEventListener("input", () => {
    const tests = input.value.split(/[;&]+/).flatMap((part) => {
      const known = condition(part.trim(), names);
      const words = part.toLowerCase().split(/\s+/).filter(Boolean);
      return known ? [known] : words.map((word) => (row) => row.textContent.toLowerCase().includes(word));
    });
    for (const row of table.tBodies[0].rows) row.hidden = !tests.every((test) => test(row));
  });
};

const CHOOSABLE = 8;
const choosable = (table, frame) => {
  const headings = [...table.tHead.rows[0].cells];
  if (headings.length < CHOOSABLE) return;
  const box = make("details", null, "columns");
  box.append(make("summary", "columns"));
  headings.forEach((heading, column) => {
    if (heading.classList.contains("key")) return;
    const label = make("label"), tick = make("input");
    tick.type = "checkbox";
    tick.checked = true;
    tick.addEventListener("change", () => {
      for (const row of table.rows) row.cells[column].hidden = !tick.checked;
    });
    label.append(tick, ` ${text(heading)}`);
    box.append(label);
  });
  frame.insertBefore(box, frame.querySelector(".scroll"));
};

for (const table of document.querySelectorAll("table.sortable")) {
  const frame = table.closest(".table"), input = frame.querySelector("input.filter");
  sortable(table);
  if (input) filterable(table, input);
  choosable(table, frame);
}
