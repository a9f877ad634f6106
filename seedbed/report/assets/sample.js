// ---- one sample: all systems side by side, answers word by word, every call
// Nested things as an outline: texts stay as they were said.
const outline = (thing, indent) => {
  const pad = "  ".repeat(indent);
  if (thing === null || typeof thing !== "object") {
    const text = String(thing ?? "-");
    return text.includes("\n") ? `\n${text.split("\n").map((line) => pad + line).join("\n")}` : text;
  }
  const entries = Array.isArray(thing) ? thing.map((item) => ["-", item]) : Object.entries(thing).map(([name, item]) => [`${name}:`, item]);
  if (!entries.length) return "-";
  const lines = entries.map(([name, item]) => {
    const nested = item !== null && typeof item === "object", inner = outline(item, indent + 1);
    return nested && name === "-" ? `${pad}- ${inner.trimStart()}` : `${pad}${name}${nested && !inner.startsWith("-") ? "\n" : " "}${inner}`;
  });
  return lines.join("\n");
};
const asText = (thing) => (typeof thing === "string" ? thing : outline(thing, 0));
const empty = (thing) => thing === null || thing === undefined || thing === "" ||
  (typeof thing === "object" && Object.keys(thing).length === 0);
const block = (title, thing) => (empty(thing) ? [] : [make("h4", title), make("pre", asText(thing))]);
// Long things each under a heading of its own; names and numbers together in a line.
const fields = (title, thing) => {
  if (!thing || typeof thing !== "object" || Array.isArray(thing)) return block(title, thing);
  const entries = Object.entries(thing).filter(([, item]) => !empty(item));
  const short = (item) => typeof item !== "object" && /^[!-~]{1,60}$/.test(String(item));
  const line = entries.filter(([, item]) => short(item)).map(([name, item]) => `${name}: ${item}`).join(" · ");
  return [...entries.filter(([, item]) => !short(item)).flatMap(([name, item]) => block(`${title}: ${name}`, item)),
    ...(line ? [make("p", line, "note")] : [])];
};
const folded = (title, nodes) => {
  if (!nodes.length) return [];
  const box = make("details");
  box.append(make("summary", title), ...nodes);
  return [box];
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
  const cost = one.list_usd === null ? "price unknown" : `$${one.list_usd.toFixed(6)}`;
  const told = `${one.phase} · ${one.role} · ${one.model} · ${one.outcome} · ${one.tokens_in} + ${one.tokens_out} tokens · ${cost}` +
    (one.latency_s === null ? "" : ` · ${one.latency_s.toFixed(2)} s`) +
    (one.ended.includes("length") ? " · cut off at max_tokens" : "");
  return folded(told, [...one.sent.flatMap(([role, content]) => part(`sent: ${role}`, content)),
    ...one.received.flatMap(([what, content]) => part(what, content)), ...block("error", one.error)]);
};

