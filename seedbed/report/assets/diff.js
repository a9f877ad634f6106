// ---- two texts, word by word: what only the first has, what only the second has
// A word has the space behind it: spaces alone are in all texts, and would tear apart what belongs together.
const WORDS = /^\s+|(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{M}\p{N}_]+|[^\s])\s*/gu;
const MOST_WORDS = 1500;
const words = (text) => text.match(WORDS) ?? [];

function difference(before, after) {
  const a = words(before), b = words(after), equal = (i, j) => a[i].trim() === b[j].trim();
  if (a.length > MOST_WORDS || b.length > MOST_WORDS) return null;
  // Lengths of the longest common part of what is left of both.
  const wide = b.length + 1, common = new Uint16Array((a.length + 1) * wide);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i * wide + j] = equal(i, j) ? common[(i + 1) * wide + j + 1] + 1
        : Math.max(common[(i + 1) * wide + j], common[i * wide + j + 1]);
    }
  }
  const parts = [];
  const put = (kind, word) => {
    const last = parts[parts.length - 1];
    if (last && last[0] === kind) last[1] += word; else parts.push([kind, word]);
  };
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && equal(i, j)) { put("same", b[j]); i += 1; j += 1; }
    else if (j >= b.length || (i < a.length && common[(i + 1) * wide + j] >= common[i * wide + j + 1])) { put("cut", a[i]); i += 1; }
    else { put("put", b[j]); j += 1; }
  }
  return parts;
}

const marked = (before, after) => {
  const parts = difference(before, after), box = make("pre");
  if (!parts) { box.textContent = after; return box; }
  const tags = { same: "span", cut: "del", put: "ins" };
  box.append(...parts.map(([kind, text]) => make(tags[kind], text)));
  return box;
};
