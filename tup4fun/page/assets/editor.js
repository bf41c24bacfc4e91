import { $, element } from "./dom.js";

const lineHeight = 18; // pixels, as in page.css

// Editor shows line numbers beside a text area, and marks at its lines.
export class Editor {
  constructor(id, changed) {
    this.area = $(id);
    this.layer = this.area.parentElement.querySelector(".layer");
    this.numbers = this.layer.querySelector(".numbers");
    this.lines = 0;
    this.marks = {};
    this.area.addEventListener("input", () => { this.number(); changed(); });
    this.area.addEventListener("scroll", () => { this.layer.style.transform = `translateY(${-this.area.scrollTop}px)`; });
    this.number();
  }

  get text() { return this.area.value; }

  set text(text) {
    this.area.value = text;
    this.number();
  }

  number() {
    const n = this.area.value.split("\n").length;
    if (n === this.lines) return;
    this.lines = n;
    this.numbers.textContent = Array.from({ length: n }, (_, i) => i + 1).join("\n");
  }

  // mark replaces the marks of one kind: a text at each line of a list.
  mark(kind, list) {
    for (const m of this.marks[kind] ?? []) m.remove();
    this.marks[kind] = list.filter((l) => l.line > 0).map((l) => {
      const m = element("div", l.text, "mark " + kind);
      m.style.top = `${(l.line - 1) * lineHeight}px`;
      m.dataset.line = l.line;
      return m;
    });
    this.layer.append(...this.marks[kind]);
  }

  // reveal scrolls to a line and puts the cursor there.
  reveal(line) {
    const start = this.area.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    this.area.focus();
    this.area.setSelectionRange(start, start);
    this.area.scrollTop = Math.max(0, (line - 4) * lineHeight);
  }
}
