import { $, drawing } from "./dom.js";

export function clearStates() {
  $("states").replaceChildren();
  $("shown").textContent = "";
}

// runTo returns the run to a state as the numbers of its steps.
function runTo(ways, state) {
  const run = [];
  for (let at = state; ways[at].from >= 0; at = ways[at].from) run.unshift(ways[at].choice);
  return run;
}

// nodes puts each rectangle of a drawing and the texts behind it into a group, and returns the groups
// in the order of the states.
function nodes(svg) {
  return [...svg.querySelectorAll(":scope > rect")].map((rect) => {
    const g = document.createElementNS(svg.namespaceURI, "g");
    rect.before(g);
    let next = rect;
    while (next && (next === rect || next.tagName === "text")) {
      const after = next.nextElementSibling;
      g.append(next);
      next = after;
    }
    return g;
  });
}

// showStates shows a part of the state graph, with the chosen run. visit gets the run to a state that
// is clicked, and whether its steps are still to be shown.
export function showStates(v, visit) {
  const box = drawing(v.svg);
  const open = new Set(v.open);
  const all = nodes(box.querySelector("svg"));
  all.forEach((g, i) => {
    g.classList.add("state");
    g.classList.toggle("open", open.has(i));
    g.setAttribute("tabindex", "0");
    const clicked = () => visit(runTo(v.ways, i), open.has(i));
    g.addEventListener("click", clicked);
    g.addEventListener("keydown", (e) => { if (e.key === "Enter") clicked(); });
  });
  v.run.forEach((i, k) => all[i]?.classList.add(k === v.at ? "here" : "on-run"));
  $("states").replaceChildren(box);
  $("shown").textContent = open.size
    ? `${all.length} states are drawn, the first levels and those that you opened; click a state that ends with … for its next states.`
    : `All ${all.length} states are drawn; click a state for a run to it.`;
  const here = all[v.run[v.at]]?.querySelector("rect");
  if (here) box.scrollTo(here.getAttribute("x") - box.clientWidth / 2, here.getAttribute("y") - box.clientHeight / 2);
}
