import { $ } from "./dom.js";

// session is the run that is shown: the steps that are taken, those behind them, and the runs to states
// of the state graph that are expanded.
export const session = { choices: [], ahead: [], expanded: [] };

export function forget() {
  session.choices = [];
  session.ahead = [];
  session.expanded = [];
}

const maxText = 256 << 10; // characters of a box; one takes up to six bytes in a file
const numbers = (a) => (Array.isArray(a) ? a.filter((n) => Number.isInteger(n) && n >= 0 && n < 1e6).slice(0, 1000) : []);

// text returns t if it is one, and else an empty text. It throws if t is too long for a box.
function text(t) {
  if (typeof t !== "string") return "";
  if (t.length > maxText) throw new Error(`a box has ${t.length} characters; want at most ${maxText}`);
  return t;
}

// parse reads a session from the text of a link or a file. It throws if there is none.
export function parse(json) {
  const s = JSON.parse(json);
  if (typeof s?.program !== "string") throw new Error("want a session with a program");
  return { init: text(s.init), program: text(s.program), choices: numbers(s.choices), ahead: numbers(s.ahead) };
}

// fromLink returns the session in the link, or null if it has none.
export function fromLink() {
  return location.hash.length < 2 ? null : parse(decodeURIComponent(location.hash.slice(1)));
}

// toLink writes a session into the link.
export function toLink(s) {
  const hash = "#" + encodeURIComponent(JSON.stringify({ init: s.init, program: s.program, choices: s.choices, ahead: s.ahead }));
  $("link").href = hash;
  try {
    history.replaceState(null, "", hash);
  } catch {
    // Browsers refuse long addresses and many changes in a short time. The link is current anyway.
  }
}

// fromFile returns the session in a file: one that save wrote, or a model.
export async function fromFile(file) {
  if (file.size > 16 * maxText) throw new Error(`${file.name} has ${file.size} bytes; want at most ${16 * maxText}`);
  const content = await file.text();
  return file.name.endsWith(".json") ? parse(content) : { init: "", program: text(content), choices: [], ahead: [] };
}

// save writes a session into a file. It throws if fromFile would refuse that.
export function save(s) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([JSON.stringify({ init: text(s.init), program: text(s.program), choices: s.choices, ahead: s.ahead })], { type: "application/json" }));
  a.download = "session.json";
  a.click();
  URL.revokeObjectURL(a.href);
}
