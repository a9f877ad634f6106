"use strict";
// Text from models reaches the page through textContent only; nothing here builds HTML from strings.
(() => {
  const make = (tag, text, className) => {
    const node = document.createElement(tag);
    if (text !== undefined && text !== null) node.textContent = text;
    if (className) node.className = className;
    return node;
  };

  // ---- theme
  const root = document.documentElement;
  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // ---- tables: sort by a click on the heading, filter by a text
  const value = (cell) => {
    const number = parseFloat((cell.dataset.value ?? cell.textContent).replace(/[,$*†]/g, ""));
    return Number.isNaN(number) ? null : number;
  };
  const compare = (column, sign) => (a, b) => {
    const x = a.cells[column], y = b.cells[column], p = value(x), q = value(y);
    if (p === null || q === null) {
      if ((p === null) !== (q === null)) return p === null ? 1 : -1;
      return sign * x.textContent.localeCompare(y.textContent);
    }
    return sign * (p - q);
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      heading.addEventListener("click", () => {
        const down = heading.getAttribute("aria-sort") === "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", down ? "descending" : "ascending");
        body.append(...[...body.rows].sort(compare(column, down ? -1 : 1)));
      });
    });
    const input = table.closest(".table").querySelector("input.filter");
    input?.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of body.rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
    });
  }

  // ---- samples
  const source = document.getElementById("samples-index");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const STATUS = ["ok", "error", "skipped", "unreadable", "truncated"], HEIGHT = 30;
  const list = document.getElementById("list"), detail = document.getElementById("detail");
  const count = document.getElementById("count"), search = document.getElementById("search");
  const deep = document.getElementById("deep");
  const space = list.querySelector(".space");
  const rows = data.rows.map((row, at) => ({
    at, cell: data.cells[row[0]], sample: row[1], status: row[2], score: row[3], asked: row[4], answer: row[5], gold: row[6],
    text: `${row[1]} ${row[4]} ${row[5]} ${row[6]}`.toLowerCase(),
  }));
  let shown = rows, open = null, order = null, found = null;

  const selects = { system: 2, benchmark: 1, model: 3, seed: 4, suite: 0 };
  const boxes = {};
  for (const [name, place] of Object.entries(selects)) {
    const box = document.getElementById(`by-${name}`);
    const values = [...new Set(data.cells.map((cell) => String(cell[place])))];
    box.append(new Option(`all ${box.dataset.plural}`, ""), ...values.map((v) => new Option(v, v)));
    box.hidden = values.length < 2;
    box.addEventListener("change", refresh);
    boxes[name] = box;
  }
  const byStatus = document.getElementById("by-status");
  byStatus.addEventListener("change", refresh);

  const chunks = new Map();
  const chunk = (number) => {
    if (!chunks.has(number)) {
      const packed = atob(document.getElementById(`chunk-${number}`).textContent.replace(/\s+/g, ""));
      const bytes = Uint8Array.from(packed, (char) => char.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      chunks.set(number, new Response(stream).text());
      if (chunks.size > 40) chunks.delete(chunks.keys().next().value);
    }
    return chunks.get(number);
  };

  function refresh() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = Object.entries(selects).filter(([name]) => boxes[name].value !== "");
    shown = rows.filter((row) =>
      wanted.every(([name, place]) => String(row.cell[place]) === boxes[name].value) &&
      (byStatus.value === "" || String(row.status) === byStatus.value) &&
      (found ? found.has(row.at) : words.every((word) => row.text.includes(word))));
    if (order) shown.sort(order);
    space.style.height = `${shown.length * HEIGHT + HEIGHT}px`;
    count.textContent = `${shown.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
    list.scrollTop = 0;
    draw();
  }

  function draw() {
    const first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - 5);
    const last = Math.min(shown.length, first + Math.ceil(list.clientHeight / HEIGHT) + 10);
    const lines = [];
    for (let place = first; place < last; place += 1) {
      const row = shown[place];
      const line = make("div", null, `line ${STATUS[row.status]}${open === row.at ? " open" : ""}`);
      line.style.top = `${(place + 1) * HEIGHT}px`;
      const score = row.score === null || row.score === undefined ? "-" : Number(row.score.toFixed(3));
      for (const text of [score, row.sample, row.cell[2], row.cell[4], row.asked, row.answer, row.gold]) {
        line.append(make("span", text));
      }
      line.title = `${STATUS[row.status]} · ${row.cell[1]} · ${row.cell[3]}`;
      line.addEventListener("click", () => show(row));
      lines.push(line);
    }
    space.replaceChildren(...lines);
  }

  const asText = (thing) => (typeof thing === "string" ? thing : JSON.stringify(thing, null, 2));
  const block = (title, thing) => {
    if (thing === null || thing === undefined || thing === "") return [];
    if (typeof thing === "object" && Object.keys(thing).length === 0) return [];
    return [make("h4", title), make("pre", asText(thing))];
  };
  const fields = (title, thing) => {
    if (!thing || typeof thing !== "object" || Array.isArray(thing)) return block(title, thing);
    return Object.entries(thing).flatMap(([name, item]) => block(`${title}: ${name}`, item));
  };
  // A picture that was sent is shown; none is fetched from anywhere.
  const part = (title, thing) => {
    if (typeof thing !== "string" || !/^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/.test(thing)) return block(title, thing);
    const image = make("img");
    image.src = thing;
    image.alt = title;
    return [make("h4", title), image];
  };
  const call = (one) => {
    const box = make("details");
    const cost = one.list_usd === null ? "price unknown" : `$${one.list_usd.toFixed(6)}`;
    box.append(make("summary",
      `${one.phase} · ${one.role} · ${one.model} · ${one.outcome} · ${one.tokens_in} + ${one.tokens_out} tokens · ${cost}` +
      (one.latency_s === null ? "" : ` · ${one.latency_s.toFixed(2)} s`) +
      (one.ended.includes("length") ? " · cut off at max_tokens" : "")));
    for (const [role, content] of one.sent) box.append(...part(`sent: ${role}`, content));
    for (const [what, content] of one.received) box.append(...part(what, content));
    box.append(...block("error", one.error));
    return box;
  };

  async function show(row) {
    open = row.at;
    draw();
    const own = JSON.parse(await chunk(Math.floor(row.at / data.chunk)))[row.at % data.chunk];
    if (open !== row.at) return;
    const parts = [make("h3", `${row.sample} · ${row.cell[2]} · seed ${row.cell[4]}`),
      make("div", `${row.cell[0]} · ${row.cell[1]} · ${row.cell[3]} · ${STATUS[row.status]}`, "note")];
    parts.push(...block("reason", own.reason), ...block("error", own.error), ...fields("asked", own.inputs),
      ...block("gold", own.gold), ...fields("answer", own.output), ...block("scores", own.scores));
    const others = rows.filter((r) => r.at !== row.at && r.sample === row.sample && r.cell[0] === row.cell[0] &&
      r.cell[1] === row.cell[1] && r.cell[3] === row.cell[3]);
    if (others.length) {
      parts.push(make("h4", "the same sample elsewhere"));
      const box = make("div", null, "bar");
      for (const other of others.slice(0, 60)) {
        const button = make("button", `${other.cell[2]} · seed ${other.cell[4]}: ${other.score ?? "-"}`);
        button.addEventListener("click", () => show(other));
        box.append(button);
      }
      parts.push(box);
    }
    if (own.calls === null) parts.push(make("p", "Prompts are left out of this report; lm_history.jsonl has them.", "note"));
    else if (own.calls.length) parts.push(make("h4", `${own.calls.length} model calls`), ...own.calls.map(call));
    const more = make("details");
    more.append(make("summary", "scorer's details and facts of the case"), ...block("details", own.details),
      ...block("facts", own.meta), ...block("cluster", own.cluster));
    parts.push(more);
    detail.replaceChildren(...parts);
    detail.scrollTop = 0;
  }

  let run = 0;
  async function searchAll() {
    const mine = (run += 1);
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = null;
    if (deep.checked && words.length) {
      const hits = new Set();
      for (let number = 0; number * data.chunk < rows.length; number += 1) {
        const items = JSON.parse(await chunk(number));
        if (mine !== run) return;
        items.forEach((item, place) => {
          const at = number * data.chunk + place;
          const text = `${rows[at].text} ${JSON.stringify(item).toLowerCase()}`;
          if (words.every((word) => text.includes(word))) hits.add(at);
        });
        count.textContent = `searched ${Math.min(rows.length, (number + 1) * data.chunk)} of ${rows.length}`;
      }
      found = hits;
    }
    refresh();
  }
  let timer = 0;
  const later = () => { clearTimeout(timer); timer = setTimeout(searchAll, 120); };
  search.addEventListener("input", later);
  deep.addEventListener("change", later);

  const keys = { score: (r) => r.score, sample: (r) => r.sample, system: (r) => r.cell[2], seed: (r) => r.cell[4] };
  for (const heading of list.querySelectorAll(".head span[data-key]")) {
    let sign = -1;
    heading.addEventListener("click", () => {
      sign = -sign;
      const key = keys[heading.dataset.key];
      order = (a, b) => {
        const x = key(a), y = key(b);
        if (x === null || x === undefined) return 1;
        if (y === null || y === undefined) return -1;
        return sign * (typeof x === "number" ? x - y : String(x).localeCompare(String(y)));
      };
      refresh();
    });
  }
  list.addEventListener("scroll", () => requestAnimationFrame(draw));
  addEventListener("resize", draw);

  // A link such as report.html#sample=q12 opens the sample; #q=text searches.
  function follow() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    if (wanted.has("q")) { search.value = wanted.get("q"); deep.checked = wanted.has("deep"); searchAll(); }
    const row = rows.find((r) => r.sample === wanted.get("sample"));
    if (row) { show(row); document.getElementById("samples").scrollIntoView(); }
  }
  refresh();
  follow();
  addEventListener("hashchange", follow);
  document.body.dataset.ready = "yes";
})();
