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

  const show = (row) => {
    const pane = row.closest(".code");
    if (pane) pane.scrollTop = row.offsetTop - pane.offsetTop - pane.clientHeight / 3;
  };

  const choose = (element) => {
    chosen = chosen === element ? null : element;
    light(chosen);
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
    const near = all(".row[tabindex]", row.closest(".code"));
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
