import { cancel, postJSON } from "./ask.js";
import { $, drawing, element, row } from "./dom.js";
import { Editor } from "./editor.js";
import { list, showMistakes } from "./mistakes.js";

const editors = {};

function clear() {
  for (const id of ["net-outcome", "net-findings", "net-facts", "net-graph"]) $(id).replaceChildren();
  showMistakes("net-errors", "error", [], editors);
}

function changed() {
  cancel("petri");
  clear();
}

function check() {
  clear();
  postJSON("petri", { net: editors.net.text, final: $("final").value }, (r) => {
    if (r.errors) return showMistakes("net-errors", "error", r.errors, editors);
    show(r);
  });
}

function show(r) {
  $("net-outcome").replaceChildren(element("b", r.outcome, r.outcome),
    ` ${r.places} places, ${r.transitions} transitions, ${r.markings} markings, ${r.edges} edges. ${r.reason ? `Not all markings were explored: ${r.reason}.` : ""}`);
  $("net-findings").replaceChildren(...r.findings.map((f) => {
    const firing = [...(f.firing ?? [])].join(" ");
    const repeat = f.repeat ? `; then repeat ${f.repeat.join(" ")}` : "";
    const way = f.marking ? `${firing ? `fire ${firing}: ` : ""}${f.marking}${repeat}` : "";
    return row(element("b", f.property), element("span", f.outcome, f.outcome), f.detail ?? "", way);
  }));
  list("net-facts", "", [
    ...(r.place_semiflows ?? []).map((f) => `constant: ${f.text} = ${f.tokens}`),
    ...(r.transition_semiflows ?? []).map((f) => `changes nothing: ${f.text}`),
    ...(r.off_the_way ?? []).map((n) => `on no way from the source to the sink: ${n}`),
  ]);
  $("net-graph").replaceChildren(r.svg ? drawing(r.svg) : element("p", "There are too many markings to be drawn.", "soft"));
}

export function bindNet() {
  editors.net = new Editor("net", changed);
  $("final").addEventListener("input", changed);
  $("net-go").addEventListener("click", check);
  $("net-open").addEventListener("change", async () => {
    const file = $("net-open").files[0];
    if (!file) return;
    editors.net.text = await file.text();
    $("net-open").value = "";
    check();
  });
}
