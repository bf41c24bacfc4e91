import { post, say } from "./ask.js";
import { $, element, row } from "./dom.js";

const operation = (e) => `${e.operation} ${e.space ?? ""} ${e.procedure ? `in ${e.procedure}` : ""}`;

function check(file) {
  for (const id of ["trace-outcome", "trace-models", "deviation"]) $(id).replaceChildren();
  if (file.size > Number(document.body.dataset.trace)) {
    say(`${file.name} is too large: at most ${document.body.dataset.trace} bytes are read; leasehold tup4fun conform has no limit`);
    return;
  }
  post("conform", "application/x-ndjson", file, (reports) => show(file.name, reports));
}

function show(name, reports) {
  $("trace-outcome").textContent = `${name}: ${reports[0]?.events ?? 0} events`;
  $("trace-models").replaceChildren(...reports.map((r) =>
    row(element("b", r.model), element("span", r.outcome, r.outcome), `${r.explained} events, ${r.instances} instances`, r.reason ?? "")));
  const violations = reports.filter((r) => r.violation).sort((a, b) => a.violation.line - b.violation.line);
  if (violations.length) showDeviation(violations[0]);
}

// showDeviation shows the first event that a model does not allow.
function showDeviation({ model, violation: v }) {
  const lines = (head, all) => (all.length ? [element("p", head), element("pre", all.join("\n"))] : []);
  $("deviation").replaceChildren(
    element("p", `The first deviation is in line ${v.line}, of the model ${model}: ${v.why}`, "violated"),
    ...lines("The event:", [JSON.stringify(v.event), ...(v.in_model ? [`in the model ${v.in_model}`] : []), ...(v.instance ? [v.instance] : [])]),
    ...lines("The model allows:", (v.allowed ?? []).map((a) => a.in_model)),
    ...lines("Logged before:", (v.last ?? []).map((l) => `line ${l.line}  ${operation(l.event)}`)),
  );
}

export function bindTrace() {
  const zone = $("drop");
  zone.addEventListener("dragover", (e) => e.preventDefault());
  zone.addEventListener("drop", (e) => {
    e.preventDefault();
    if (e.dataTransfer.files[0]) check(e.dataTransfer.files[0]);
  });
  $("trace-file").addEventListener("change", () => {
    if ($("trace-file").files[0]) check($("trace-file").files[0]);
    $("trace-file").value = "";
  });
}
