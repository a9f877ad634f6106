// ---- the grid: samples x systems, scores as colours; only what is on the screen is drawn
const STATE = ["ok", "error", "skipped", "unreadable", "truncated"], HEIGHT = 30, EPSILON = 1e-9;
const CHOICES = ["table", "metric", "system", "against", "state", "kind", "q", "from", "to", "sort"];
const grid = { tables: [], table: null, rows: [], at: 0, chosen: {}, texts: new Map(), means: new Map(), order: null };

const nameOf = (table) => `${table.suite}/${table.benchmark}/${table.model}`;
const mean = (values) => {
  let sum = 0, n = 0;
  for (const value of values) if (value !== null && value !== undefined) { sum += value; n += 1; }
  return n ? sum / n : NaN;
};
// By system, the mean over seeds of every sample; made once a table and metric.
const meansOf = (table, metric) => {
  const key = `${nameOf(table)} ${metric}`;
  if (!grid.means.has(key)) {
    grid.means.set(key, table.scores.map((seeds) =>
      Float64Array.from(table.ids, (_, at) => mean(seeds.map((own) => own[metric][at])))));
  }
  return grid.means.get(key);
};
const shade = (metric, value, low, high) => {
  if (Number.isNaN(value) || high <= low) return "";
  let share = Math.min(1, Math.max(0, (value - low) / (high - low)));
  if (metric.better === false) share = 1 - share;
  if (metric.better === null) return `rgba(110, 140, 190, ${(0.08 + 0.4 * share).toFixed(2)})`;
  const strength = (0.1 + 0.8 * Math.abs(share - 0.5)).toFixed(2);
  return `rgba(var(${share < 0.5 ? "--low" : "--high"}), ${strength})`;
};
const endsOf = (metric, columns) => {
  if (metric.range) return metric.range;
  let low = Infinity, high = -Infinity;
  for (const column of columns) for (const value of column) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
};

const fill = (box, options, value) => {
  box.replaceChildren(...options.map(([shown, own]) => new Option(shown, own)));
  box.value = options.some(([, own]) => own === value) ? value : options[0][1];
  return box.value;
};
const unique = (list) => [...new Set(list)];

// Put the controls in step with what was chosen, and keep of it what there is.
const settle = () => {
  const chosen = grid.chosen;
  grid.table = grid.tables.find((table) => nameOf(table) === chosen.table) ?? grid.table ?? grid.tables[0];
  const table = grid.table, labels = table.systems.map((system) => system.label);
  chosen.table = fill(byId("by-table"), grid.tables.map((own) => [`${own.benchmark} · ${own.model} · ${own.title}`, nameOf(own)]), nameOf(table));
  chosen.metric = fill(byId("by-metric"), table.metrics.map((own) => [own.label, own.name]), chosen.metric);
  chosen.system = fill(byId("by-system"), [["all systems", ""], ...labels.map((own) => [own, own])], chosen.system);
  chosen.against = fill(byId("by-against"), [["any other", ""], ...labels.map((own) => [own, own])], chosen.against);
  chosen.kind = fill(byId("by-kind"), [["any", ""], ...table.kinds.map((own) => [own, own])], chosen.kind);
  byId("by-kind").parentNode.hidden = table.kinds.length === 0;
  byId("by-state").value = chosen.state ?? "";
  byId("differ").checked = Boolean(chosen.differ);
  for (const name of ["from", "to"]) byId(name).value = chosen[name] ?? "";
  byId("search").value = chosen.q ?? "";
  byId("deep").checked = Boolean(chosen.deep);
  byId("facts").replaceChildren(...Object.entries(table.facts).map(([fact, own]) => {
    const label = make("label", `${fact.replaceAll("_", " ")} `), box = make("select");
    fill(box, [["any", ""], ...own.values.map((value) => [value, value])], chosen[`fact.${fact}`]);
    box.dataset.fact = fact;
    box.addEventListener("change", () => choose(`fact.${fact}`, box.value));
    label.append(box);
    return label;
  }));
};

const stateOf = (table, system, at) => {
  for (const column of table.states[system]) if (column[at] !== "0" && column[at] !== "-") return STATE[column[at]];
  return table.states[system].some((column) => column[at] === "0") ? "ok" : "none";
};