// The text that answers: a field of that name, else the longest text there is.
const answerOf = (output) => {
  if (typeof output === "string") return [null, output];
  if (!output || typeof output !== "object") return [null, ""];
  const texts = Object.entries(output).filter(([, value]) => typeof value === "string");
  const named = texts.find(([name]) => /^(answer|response|output|prediction|pred|text|reply)$/i.test(name));
  if (named) return named;
  // A dialogue: what was said in its turns.
  const said = Object.values(output).filter(Array.isArray).flatMap((turns) => turns.flatMap((turn) =>
    Object.entries(turn ?? {}).filter(([name, value]) => /assistant|answer|response|reply/i.test(name) && typeof value === "string")
      .map(([, value]) => value)));
  if (said.length) return [null, said.map((text, at) => `${at + 1}. ${text}`).join("\n\n")];
  const [longest] = texts.sort(([, a], [, b]) => b.length - a.length);
  return longest && /\s|.{40}/.test(longest[1]) ? longest : [null, empty(output) ? "" : asText(output)];
};
// Where a scorer gave its reasons: beside the score they belong to. One for each statement or context that was judged, or
// for each vote, stands with it.
const reasonsOf = (details, name) => {
  const result = details?.results?.[name], inner = result?.details;
  const own = result?.reason || details?.[`${name}_reason`] || details?.[name]?.reason;
  if (typeof own === "string" && own) return [own];
  const votes = details?.[`${name}_votes`];
  if (Array.isArray(votes)) return votes.map(([mark, said]) => `${mark}: ${said}`);
  if (!Array.isArray(inner?.reasons)) return [];
  return inner.reasons.map((said, at) => {
    const judged = inner.statements?.[at], holds = judged?.holds ?? inner.relevant?.[at];
    const sign = holds === true ? "✓ " : holds === false ? "✗ " : "";
    return `${sign}${judged?.text ? `${judged.text}: ` : inner.relevant ? `context ${at + 1}: ` : ""}${said}`;
  });
};
const scoresOf = (table, one) => {
  const list = make("dl", null, "scores");
  for (const [name, value] of Object.entries(one.scores)) {
    const metric = table.metrics.find((own) => own.name === name);
    const shown = value === null ? "-" : String(Number(value.toFixed(metric ? metric.digits : 4)));
    const said = make("dd", shown), reasons = reasonsOf(one.details, name);
    if (metric?.range && value !== null) said.style.background = shade(metric, value, ...metric.range);
    said.append(...reasons.map((reason) => make("small", ` ${reason}`, reasons.length > 1 ? "row" : "")));
    list.append(make("dt", metric ? metric.label : name), said);
  }
  return list;
};

const column = (table, label, seed, one, reference) => {
  const box = make("div", null, "system"), head = make("h3", label);
  head.append(make("small", ` seed ${seed}${label === table.baseline ? " · baseline" : ""}`));
  box.append(head);
  if (!one) { box.append(make("p", "no row of this sample", "note")); return box; }
  const [name, text] = answerOf(one.output);
  box.append(...block("reason", one.reason), ...block("error", one.error));
  if (text) {
    const other = reference && reference.label !== label ? reference : null;
    box.append(make("h4", other ? `answer, against ${other.name}` : "answer"), other ? marked(other.text, text) : make("pre", text));
  }
  box.append(make("h4", "scores"), scoresOf(table, one), ...block("the judge's explanation", one.details?.explanation));
  const rest = one.output && typeof one.output === "object" && !Array.isArray(one.output)
    ? Object.fromEntries(Object.entries(one.output).filter(([key]) => key !== name)) : {};
  box.append(...folded("all that the system returned", fields("returned", rest)));
  if (one.calls === null) box.append(make("p", "Prompts are left out of this report; lm_history.jsonl has them.", "note"));
  else if (one.calls.length) {
    const tokens = one.calls.reduce((sum, own) => sum + own.tokens_in + own.tokens_out, 0);
    const priced = one.calls.every((own) => own.list_usd !== null);
    const usd = priced ? `$${one.calls.reduce((sum, own) => sum + own.list_usd, 0).toFixed(6)}` : "price unknown";
    const times = one.calls.map((own) => own.latency_s).filter((own) => own !== null);
    const time = times.length ? ` · ${times.reduce((sum, own) => sum + own, 0).toFixed(2)} s` : "";
    box.append(make("h4", `${one.calls.length} model call${one.calls.length === 1 ? "" : "s"} · ${count(tokens)} tokens · ${usd}${time}`), ...one.calls.flatMap(call));
  }
  box.append(...folded("scorer's details", block("details", one.details)));
  return box;
};

