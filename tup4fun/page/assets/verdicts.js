import { $, button, drawing, element } from "./dom.js";
import { list } from "./mistakes.js";

export function clearCheck() {
  for (const id of ["outcome", "verdicts", "counts", "unreached", "finals"]) $(id).replaceChildren();
}

// showCheck shows a report. load takes a run as the numbers of its steps, and whether to go to its end.
export function showCheck(c, load) {
  $("outcome").replaceChildren(element("b", c.outcome, c.outcome), c.reason ? ` The search is incomplete: ${c.reason}.` : "");
  $("verdicts").replaceChildren(...c.verdicts.map((v, i) => verdict(v, c.runs[i], load)));
  $("counts").textContent = counts(c);
  const unreached = c.unreached ?? [];
  const some = unreached.slice(0, 20);
  list("unreached", `${some.length} of ${unreached.length} statements that no run reaches:`, some.map((u) => `line ${u.line}: ${u.text}`));
  showFinals(c, load);
}

function counts(c) {
  const least = c.reason ? "at least " : "";
  const how = c.whole ? "" : " Equal processes and independent steps are not told apart.";
  const spaces = c.spaces.map((s) => ` ${s.name}: at most ${s.most} tuples${s.unbounded ? ", and it grows without bound" : ""}.`).join("");
  return `${least}${c.states} states, ${c.transitions} transitions, ${c.stuck} stuck, ${c.terminated} terminated.${how}${spaces}`;
}

function verdict(v, run, load) {
  const d = element("div", "", "verdict");
  const p = element("p", `${v.name}: `);
  p.append(element("b", v.outcome + (v.vacuous ? " (never begins)" : ""), v.outcome), ` ${v.detail ?? ""} `);
  d.append(p);
  if (!run.choices) return d;
  p.append(run.shortest ? " A shortest run to it: " : " A run that shows it: ", loader("step through it", run.choices, false, load));
  d.append(drawing(run.sequence));
  return d;
}

// loader is a button that loads a run, if it is not too long.
function loader(text, run, toEnd, load) {
  const most = Number(document.body.dataset.choices);
  const b = button(text, () => load(run, toEnd));
  if (run.length > most) {
    b.disabled = true;
    b.textContent = `${run.length} steps are too many to step through (${most})`;
  }
  b.classList.add("load");
  return b;
}

function showFinals(c, load) {
  const all = [];
  for (const state of ["stuck", "terminated"]) {
    const some = c.finals.filter((f) => f.state === state);
    if (some.length) all.push(element("p", `${some.length} of ${c[state]} ${state} states`, state));
    for (const f of some) {
      const d = element("div", "", "final");
      d.append(loader("go there", f.choices, true, load), element("pre", f.text));
      all.push(d);
    }
  }
  if (!c.whole) all.push(element("p", "Stuck states are listed only if all states can be kept, also those that reductions leave out.", "soft"));
  $("finals").replaceChildren(...all);
}
