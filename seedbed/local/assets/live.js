// The page of `seedbed ui`: asks the server for data every few seconds while somebody looks.
import {bar, clock, count, curve, dollars, make, percent, state, table, tile, when} from "./views.js";

const LIST_MS = 5000, RUN_MS = 2000, AGAIN_MS = 4000;
const main = document.getElementById("main"), banner = document.getElementById("banner");
const cellsAsked = {state: "", find: "", offset: 0, open: false};
let timer = 0, shownFor = "";

async function ask(name, query = {}) {
  const known = localStorage.getItem("prefect-password");
  const reply = await fetch(`data/${name}?${new URLSearchParams(query)}`,
    {headers: known ? {authorization: `Basic ${known}`} : {}, cache: "no-store"});
  const told = await reply.json();
  if (!reply.ok) throw Object.assign(new Error(told.error || reply.statusText), {told: true});
  return told;
}

function say(text, bad = false) {
  banner.hidden = !text;
  banner.textContent = text || "";
  banner.className = bad ? "bad" : "";
}

// The address of a run: #root/sweep for the newest, #root/sweep/run for that one.
function place() {
  const [root, sweep, run] = location.hash.slice(1).split("/").map(decodeURIComponent);
  return root && sweep ? {root, sweep, ...(run ? {run} : {})} : null;
}

const address = (root, sweep, run) => `#${[root, sweep, ...(run ? [run] : [])].map(encodeURIComponent).join("/")}`;

async function look() {
  clearTimeout(timer);
  const asked = place(), key = location.hash;
  let pause = asked ? RUN_MS : LIST_MS;
  try {
    if (asked) showRun(asked, await ask("run", asked));
    else showList((await ask("sweeps")).sweeps);
  } catch (error) {
    pause = AGAIN_MS;
    say(error.told ? error.message : "The server does not answer; trying again. `seedbed ui` starts it.", true);
    document.body.dataset.status = "unknown";
  }
  document.body.dataset.ready = "yes";
  // Somebody may have gone elsewhere meanwhile.
  if (key === location.hash && !document.hidden) timer = setTimeout(look, pause);
}

function showList(sweeps) {
  document.title = "Seedbed";
  document.getElementById("where").textContent = "";
  document.body.dataset.status = "list";
  say("");
  const rows = sweeps.map(one => ({
    open: () => { location.hash = address(one.root, one.sweep); },
    cells: [
      make("td", {}, make("a", {href: address(one.root, one.sweep)}, one.sweep)),
      make("td", {}, state(one.status)),
      make("td", {}, one.counts ? bar(one.counts, one.n_cells, true) : one.why || ""),
      one.counts ? `${count(one.counts.done + one.counts.cached)} of ${count(one.n_cells)}` : "-",
      one.counts ? count(one.counts.failed) : "-", one.counts ? dollars(one.spent_usd) : "-",
      one.status === "running" ? clock(one.left_s) : "", when(one.began), one.folder,
    ],
  }));
  main.replaceChildren(make("h2", {}, "Sweeps"), rows.length
    ? table(["sweep", "state", "", ">cells", ">failed", ">spent", ">time left", "began", "folder"], rows)
    : make("p", {class: "note"}, "No sweep yet: `seedbed demo` runs one. Results elsewhere: `seedbed ui --out DIR`."));
}

const ENDED = {
  completed: "", stopped: "No process is at work on this run: it was stopped or killed. Run the same command again to go on; " +
    "what is paid for is kept.",
  partial: "Some cells have no result; the report names them.", failed: "The sweep failed; the report says why.",
  interrupted: "The sweep was stopped. Run the same command again to go on.",
  budget_reached: "The budget is used up; what is paid for is kept. Raise it and run again.",
  unreachable: "A model cannot be used as it is set up; the report says why.",
};