const view = { at: null, seed: null, reference: "" };
// The seed that a reader has chosen; else the first under which the two that are compared came out differently.
const seedOf = (table, own, seeds) => {
  if (seeds.includes(view.seed)) return view.seed;
  const [a, b] = [grid.chosen.system, grid.chosen.against].map((label) => table.systems.find((one) => one.label === label));
  const result = (system, seed) => {
    const one = own.answers[system.label][system.seeds.indexOf(seed)];
    return one ? `${one.scores[grid.chosen.metric]} ${one.error ?? ""}` : "";
  };
  return (a && b && seeds.find((seed) => result(a, seed) !== result(b, seed))) ?? seeds[0];
};
async function show(table, at) {
  const box = byId("sample"), mine = (view.at = at);
  box.hidden = false;
  document.body.classList.add("behind");
  let own;
  try { own = await entry(table.details, at); } catch (error) {
    box.replaceChildren(closing(), make("p", error.message));
    return;
  }
  if (view.at !== mine || box.hidden) return;
  const seeds = unique(table.systems.flatMap((system) => system.seeds));
  const seed = seedOf(table, own, seeds);
  const bar = make("div", null, "bar");
  bar.append(closing(), step("← k", -1), step("j →", 1), make("h2", table.ids[at]),
    make("span", `${table.title} · ${table.benchmark} · ${table.model}`, "note"));
  const again = () => show(table, at);
  bar.append(chooser("seed", seeds.map((seed) => [`seed ${seed}`, String(seed)]), String(seed),
    (value) => { view.seed = Number(value); again(); }));
  const labels = table.systems.map((system) => system.label);
  // Where no text is right, answers are held against the baseline's.
  const gold = goldOf(own), first = gold ? "gold" : table.baseline ? `=${table.baseline}` : "none";
  const chosen = view.reference || grid.chosen.against || first, wanted = chosen === "gold" ? first : chosen;
  bar.append(chooser("compare answers with", [["nothing", "none"], ...(gold ? [["the gold", "gold"]] : []), ...labels.map((label) => [label, `=${label}`])],
    wanted === "none" || wanted === "gold" || wanted.startsWith("=") ? wanted : `=${wanted}`,
    (value) => { view.reference = value; again(); }));
  const link = make("a", "link to this sample");
  link.href = sampleLink(table, at);
  bar.append(link);
  const columns = make("div", null, "systems");
  const order = [...table.systems].sort((a, b) => place2(a.label) - place2(b.label));
  const reference = referenceOf(own, table, wanted, seed);
  columns.append(...order.map((system) => {
    const its = system.seeds.includes(seed) ? seed : system.seeds[0];
    return column(table, system.label, its, own.answers[system.label][system.seeds.indexOf(its)], reference);
  }));
  const about = make("div", null, "about"), left = make("div"), right = make("div");
  left.append(...fields("asked", own.asked));
  right.append(...block("gold", own.gold), ...folded("facts of the case", [...block("facts", own.meta), ...block("cluster", own.cluster)]));
  about.append(left, right);
  box.replaceChildren(bar, about, columns);
  box.scrollTop = 0;
  box.dataset.shown = table.ids[at];
  if (!box.contains(document.activeElement)) box.focus({ preventScroll: true });
}
// Those chosen in the grid stand first.
const place2 = (label) => (label === grid.chosen.against ? 0 : label === grid.chosen.system ? 1 : 2);
const goldOf = (own) => {
  const gold = Array.isArray(own.gold) ? own.gold[0] : own.gold;
  return typeof gold === "string" ? gold : "";
};
const referenceOf = (own, table, wanted, seed) => {
  if (wanted === "none") return null;
  if (wanted === "gold") return { name: "the gold", text: goldOf(own), label: null };
  const label = wanted.replace(/^=/, ""), system = table.systems.find((one) => one.label === label);
  if (!system) return null;
  const at = Math.max(0, system.seeds.indexOf(seed)), one = own.answers[label][at];
  return one ? { name: label, text: answerOf(one.output)[1], label } : null;
};
const chooser = (title, options, value, chosen) => {
  const label = make("label", `${title} `), box = make("select");
  fill(box, options, value);
  box.addEventListener("change", () => chosen(box.value));
  label.append(box);
  return label;
};
const closing = () => {
  const button = make("button", "close (Esc)");
  button.addEventListener("click", close);
  return button;
};
const step = (title, by) => {
  const button = make("button", title);
  button.addEventListener("click", () => walk(by));
  return button;
};

