"use strict";

const $ = (id) => document.getElementById(id);
let choices = [];
let latest = 0; // answers to older requests are ignored

const session = () => ({ init: $("init").value, program: $("program").value, choices });

// remember writes the session into the link.
function remember() {
  const hash = "#" + encodeURIComponent(JSON.stringify(session()));
  history.replaceState(null, "", hash);
  $("link").href = hash;
}

// recall reads the session from the link, and returns whether there was one.
function recall() {
  if (location.hash.length < 2) return false;
  try {
    const s = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    $("init").value = String(s.init ?? "");
    $("program").value = String(s.program ?? "");
    choices = Array.isArray(s.choices) ? s.choices.filter(Number.isInteger) : [];
    return true;
  } catch {
    say("the link has no session in it");
    return false;
  }
}

function say(text) { $("status").textContent = text; }

async function ask(name) {
  const r = await fetch("/" + name, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(session()),
  });
  if (!r.ok) throw new Error((await r.text()).trim());
  return r.json();
}

// element creates an element with text, which is never parsed as HTML.
function element(name, text, className) {
  const e = document.createElement(name);
  e.textContent = text;
  if (className) e.className = className;
  return e;
}

function drawing(svg) {
  const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
  return document.importNode(parsed.documentElement, true);
}

function show(id, svg, otherwise) {
  $(id).replaceChildren(svg ? drawing(svg) : element("p", otherwise, "soft"));
}

function showErrors(id, list) {
  $(id).replaceChildren(...(list ?? []).map((m) =>
    element("li", `${m.box === "init" ? "initialisation" : "program"}, line ${m.line}: ${m.text}`)));
}

function showGraph(g) {
  showErrors("warnings", g.warnings);
  show("graph", g.svg, "The program graph is too large to be drawn.");
}

function showRun(r) {
  $("steps").replaceChildren(...r.steps.map((s, i) => {
    const b = element("button", `${s.process}: ${s.text}`);
    b.addEventListener("click", () => choose(choices.slice(0, i)));
    const li = document.createElement("li");
    li.append(b);
    return li;
  }));
  $("choices").replaceChildren(element("span", r.reason || r.state, r.state), document.createTextNode(" "), ...r.choices.map((s, i) => {
    const b = element("button", `${s.process}: ${s.text}`);
    b.title = `line ${s.line}`;
    b.addEventListener("click", () => choose([...choices, i]));
    return b;
  }));
  $("end").textContent = r.end;
  show("sequence", r.steps.length ? r.sequence : "", "");
}

function showStates(s) {
  const cut = s.reason ? ` These are not all: ${s.reason}.` : "";
  $("counts").textContent = `${s.states} configurations, ${s.stuck} stuck, ${s.terminated} terminated.${cut}`;
  show("states", s.svg, "They are too many to be drawn.");
  $("finals").replaceChildren(...s.finals.map((f) => element("pre", f, f.startsWith("stuck") ? "stuck" : "terminated")));
}

function showCheck(c) {
  $("outcome").replaceChildren(element("b", c.outcome, c.outcome), document.createTextNode(
    ` ${c.states} states, ${c.transitions} transitions with reductions. ${c.reason ?? ""} ` +
    c.spaces.map((s) => `${s.name}: at most ${s.most}${s.unbounded ? ", and it grows without bound" : ""}.`).join(" ")));
  $("verdicts").replaceChildren(...c.verdicts.map((v, i) => {
    const d = document.createElement("div");
    const p = element("p", `${v.name}: `);
    p.append(element("b", v.outcome, v.outcome), ` ${v.detail ?? ""}`);
    d.append(p);
    if (c.sequences[i]) {
      const box = element("div", "", "drawing");
      box.append(drawing(c.sequences[i]));
      d.append(box);
    }
    return d;
  }));
}

const views = { graph: showGraph, run: showRun, check: showCheck, states: showStates };

// showViews requests views one after the other, and stops at a program with errors.
async function showViews(...names) {
  const mine = ++latest;
  remember();
  say("working …");
  try {
    for (const name of names) {
      const answer = await ask(name);
      if (mine !== latest) return;
      showErrors("errors", answer.errors);
      if (answer.errors) break;
      views[name](answer);
    }
    say("");
  } catch (e) {
    if (mine === latest) say(e.message);
  }
}

function choose(to) {
  choices = to;
  showViews("run");
}

function all() { showViews("graph", "run", "check", "states"); }

$("go").addEventListener("click", () => { choices = []; all(); });
window.addEventListener("hashchange", () => { if (recall()) all(); });
recall();
all();