function showRun(asked, data) {
  const {counts, calls} = data, ready = counts.done + counts.cached;
  document.title = `${percent(data.share)} · ${data.sweep}`;
  document.body.dataset.status = data.status;
  document.getElementById("where").replaceChildren(data.sweep, " · ", state(data.status), ` · ${data.folder}`);
  const prefect = document.getElementById("prefect");
  prefect.href = data.flow_run ? `/runs/flow-run/${encodeURIComponent(data.flow_run)}` : "/dashboard";
  say([ENDED[data.status], ...(data.status === "starting" ? data.troubles : [])].filter(Boolean).join(" "),
    Boolean(ENDED[data.status]));
  const key = JSON.stringify(asked);
  if (shownFor !== key) {
    shownFor = key;
    Object.assign(cellsAsked, {state: "", find: "", offset: 0, open: false});
    main.replaceChildren(...["progress", "two", "results", "samples", "cells", "runs"].map(id => make("section", {id})));
  }
  put("progress", bar(counts, data.n_cells),
    make("div", {class: "legend"}, ...["done", "cached", "running", "failed", "waiting"].map(name =>
      make("span", {}, make("i", {class: name}), make("b", {}, count(counts[name])),
        data.status === "stopped" && name === "running" ? " begun" : ` ${name}`))),
    make("div", {class: "tiles"},
      tile(percent(data.share), `${count(ready)} of ${count(data.n_cells)} cells`),
      data.status === "running" && data.share === 1 ? tile("…", "making the report")
        : tile(data.status === "running" ? clock(data.left_s) : "-", "left, about"),
      tile(clock(data.elapsed_s), "since it began"),
      tile(data.samples === null ? "?" : count(data.samples[0]),
        data.samples === null ? "samples" : `of ${count(data.samples[1])} samples`),
      tile(count(calls.paid), `calls paid, ${count(calls.reused)} reused`),
      tile(data.status === "running" ? calls.per_s.toFixed(1) : "-", "calls a second"),
      tile(count(calls.tokens), "tokens"),
      tile(dollars(calls.spent_usd), data.max_usd === null ? "spent, no cap" : `spent of $${data.max_usd}`),
      tile(count(Object.values(calls.failed).reduce((sum, one) => sum + one, 0)), "failed attempts")),
    ...(data.waits.length ? [make("h2", {}, "Waiting for batches"),
      make("ul", {class: "waits"}, ...data.waits.map(line => make("li", {}, line)))] : []));
  put("two", make("div", {class: "two"},
    make("div", {}, make("h2", {}, "Spent over time"), curve(data),
      make("p", {class: "note"}, "the line: dollars summed up; bars: calls, those that failed in red",
        calls.at_risk_usd ? `; up to ${dollars(calls.at_risk_usd)} more may have been billed for calls whose end was not seen` : "")),
    make("div", {}, make("h2", {}, data.status === "stopped" ? "Begun and not done" : "At work, the slowest first"), running(data)),
    make("div", {}, make("h2", {}, "Errors"), errors(data)),
    make("div", {}, make("h2", {}, "Results"), results(data))));
  put("samples", make("h2", {}, "Samples as they end"), latest(asked, calls.latest));
  if (!cellsAsked.open) put("cells", make("h2", {}, "Cells"),
    make("button", {on: {click: () => { cellsAsked.open = true; showCells(asked); }}}, `show all ${count(data.n_cells)}`));
  put("runs", make("h2", {}, "Runs"), make("p", {}, ...data.runs.flatMap(run =>
    [make("a", {href: address(asked.root, asked.sweep, run)}, run), run === data.run ? " (this)  " : "  "])));
}

function put(id, ...children) {
  document.getElementById(id).replaceChildren(...children);
}

function running(data) {
  const rows = data.running.map(cell => ({cells: [
    make("td", {class: "long"}, cell.title), percent(cell.share), cell.phase,
    cell.samples === null ? `${count(cell.answered)} asked` : `${count(cell.answered)} of ${count(cell.samples)}`]}));
  return rows.length ? table(["cell", ">done", "phase", ">samples"], rows) : make("p", {class: "note"}, "none");
}

function errors(data) {
  const rows = data.failures.map(one => ({cells: [
    make("td", {class: "bad"}, one.kind), one.model, count(one.count), when(one.last),
    make("td", {class: "long"}, one.said || (one.kind === "lost" ? "in flight when its process ended; may have been billed" : "it said nothing"))]}));
  return rows.length ? table(["kind", "model", ">attempts", "last", "said of one"], rows)
    : make("p", {class: "note"}, "no attempt has failed");
}

