import { $, button, element } from "./dom.js";

const names = { init: "initialisation", program: "program", net: "net", final: "final marking" };

// showMistakes lists errors or warnings, and marks their lines in the editors, which are by box.
export function showMistakes(id, kind, list, editors) {
  $(id).replaceChildren(...list.map((m) => {
    const where = names[m.box] ?? m.box;
    const text = m.line ? `${where}, line ${m.line}: ${m.text}` : `${where}: ${m.text}`;
    const li = document.createElement("li");
    li.append(m.line && editors[m.box] ? button(text, () => editors[m.box].reveal(m.line)) : text);
    return li;
  }));
  for (const [box, editor] of Object.entries(editors)) editor.mark(kind, list.filter((m) => m.box === box).map((m) => ({ line: m.line, text: "" })));
}

// list replaces the content of an element by a list of texts below a head, or by nothing.
export function list(id, head, texts) {
  const all = texts.map((t) => element("li", t));
  const ul = document.createElement("ul");
  ul.append(...all);
  $(id).replaceChildren(...(all.length ? [element("p", head), ul] : []));
}