function close() {
  byId("sample").hidden = true;
  delete byId("sample").dataset.shown;
  document.body.classList.remove("behind");
  view.at = null;
  remember();
  byId("grid").focus({ preventScroll: true });
}
function walk(by) {
  const at = grid.at + by;
  if (at < 0 || at >= grid.rows.length) return;
  grid.at = at;
  const box = byId("grid"), top = at * HEIGHT, head = byId("heads").offsetHeight;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + HEIGHT > box.scrollTop + box.clientHeight - head) box.scrollTop = top + HEIGHT - box.clientHeight + head;
  draw();
  if (!byId("sample").hidden) go(sampleLink(grid.table, grid.rows[at]));
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const open = !byId("sample").hidden;
  if (event.key === "Escape") { if (open) close(); else if (typing(event)) event.target.blur(); return; }
  if (typing(event)) return;
  const inGrid = byId("grid").contains(event.target);
  if (event.key === "/") { event.preventDefault(); if (open) close(); byId("samples").scrollIntoView(); byId("search").focus(); }
  else if (event.key === "j" || (event.key === "ArrowDown" && inGrid)) { event.preventDefault(); walk(1); }
  else if (event.key === "k" || (event.key === "ArrowUp" && inGrid)) { event.preventDefault(); walk(-1); }
  else if (event.key === "Enter" && !open && (inGrid || event.target === document.body) && grid.rows.length) {
    event.preventDefault();
    go(sampleLink(grid.table, grid.rows[grid.at]));
  }
});

// A link such as #sample=q12&table=... opens a sample; #table=...&system=...&metric=... chooses; #q=text searches.
function follow() {
  const wanted = place(), known = [...wanted.keys()];
  if (wanted.has("sample")) {
    const named = grid.tables.filter((table) => !wanted.get("table") || nameOf(table) === wanted.get("table"));
    const table = named.find((own) => own.ids.includes(wanted.get("sample")));
    if (!table) return;
    if (table !== grid.table) { grid.chosen = { table: nameOf(table) }; grid.hits = null; settle(); refresh(); }
    const at = table.ids.indexOf(wanted.get("sample")), row = grid.rows.indexOf(at);
    if (row >= 0) { grid.at = row; draw(); }
    if (!byId("sample").dataset.shown) byId("samples").scrollIntoView();
    show(table, at);
    return;
  }
  if (!byId("sample").hidden) { byId("sample").hidden = true; document.body.classList.remove("behind"); }
  if (known.some((name) => name === "differ" || name === "deep" || CHOICES.includes(name) || name.startsWith("fact."))) {
    grid.chosen = Object.fromEntries(wanted.entries());
    settle();
    byId("samples").scrollIntoView();
    search();
  }
}

async function begin() {
  const data = JSON.parse(await inflate(byId("samples-index").textContent));
  grid.tables = data.tables;
  grid.chosen = { ...data.view };
  if (!grid.tables.length) { byId("count").textContent = "no sample has been scored"; document.body.dataset.ready = "yes"; return; }
  for (const name of ["table", "metric", "system", "against", "state", "kind"]) {
    byId(`by-${name}`).addEventListener("change", (event) => choose(name, event.target.value));
  }
  for (const name of ["differ", "deep"]) byId(name).addEventListener("change", (event) => choose(name, event.target.checked ? "1" : ""));
  let timer = 0;
  for (const [id, name] of [["search", "q"], ["from", "from"], ["to", "to"]]) {
    byId(id).addEventListener("input", (event) => { clearTimeout(timer); timer = setTimeout(() => choose(name, event.target.value), 150); });
  }
  byId("clear").addEventListener("click", () => { grid.chosen = { table: grid.chosen.table, metric: grid.chosen.metric }; settle(); remember(); search(); });
  byId("grid").addEventListener("scroll", () => requestAnimationFrame(draw));
  addEventListener("resize", draw);
  addEventListener("hashchange", follow);
  settle();
  refresh();
  follow();
  document.body.dataset.ready = "yes";
}
begin();