function results({report, n_cells}) {
  if (!report.link) return make("p", {class: "note"}, report.making ? "the report of the first cells is being made ..."
    : "the report of finished cells comes when some are finished");
  const named = report.final ? "the report" : `the report so far, of ${count(report.cells)} of ${count(n_cells)} cells`;
  return make("div", {}, make("p", {}, make("a", {id: "report", href: report.link, target: "_blank", rel: "noopener"}, named),
    report.making ? " (a newer one is being made)" : ""),
    make("ul", {class: "verdicts"}, ...(report.verdicts || []).map(line => make("li", {}, line))));
}

function latest(asked, calls) {
  const rows = calls.map(call => ({
    open: () => showCall(asked, call.id),
    cells: [when(call.ended_at), make("td", {class: "long"}, call.cell), call.sample || "-", `${call.phase} · ${call.role}`,
      make("td", {class: call.error_class || call.outcome === "lost" ? "bad" : null}, call.error_class || call.outcome),
      call.tokens_in === null ? "-" : count(call.tokens_in + call.tokens_out),
      call.outcome === "reused" ? "reused" : dollars(call.spent_usd ?? call.at_risk_usd, 6),
      call.latency_s === null ? "-" : `${call.latency_s.toFixed(2)} s`],
  }));
  return rows.length
    ? table(["ended", "cell", "sample", "phase", "outcome", ">tokens", ">dollars", ">took"], rows)
    : make("p", {class: "note"}, "no call has ended yet");
}

async function showCall(asked, id) {
  const dialog = make("dialog", {});
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  const close = make("button", {on: {click: () => dialog.close()}}, "close");
  dialog.append(close);
  dialog.showModal();
  try {
    const call = await ask("call", {...asked, id});
    const text = value => typeof value === "string" ? value : JSON.stringify(value, null, 1);
    const parts = [...call.received, ...call.sent].flatMap(([name, value]) =>
      [make("h3", {}, name), make("pre", {}, text(value))]);
    if (call.error) parts.push(make("h3", {}, call.error_class), make("pre", {}, call.error));
    dialog.append(make("p", {class: "note"}, `sample ${call.sample}, attempt ${call.number}, ${call.model}`),
      ...(parts.length ? parts : [make("p", {}, "bodies are not kept (store_bodies: false)")]));
  } catch (error) {
    dialog.append(make("p", {}, error.message));
  }
}

async function showCells(asked) {
  const found = await ask("cells", {...asked, state: cellsAsked.state, find: cellsAsked.find, offset: cellsAsked.offset});
  const change = values => { Object.assign(cellsAsked, {offset: 0}, values); showCells(asked); };
  const choice = make("select", {"aria-label": "state", on: {change: event => change({state: event.target.value})}},
    ...["", "done", "cached", "running", "failed", "waiting"].map(name =>
      make("option", {value: name, selected: name === cellsAsked.state ? "" : null}, name || "all states")));
  const find = make("input", {type: "search", placeholder: "find in titles", value: cellsAsked.find,
    on: {change: event => change({find: event.target.value})}});
  const rows = found.cells.map(cell => ({cells: [make("td", {class: "long"}, cell.title), state(cell.state),
    percent(cell.share), cell.phases.join(", ") || "-"]}));
  const page = (label, offset, able) => able ? make("button", {on: {click: () => change({offset})}}, label) : null;
  const end = found.offset + found.cells.length;
  put("cells", make("h2", {}, "Cells"), make("div", {class: "bar"}, choice, find,
    make("span", {class: "soft"}, found.total ? `${count(found.offset + 1)} to ${count(end)} of ${count(found.total)}` : "none"),
    page("before", Math.max(0, found.offset - 100), found.offset > 0), page("next", end, end < found.total),
    make("button", {on: {click: () => showCells(asked)}}, "look again")),
    table(["cell", "state", ">done", "phases done"], rows));
}

addEventListener("hashchange", look);
document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
look();
