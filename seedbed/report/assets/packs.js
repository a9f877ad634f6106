// ---- packs: compressed JSON inside the page, or in style sheets beside it (a page on a disk may fetch nothing)
const inflate = async (packed) => {
  const raw = atob(packed.replace(/\s+/g, ""));
  const bytes = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at += 1) bytes[at] = raw.charCodeAt(at);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
};

// Style sheets set the same property, so that one is read before the next is loaded.
let turn = Promise.resolve();
const beside = (number) => {
  const loaded = turn.then(() => new Promise((done, failed) => {
    const link = make("link"), slot = byId("pack");
    link.rel = "stylesheet";
    link.href = `samples/${number}.css`;
    link.onerror = () => { link.remove(); failed(new Error(`samples/${number}.css is not beside this page.`)); };
    link.onload = () => {
      const style = getComputedStyle(slot), pieces = [];
      const n = parseInt(style.getPropertyValue("--n"), 10);
      for (let at = 0; at < n; at += 1) pieces.push(style.getPropertyValue(`--d${at}`).trim().slice(1, -1));
      link.remove();
      done(pieces.join(""));
    };
    document.head.append(link);
  }));
  turn = loaded.catch(() => null);
  return loaded;
};

const KEPT = 12, kept = new Map();
const pack = (number) => {
  if (!kept.has(number)) {
    const inside = byId(`pack-${number}`);
    const text = inside ? Promise.resolve(inside.textContent) : beside(number);
    kept.set(number, text.then(inflate).then(JSON.parse));
    kept.get(number).catch(() => kept.delete(number));
    if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  }
  return kept.get(number);
};

// The entry of a sample: `runs` say at which sample each pack begins.
const runOf = (runs, at) => {
  let low = 0, high = runs.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (runs[middle][0] <= at) low = middle; else high = middle - 1;
  }
  return runs[low];
};
const entry = async (runs, at) => {
  const [first, number] = runOf(runs, at);
  return (await pack(number))[at - first];
};
