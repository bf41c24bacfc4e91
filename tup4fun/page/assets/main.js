import { cancel, postJSON, say } from "./ask.js";
import { $, drawing, element } from "./dom.js";
import { Editor } from "./editor.js";
import { showMistakes } from "./mistakes.js";
import { bindNet } from "./net.js";
import { forget, fromFile, fromLink, save, session, toLink } from "./session.js";
import { clearStates, showStates } from "./states.js";
import { bindStepper, clearRun, showRun } from "./stepper.js";
import { bindTrace } from "./trace.js";
import { clearCheck, showCheck } from "./verdicts.js";

const views = ["graph", "run", "check", "states", "format"];
const editors = {};
for (const id of ["init", "program"]) editors[id] = new Editor(id, changed);

const whole = () => ({ init: editors.init.text, program: editors.program.text, ...session });

// clear removes all that belongs to a program, because its text has changed or has errors.
function clear() {
  clearCheck();
  clearRun(editors);
  clearStates();
  $("graph").replaceChildren();
  for (const [id, kind] of [["errors", "error"], ["warnings", "warning"]]) showMistakes(id, kind, [], editors);
}

let later;

// changed ends the work on the text before the change, and removes its results.
function changed() {
  const ended = cancel(...views);
  clear();
  forget();
  say(ended.length ? `The text was changed: ${ended.join(", ")} cancelled.` : "The text was changed: check it again.");
  clearTimeout(later);
  later = setTimeout(() => toLink(whole()), 500); // browsers limit how often a link may change
}

// ask requests a view of the program. If the program has errors, they are all that is shown.
function ask(view, show, failed) {
  postJSON(view, whole(), (answer) => {
    if (!answer.errors) return show(answer);
    cancel(...views);
    clear();
    forget();
    showMistakes("errors", "error", answer.errors, editors);
  }, failed);
}

// moved shows the run and its states, after a step was taken or taken back.
function moved() {
  toLink(whole());
  ask("run", (r) => showRun(r, editors, moved), () => clearRun(editors));
  ask("states", (v) => showStates(v, visit), clearStates);
}

// load takes a run into the stepper, at its start or at its end.
function load(run, toEnd) {
  session.choices = toEnd ? run : [];
  session.ahead = toEnd ? [] : run;
  moved();
  $("trace").scrollIntoView();
}

// visit takes the run to a state of the state graph, and shows the next states.
function visit(run, isOpen) {
  if (isOpen) session.expanded.push(run);
  session.choices = run;
  session.ahead = [];
  moved();
}

// start requests all views of the program.
function start() {
  clearTimeout(later);
  cancel(...views);
  clear();
  say("");
  ask("graph", (g) => {
    showMistakes("warnings", "warning", g.warnings, editors);
    $("graph").replaceChildren(g.svg ? drawing(g.svg) : element("p", "The program graph is too large to be drawn.", "soft"));
    moved();
    ask("check", (c) => showCheck(c, load));
  });
}

// put replaces the texts and the run, and starts.
function put(s) {
  forget();
  editors.init.text = s.init;
  editors.program.text = s.program;
  session.choices = s.choices ?? [];
  session.ahead = s.ahead ?? [];
  start();
}

function format() {
  ask("format", (f) => {
    if (f.init === editors.init.text && f.program === editors.program.text) return;
    editors.init.text = f.init;
    editors.program.text = f.program;
    changed();
  });
}

function restart() {
  forget();
  start();
}

// bindTabs shows the section of the tab that is clicked.
function bindTabs() {
  for (const tab of document.querySelectorAll("nav button")) {
    tab.addEventListener("click", () => {
      for (const t of document.querySelectorAll("nav button")) {
        t.setAttribute("aria-selected", String(t === tab));
        $(t.dataset.tab).hidden = t !== tab;
      }
    });
  }
}

// bindExamples fills the menu, and returns the examples.
async function bindExamples() {
  const all = await (await fetch("/examples")).json();
  $("examples").append(...all.map((e, i) => {
    const o = element("option", e.title);
    o.value = i;
    return o;
  }));
  $("examples").addEventListener("change", () => {
    const e = all[$("examples").value];
    if (e) put(e);
    $("examples").value = "";
  });
  return all;
}

// recall shows the session of the link. It returns whether there was one.
function recall() {
  try {
    const s = fromLink();
    if (s) put(s);
    return s !== null;
  } catch {
    say("the link has no session in it");
    return false;
  }
}

$("go").addEventListener("click", restart);
$("format").addEventListener("click", format);
$("save").addEventListener("click", () => {
  try {
    save(whole());
  } catch (e) {
    say(e.message);
  }
});
$("open").addEventListener("change", async () => {
  try {
    if ($("open").files[0]) put(await fromFile($("open").files[0]));
  } catch (e) {
    say(e.message);
  }
  $("open").value = "";
});
document.addEventListener("keydown", (e) => { if (e.key === "Enter" && e.ctrlKey && !$("programs").hidden) restart(); });
window.addEventListener("hashchange", recall);
bindTabs();
bindStepper(moved);
bindNet();
bindTrace();
clear();
const examples = await bindExamples();
if (!recall()) put(examples[0]);
