"use strict";
// A row or button that has `data-saved` belongs to saved values; one that has `data-place` comes from a line.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const rows = all(".row[tabindex]");
  const names = (element) => (element.dataset.saved || "").split(" ").filter(Boolean);
  let chosen = null;
  for (const pane of all(".code")) {  // one row of each is reached by Tab, the others by arrows
    const first = pane.querySelector(".row[tabindex]");
    if (first) first.tabIndex = 0;
  }

  const light = (element) => {
    const part = element && element.closest("section");
    const wanted = new Set(element ? names(element) : []);
    const place = element ? element.dataset.place || "" : "";
    for (const other of all("[data-saved], [data-place]")) {
      const isLit = other.closest("section") === part && names(other).some((name) => wanted.has(name));
      other.classList.toggle("lit", isLit);
      other.classList.toggle("near", Boolean(place) && other.dataset.place === place);
      if (other.tagName === "BUTTON") other.setAttribute("aria-pressed", String(isLit));
    }
  };

  const unfold = (fold, isOpen) => {
    fold.setAttribute("aria-expanded", String(isOpen));
    fold.nextElementSibling.hidden = !isOpen;
  };
  const show = (row) => {
    const more = row.closest(".more");
    if (more) unfold(more.previousElementSibling, true);
    const pane = row.closest(".code");
    if (pane) pane.scrollTop = row.offsetTop - pane.offsetTop - pane.clientHeight / 3;
  };

  const choose = (element) => {
    if (element.matches(".fold")) return unfold(element, element.getAttribute("aria-expanded") === "false");
    if (chosen) chosen.classList.remove("chosen");
    chosen = chosen === element ? null : element;
    light(chosen);
    if (chosen) chosen.classList.toggle("chosen", chosen.matches(".row"));
    if (!chosen) return;
    for (const pane of all(".code", chosen.closest("section"))) {
      if (pane.contains(chosen)) continue;
      const row = pane.querySelector(".lit") || pane.querySelector(".near");
      if (row) show(row);
    }
  };

  for (const element of all(".row[tabindex], .value")) {
    element.addEventListener("click", () => choose(element));
    element.addEventListener("mouseenter", () => chosen || light(element));
    element.addEventListener("mouseleave", () => chosen || light(null));
    element.addEventListener("focus", () => chosen || light(element));
    element.addEventListener("blur", () => chosen || light(null));
  }

  const move = (row, step) => {
    const near = all(".row[tabindex]", row.closest(".code")).filter((other) => !other.closest(".more[hidden]"));
    const next = near[near.indexOf(row) + step];
    if (!next) return;
    row.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  };
  for (const row of rows) {
    row.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") move(row, 1);
      else if (event.key === "ArrowUp") move(row, -1);
      else if (event.key === "Enter" || event.key === " ") choose(row);
      else return;
      event.preventDefault();
    });
  }

  const format = (bytes) => {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let at = 0;
    for (; bytes >= 1024 && at < units.length - 1; at++) bytes /= 1024;
    return `${at ? bytes.toFixed(2) : bytes} ${units[at]}`;
  };
  // the moments of a plot are the equations of its section, in order
  for (const plot of all(".plot[tabindex]")) {
    const section = plot.closest("section");
    const eqns = all(".eqn", section);
    const total = plot.dataset.total.split(",").map(Number);
    const kept = plot.dataset.kept.split(",").map(Number);
    const held = Number(plot.dataset.held), forward = Number(plot.dataset.forward), n = total.length;
    const mark = document.createElement("span"), tip = document.createElement("span");
    mark.className = "at";
    tip.className = "tip";
    plot.append(mark, tip);
    let now = Number(plot.getAttribute("aria-valuenow"));
    const hide = () => { mark.hidden = tip.hidden = true; };
    const tell = (i) => {
      now = Math.max(0, Math.min(n - 1, i));
      const row = eqns[now], place = row ? row.dataset.place : "";
      const line = place && all('[aria-label="source"] .row', section).find((other) => other.dataset.place === place);
      const part = kept[now] ? `, of which ${format(kept[now])} kept for the backward` : "";
      const text = [
        `${format(total[now])} in use${part}, ${format(held)} inputs and outputs`,
        `${now < forward ? "forward" : "backward"}, equation ${now + 1} of ${n}`,
        row ? row.querySelector(".text").textContent.slice(0, 160) : "",
        line ? `${place}: ${line.querySelector(".text").textContent.trim()}` : place,
      ].filter(Boolean).join("\n");
      tip.textContent = text;
      plot.setAttribute("aria-valuenow", String(now));
      plot.setAttribute("aria-valuetext", text);
      mark.hidden = tip.hidden = false;
      const x = (now + 0.5) / n;
      mark.style.left = `${100 * x}%`;
      tip.style.left = x < 0.5 ? `${100 * x}%` : "auto";
      tip.style.right = x < 0.5 ? "auto" : `${100 * (1 - x)}%`;
    };
    const under = (event) => {  // of the equations under a pixel, the one at which most is in use
      const area = plot.getBoundingClientRect(), x = (event.clientX - area.left) / area.width;
      const first = Math.max(0, Math.min(n - 1, Math.floor(x * n)));
      let best = first;
      for (let i = first; i < Math.min(n, first + Math.max(1, n / area.width)); i++) if (total[i] > total[best]) best = i;
      return best;
    };
    const go = () => {
      const row = eqns[now];
      if (!row) return;
      show(row);
      if (chosen !== row) choose(row);
      row.focus();
      row.closest(".pane").scrollIntoView({ block: "nearest" });
    };
    plot.addEventListener("pointermove", (event) => tell(under(event)));
    plot.addEventListener("pointerleave", () => document.activeElement === plot || hide());
    plot.addEventListener("focus", () => tell(now));
    plot.addEventListener("blur", hide);
    plot.addEventListener("click", (event) => { tell(under(event)); go(); });
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 20, PageDown: -20, Home: -n, End: n };
    plot.addEventListener("keydown", (event) => {
      if (event.key in steps) tell(now + steps[event.key]);
      else if (event.key === "Enter" || event.key === " ") go();
      else return;
      event.preventDefault();
    });
    hide();
  }

  const box = document.getElementById("search");
  const found = document.getElementById("found");
  const targets = all(".row, .saved-row, .facts li");
  let hits = [];
  let at = -1;
  const go = (step) => {
    if (!hits.length) return;
    if (at >= 0) hits[at].classList.remove("here");
    at = (at + step + hits.length) % hits.length;
    hits[at].classList.add("here");
    show(hits[at]);
    hits[at].scrollIntoView({ block: "nearest" });
    found.textContent = `${at + 1} of ${hits.length}`;
  };
  const search = () => {
    const text = box.value.trim().toLowerCase();
    for (const hit of hits) hit.classList.remove("hit", "here");
    hits = text ? targets.filter((target) => target.textContent.toLowerCase().includes(text)) : [];
    for (const hit of hits) hit.classList.add("hit");
    at = -1;
    found.textContent = text ? `${hits.length} found` : "";
  };
  box.addEventListener("input", search);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") { box.value = ""; search(); }
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = document.activeElement === box;
    if (event.key === "/" && !isTyping) { box.focus(); event.preventDefault(); }
    else if (event.key === "Escape" && !isTyping && chosen) choose(chosen);
  });
})();
