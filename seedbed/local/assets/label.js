"use strict";
(() => {
  const by = (id) => document.getElementById(id);
  // The address forgets the token at once; a reload of this tab still has it.
  if (location.hash.length > 1) {
    sessionStorage.setItem("seedbed-label", location.hash.slice(1));
    history.replaceState(null, "", location.pathname);
  }
  const token = sessionStorage.getItem("seedbed-label") || "";
  let item = null;
  let busy = true;

  const make = (tag, text, name) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (name) made.className = name;
    return made;
  };
  const field = ([name, text]) => {
    const box = make("div", undefined, "field");
    box.append(make("h2", name), make("p", text));
    return box;
  };
  const tell = (text) => { by("told").textContent = text; };

  const show = (next) => {
    item = next;
    by("metric").textContent = next.metric;
    by("rater").textContent = next.rater;
    by("count").textContent = `${next.done} labelled of ${next.total}`;
    by("bar").max = Math.max(1, next.total);
    by("bar").value = next.done;
    const over = next.at >= next.total;
    tell(over ? "That was the last one. The report knows these labels once seedbed report has run." : "");
    by("question").textContent = over ? "" : next.question;
    const asked = over ? [] : next.asked.map(field);
    if (!over && next.reference !== null) asked.push(field(["right answer", next.reference]));
    by("case").replaceChildren(...asked);
    const many = !over && next.answers.length > 1;
    by("answers").replaceChildren(...(over ? [] : next.answers).map((fields, place) => {
      const box = make("article", undefined, "answer");
      box.append(make("h3", many ? ["first answer", "second answer"][place] : "to be judged"), ...fields.map(field));
      return box;
    }));
    const given = over || !next.given ? undefined : next.given.mark;
    const words = over ? [] : [...next.marks.map((word, mark) => [String(mark + 1), word, mark]), ["0", "cannot tell", null]];
    by("marks").replaceChildren(...words.map(([key, word, mark]) => {
      const button = make("button");
      button.type = "button";
      button.tabIndex = -1;
      button.append(make("kbd", key), word);
      button.setAttribute("aria-pressed", String(given === mark));
      button.addEventListener("click", () => give(mark));
      return button;
    }));
    document.querySelector("main").scrollTop = 0;
    document.body.dataset.at = next.at;
    document.body.dataset.done = next.done;
    document.body.dataset.ready = "yes";
    busy = false;
  };

  const ask = async (path, body) => {
    busy = true;
    try {
      const reply = await fetch(path, {
        method: body ? "POST" : "GET",
        headers: {"X-Seedbed-Token": token, ...(body ? {"Content-Type": "application/json"} : {})},
        body: body ? JSON.stringify(body) : undefined,
      });
      if (!reply.ok) throw new Error((await reply.text()).trim());
      show(await reply.json());
    } catch (error) {
      // Nothing is lost that was counted above; this mark was not kept.
      tell(error instanceof TypeError ? "The server is not there any more: run seedbed label again." : error.message);
      busy = false;
    }
  };
  const give = (mark) => {
    if (!busy && item && item.at < item.total) ask("/label", {at: item.at, mark});
  };

  document.addEventListener("keydown", (event) => {
    // A key that is held down must not mark what nobody has read.
    if (busy || !item || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    const mark = "123456789".indexOf(event.key);
    if (event.key.length === 1 && mark >= 0 && item.marks && mark < item.marks.length) give(mark);
    else if (event.key === "0") give(null);
    else if (event.key === "ArrowLeft" && item.at > 0) ask(`/item?at=${item.at - 1}`);
    else if (event.key === "ArrowRight" && item.at < item.total && item.given) ask(`/item?at=${item.at + 1}`);
    else if (event.key === " ") document.querySelector("main").scrollBy({top: innerHeight * (event.shiftKey ? -0.6 : 0.6)});
    else return;
    event.preventDefault();
  });
  ask("/item");
})();
