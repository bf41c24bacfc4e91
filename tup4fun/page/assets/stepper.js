import { $, button, drawing, element, row } from "./dom.js";
import { session } from "./session.js";

let possible = 0; // the number of choices that are shown

export function clearRun(editors) {
  possible = 0;
  for (const id of ["steps", "choices", "processes", "variables", "spaces", "sequence"]) $(id).replaceChildren();
  for (const e of Object.values(editors)) e.mark("at", []);
  enable(false);
}

// enable enables the buttons that have an effect.
function enable(shown) {
  for (const id of ["first", "back"]) $(id).disabled = !shown || session.choices.length === 0;
  for (const id of ["forth", "last"]) $(id).disabled = !shown || session.ahead.length === 0;
  $("random").disabled = !shown || possible === 0;
}

// go makes n of the known steps the ones that are taken.
function go(n, moved) {
  const all = [...session.choices, ...session.ahead];
  session.choices = all.slice(0, n);
  session.ahead = all.slice(n);
  moved();
}

// choose takes a step. The steps that were ahead are dropped, unless the step is the first of them.
function choose(i, moved) {
  session.ahead = session.ahead[0] === i ? session.ahead.slice(1) : [];
  session.choices.push(i);
  moved();
}

// bindStepper connects the buttons. moved is called after each move.
export function bindStepper(moved) {
  const on = (id, clicked) => $(id).addEventListener("click", () => { enable(false); clicked(); });
  on("first", () => go(0, moved));
  on("back", () => go(session.choices.length - 1, moved));
  on("forth", () => go(session.choices.length + 1, moved));
  on("last", () => go(session.choices.length + session.ahead.length, moved));
  on("random", () => choose(Math.floor(Math.random() * possible), moved));
}

// showRun shows the run, the state after it, and the possible next steps.
export function showRun(r, editors, moved) {
  possible = r.choices.length;
  $("steps").replaceChildren(...[...r.steps, ...r.ahead].map((s, i) => {
    const li = element("li", "", i < r.steps.length ? "" : "ahead");
    li.append(button(`${s.process}: ${s.text}`, () => go(i, moved), "go to just before it"));
    return li;
  }));
  $("choices").replaceChildren(element("span", r.reason || r.state, r.state), ...r.choices.map((s, i) =>
    button(`${s.process}: ${s.text}`, () => choose(i, moved), `line ${s.line}`)));
  showState(r.end, editors);
  $("sequence").replaceChildren(...(r.steps.length ? [drawing(r.sequence)] : []));
  enable(true);
}

const values = (all) => (all ?? []).map((v) => `${v.name}=${v.value}`).join(" ");

// showState shows the processes at their lines, and the tuples in their spaces.
function showState(c, editors) {
  const at = { init: new Map(), program: new Map() };
  $("processes").replaceChildren(...c.processes.map((p) => {
    const { line, init } = p.position;
    const lines = at[init ? "init" : "program"];
    if (!p.terminated) lines.set(line, [...(lines.get(line) ?? []), p.name]);
    return row(element("b", p.name), p.terminated ? "has terminated" : `line ${line}`, p.terminated ? "" : p.next.join(" or "), values(p.locals));
  }));
  for (const [box, lines] of Object.entries(at)) {
    editors[box].mark("at", [...lines].map(([line, names]) => ({ line, text: names.slice(0, 4).join(" ") + (names.length > 4 ? ` and ${names.length - 4} more` : "") })));
  }
  $("variables").textContent = values(c.variables);
  $("spaces").replaceChildren(...(c.spaces ?? []).map((s) => {
    const d = element("div", "", "space");
    d.append(element("b", s.name), ...(s.tuples ?? []).map((t) => element("code", t)));
    return d;
  }));
}
