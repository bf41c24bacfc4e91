export const $ = (id) => document.getElementById(id);

// element creates an element with text, which is never parsed as HTML.
export function element(name, text, className) {
  const e = document.createElement(name);
  e.textContent = text;
  if (className) e.className = className;
  return e;
}

// button creates a button that calls clicked.
export function button(text, clicked, title) {
  const b = element("button", text);
  b.type = "button";
  if (title) b.title = title;
  b.addEventListener("click", clicked);
  return b;
}

// row creates a row of a table.
export function row(...cells) {
  const tr = document.createElement("tr");
  tr.append(...cells.map((c) => {
    const td = document.createElement("td");
    td.append(c);
    return td;
  }));
  return tr;
}

// drawing creates a box with an SVG of the server.
export function drawing(svg) {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
  const box = element("div", "", "drawing");
  box.append(document.importNode(parsed.documentElement, true));
  return box;
}
