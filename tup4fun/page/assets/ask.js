import { $ } from "./dom.js";

const running = new Map(); // by view: the controller of its request
let problem = "";

function tell() {
  $("status").textContent = running.size ? `working: ${[...running.keys()].join(", ")} …` : problem;
}

// say shows a text in the status line while nothing is running.
export function say(text) {
  problem = text;
  tell();
}

// post sends a request and shows its answer; after an error it calls failed. A later request for the
// same view replaces it; requests for other views go on.
export async function post(view, kind, body, show, failed) {
  running.get(view)?.abort();
  const mine = new AbortController();
  running.set(view, mine);
  const isCurrent = () => running.get(view) === mine;
  tell();
  try {
    const r = await fetch("/" + view, { method: "POST", headers: { "Content-Type": kind }, body, signal: mine.signal });
    if (!r.ok) throw new Error((await r.text()).trim());
    const answer = await r.json();
    if (isCurrent()) show(answer);
  } catch (e) {
    if (isCurrent()) {
      problem = `${view}: ${e.message}`;
      failed?.();
    }
  }
  if (isCurrent()) running.delete(view);
  tell();
}

export const postJSON = (view, value, show, failed) => post(view, "application/json", JSON.stringify(value), show, failed);

// cancel ends the requests for some views, and returns the names of those that were running.
export function cancel(...views) {
  const ended = views.filter((v) => running.has(v));
  for (const v of ended) {
    running.get(v).abort();
    running.delete(v);
  }
  tell();
  return ended;
}