function tests(table) {
  const chosen = grid.chosen, metric = table.metrics.findIndex((own) => own.name === chosen.metric);
  const means = meansOf(table, metric), all = table.systems.map((_, place) => place);
  const place = (label) => table.systems.findIndex((system) => system.label === label);
  const own = chosen.system ? [place(chosen.system)] : all, other = chosen.against ? [place(chosen.against)] : all;
  const found = [];
  if (chosen.differ) {
    found.push((at) => own.some((a) => other.some((b) => Math.abs(means[a][at] - means[b][at]) > EPSILON ||
      Number.isNaN(means[a][at]) !== Number.isNaN(means[b][at]))));
  }
  const from = parseFloat(chosen.from), to = parseFloat(chosen.to);
  if (!Number.isNaN(from)) found.push((at) => own.some((a) => means[a][at] >= from - EPSILON));
  if (!Number.isNaN(to)) found.push((at) => own.some((a) => means[a][at] <= to + EPSILON));
  if (chosen.state) {
    const code = String(STATE.indexOf(chosen.state));
    found.push((at) => own.some((a) => table.states[a].some((column) => column[at] === code)));
  }
  if (chosen.kind) {
    const code = table.kinds.indexOf(chosen.kind);
    found.push((at) => own.some((a) => table.kind[a].some((column) => column[at] === code)));
  }
  for (const [fact, known] of Object.entries(table.facts)) {
    const value = chosen[`fact.${fact}`];
    if (value) { const code = known.values.indexOf(value); found.push((at) => known.of[at] === code); }
  }
  if (grid.hits) found.push((at) => grid.hits.has(at));
  return found;
}

// "sample", a system's label, or "difference"; a minus turns it.
function sorted(table, rows) {
  const chosen = grid.chosen, means = meansOf(table, table.metrics.findIndex((own) => own.name === chosen.metric));
  const place = (label) => table.systems.findIndex((system) => system.label === label);
  const pair = chosen.system && chosen.against;
  const key = chosen.sort ?? (pair ? "difference" : chosen.system || "");
  const down = key.startsWith("-"), name = down ? key.slice(1) : key;
  let value = null;
  if (name === "difference" && pair) {
    const a = means[place(chosen.system)], b = means[place(chosen.against)];
    const metric = table.metrics.find((own) => own.name === chosen.metric);
    value = (at) => (metric.better === false ? b[at] - a[at] : a[at] - b[at]);
  } else if (place(name) >= 0) { const own = means[place(name)]; value = (at) => own[at]; }
  if (value) {
    const sign = down ? -1 : 1;
    rows.sort((p, q) => {
      const x = value(p), y = value(q);
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || p - q;
      return sign * (x - y) || p - q;
    });
  } else if (down) rows.reverse();
  grid.order = name ? { name, down } : null;
  return rows;
}

function refresh(keep) {
  const table = grid.table, all = tests(table), rows = [];
  for (let at = 0; at < table.ids.length; at += 1) if (all.every((test) => test(at))) rows.push(at);
  grid.rows = sorted(table, rows);
  grid.at = keep ? Math.max(0, Math.min(grid.at, rows.length - 1)) : 0;
  byId("space").style.height = `${rows.length * HEIGHT}px`;
  byId("count").textContent = `${count(rows.length)} of ${count(table.ids.length)} samples`;
  if (!keep) byId("grid").scrollTop = 0;
  heads();
  draw();
}

// The same columns in every line, and a width below which they scroll.
const COLUMNS = matchMedia("(max-width: 700px)").matches ? { id: 92, asked: 100, system: 84, difference: 84 }
  : { id: 140, asked: 180, system: 116, difference: 104 };
const shape = (node) => {
  const n = grid.table.systems.length, pair = grid.chosen.system && grid.chosen.against;
  node.style.gridTemplateColumns = `${COLUMNS.id}px minmax(${COLUMNS.asked}px, 3fr) repeat(${n}, minmax(${COLUMNS.system}px, 1fr))` +
    (pair ? ` ${COLUMNS.difference}px` : "");
  const gaps = 2 * (n + 2);
  node.style.minWidth = `${COLUMNS.id + COLUMNS.asked + n * COLUMNS.system + (pair ? COLUMNS.difference : 0) + gaps}px`;
};
function heads() {
  const table = grid.table, pair = grid.chosen.system && grid.chosen.against;
  const names = [["sample", "sample"], ["asked", null], ...table.systems.map((own) => [own.label, own.label])];
  if (pair) names.push(["difference", "difference"]);
  shape(byId("heads"));
  byId("heads").replaceChildren(...names.map(([shown, key], place) => {
    const head = make(key ? "button" : "span", shown, place === 0 ? "id" : "");
    head.title = shown === table.baseline ? `${shown} (baseline)` : shown;
    if (shown === table.baseline) head.append(make("small", " baseline"));
    if (grid.order && grid.order.name === key) head.append(grid.order.down ? " ↓" : " ↑");
    if (key) head.addEventListener("click", () =>
      choose("sort", grid.order && grid.order.name === key && !grid.order.down ? `-${key}` : key));
    return head;
  }));
}

