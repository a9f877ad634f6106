// What is shown, made from data. Every text reaches the page as a text, whoever wrote it.

export function make(tag, settings = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(settings)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    else element.setAttribute(name, value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined).map(
    child => child instanceof Node ? child : document.createTextNode(String(child))));
  return element;
}

export const count = number => Number(number).toLocaleString("en-US");
export const percent = share => `${Math.floor(100 * share)}%`;
export const dollars = (usd, digits = 4) => usd === null || usd === undefined ? "?" : `$${usd.toFixed(usd >= 100 ? 2 : digits)}`;

export function clock(seconds) {
  if (seconds === null || seconds === undefined) return "-";
  const whole = Math.round(seconds), minutes = Math.floor(whole / 60);
  if (whole < 60) return `${whole} s`;
  const two = number => String(number).padStart(2, "0");
  return minutes < 60 ? `${minutes}:${two(whole % 60)} min` : `${Math.floor(minutes / 60)}:${two(minutes % 60)} h`;
}

export function when(seconds) {
  const then = new Date(1000 * seconds), today = new Date().toDateString() === then.toDateString();
  const written = {hour12: false};
  return today ? then.toLocaleTimeString([], written) : then.toLocaleString([], written);
}

export function state(name) {
  return make("span", {class: `state ${name}`}, name.replace("_", " "));
}

export function bar(counts, total, thin = false) {
  const parts = ["done", "cached", "running", "failed"].map(name => {
    const part = make("i", {class: name, title: `${counts[name]} ${name}`});
    part.style.width = `${total ? 100 * counts[name] / total : 0}%`;
    return part;
  });
  return make("div", {class: thin ? "progress thin" : "progress"}, ...parts);
}

export function table(heads, rows) {
  const right = heads.map(head => head.startsWith(">"));
  const cell = (value, i) => value instanceof HTMLTableCellElement ? value
    : make("td", {class: right[i] ? "num" : null}, value);
  const line = row => {
    const made = make("tr", {}, ...row.cells.map(cell));
    if (row.open) {
      made.className = "link";
      made.tabIndex = 0;
      made.addEventListener("click", row.open);
      made.addEventListener("keydown", event => { if (event.key === "Enter") row.open(); });
    }
    return made;
  };
  return make("div", {class: "scroll"}, make("table", {},
    make("thead", {}, make("tr", {}, ...heads.map((head, i) =>
      make("th", {class: right[i] ? "num" : null}, head.replace(/^>/, ""))))),
    make("tbody", {}, ...rows.map(line))));
}

export function tile(value, label) {
  return make("div", {class: "tile"}, make("b", {}, value), make("span", {}, label));
}

// Dollars summed up over the time of the run, calls of each slice below it; those that failed in red.
export function curve(data) {
  const {width_s, slices} = data.series, name = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(name, "svg");
  svg.setAttribute("viewBox", "0 0 600 150");
  svg.setAttribute("preserveAspectRatio", "none");
  const draw = (tag, attributes) => {
    const shape = document.createElementNS(name, tag);
    for (const [key, value] of Object.entries(attributes)) shape.setAttribute(key, value);
    svg.append(shape);
  };
  const last = Math.max(1, ...slices.map(slice => slice.slot + 1), Math.ceil(data.elapsed_s / width_s));
  const total = slices.reduce((sum, slice) => sum + slice.usd, 0);
  const most = Math.max(1, ...slices.map(slice => slice.calls));
  const top = Math.max(total, 1e-9) * 1.08, x = slot => 600 * slot / last, y = usd => 148 - 140 * usd / top;
  let sum = 0, line = `M 0 ${y(0)}`;
  for (const slice of slices) {
    const height = 50 * slice.calls / most, lost = 50 * slice.failed / most;
    draw("rect", {class: "calls", x: x(slice.slot), y: 150 - height, width: 600 / last * .8, height});
    draw("rect", {class: "lost", x: x(slice.slot), y: 150 - lost, width: 600 / last * .8, height: lost});
    line += ` L ${x(slice.slot)} ${y(sum)}`;
    sum += slice.usd;
    line += ` L ${x(slice.slot + 1)} ${y(sum)}`;
  }
  if (data.max_usd !== null && data.max_usd <= top)
    draw("line", {class: "cap", x1: 0, x2: 600, y1: y(data.max_usd), y2: y(data.max_usd)});
  draw("path", {class: "spent", d: `${line} L ${x(last)} ${y(sum)}`});
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${dollars(total)} spent over ${clock(data.elapsed_s)}`);
  return svg;
}