// Texts come with their pack; a line is drawn without them until then.
const textOf = (table, at) => {
  const [first, number] = runOf(table.texts, at), own = grid.texts.get(number);
  if (own) return own[at - first];
  if (own === undefined) {
    grid.texts.set(number, null);
    if (grid.texts.size > 40) grid.texts.delete(grid.texts.keys().next().value);
    pack(number).then((texts) => { grid.texts.set(number, texts); requestAnimationFrame(draw); },
      (error) => { byId("count").textContent = error.message; });
  }
  return null;
};

function draw() {
  const table = grid.table, box = byId("grid"), chosen = grid.chosen;
  const number = table.metrics.findIndex((own) => own.name === chosen.metric), metric = table.metrics[number];
  const means = meansOf(table, number), [low, high] = endsOf(metric, means);
  const first = Math.max(0, Math.floor(box.scrollTop / HEIGHT) - 4);
  const last = Math.min(grid.rows.length, first + Math.ceil(box.clientHeight / HEIGHT) + 8);
  const place = (label) => table.systems.findIndex((system) => system.label === label);
  const pair = chosen.system && chosen.against ? [place(chosen.system), place(chosen.against)] : null;
  const lines = [];
  for (let row = first; row < last; row += 1) {
    const at = grid.rows[row], text = textOf(table, at), line = make("div", null, `line${row === grid.at ? " open" : ""}`);
    line.style.top = `${row * HEIGHT}px`;
    shape(line);
    line.setAttribute("role", "row");
    const id = make("a", table.ids[at], "id");
    id.href = sampleLink(table, at);
    id.tabIndex = -1;
    line.append(id, make("span", text ? text[0] : "…", "asked"));
    means.forEach((own, system) => {
      const state = stateOf(table, system, at), value = own[at];
      const shown = Number.isNaN(value) ? (state === "ok" ? "-" : state) : String(Number(value.toFixed(metric.digits)));
      const cell = make("span", shown, `score ${state}`);
      cell.style.background = shade(metric, value, low, high);
      cell.title = text ? text[2][system] : "";
      line.append(cell);
    });
    if (pair) {
      const exact = means[pair[0]][at] - means[pair[1]][at], difference = Math.abs(exact) < EPSILON ? 0 : exact;
      const good = metric.better === null || difference === 0 ? "" : (difference > 0) === metric.better ? "better" : "worse";
      const signed = `${difference > 0 ? "+" : ""}${Number(difference.toFixed(metric.digits))}`;
      line.append(make("span", Number.isNaN(difference) ? "-" : signed, `score ${good}`));
    }
    line.addEventListener("click", (event) => { event.preventDefault(); grid.at = row; go(sampleLink(table, at)); });
    lines.push(line);
  }
  byId("space").replaceChildren(...lines);
}

const sampleLink = (table, at) =>
  `#${new URLSearchParams({ sample: table.ids[at], table: nameOf(table) }).toString().replace(/%2F/g, "/")}`;
const go = (hash) => { if (location.hash === hash) follow(); else location.hash = hash; };

// What is chosen stands in the address, so that a view can be sent.
const remember = () => {
  const kept = Object.entries(grid.chosen).filter(([, value]) => value);
  history.replaceState(null, "", `#${new URLSearchParams(kept).toString().replace(/%2F/g, "/")}`);
};
const choose = (name, value) => {
  if (name === "table" && value !== grid.chosen.table) grid.chosen = {};
  grid.chosen[name] = value;
  if (name === "against" && value) grid.chosen.sort = undefined;
  settle();
  remember();
  if (["q", "deep", "table"].includes(name)) search(); else refresh();
};

let run = 0;
async function search() {
  const mine = (run += 1), table = grid.table;
  const words = (grid.chosen.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  grid.hits = null;
  if (words.length) {
    const hits = new Set(), runs = [["texts", table.texts], ...(grid.chosen.deep ? [["details", table.details]] : [])];
    for (const [, own] of runs) {
      for (const [first, number] of own) {
        const items = await pack(number);
        if (mine !== run) return;
        items.forEach((item, place) => {
          const at = first + place;
          const text = `${table.ids[at]} ${JSON.stringify(item)}`.toLowerCase();
          if (words.every((word) => text.includes(word))) hits.add(at);
        });
        byId("count").textContent = `searched ${count(first + items.length)} of ${count(table.ids.length)}`;
      }
    }
    grid.hits = hits;
  }
  refresh();
}
