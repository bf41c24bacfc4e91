// Does with the client what lines on its input say, for clients/conformance_test.go.
//
// A line is a JSON object: do is one of the verbs below, the other fields are its arguments. The answer is a line with
// ok, or with error. Handlers of tasks print lines with event meanwhile.
import { hostname } from 'node:os';
import { createInterface } from 'node:readline';
import * as leasehold from './leasehold.js';

const clients = new Map();
const sessions = new Map();
const tasks = new Map();
const later = new Set();
const waiting = []; // calls of tasks of the handler together

const tell = (line) => console.log(JSON.stringify(line, (name, value) => (value === undefined ? null : value)));
const event = (kind, task) => tell({ event: kind, task: task.id });
const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
const on = (signal) => new Promise((resolve) => { if (signal.aborted) resolve(); else signal.addEventListener('abort', resolve); });

const verbs = {
  create: (c, { action, data = null, options = {}, key }) => c.create(action, data, options, key),
  create_all: (c, { tasks: all, key }) => c.createAll(all, key),
  get: (c, { id }) => c.get(id),
  parents: (c, { id }) => c.parents(id),
  wait: (c, { id, timeout }) => c.wait(id, timeout),
  cancel: async (c, { id, reason, key }) => { await c.cancel(id, reason, key); },
  requeue: async (c, { id, key }) => { await c.requeue(id, key); },
  actions: (c) => c.actions(),
  leases: (c) => c.leases(),
  attention: (c) => c.attention(),
  history: (c, { action, span }) => c.history(action, span),
  count: (c, { filter }) => c.count(filter),
  requeue_selected: (c, { seen, filter }) => c.requeueSelected(seen, filter),
  discard_selected: (c, { seen, filter }) => c.discardSelected(seen, filter),
  cancel_selected: (c, { seen, filter, reason }) => c.cancelSelected(seen, filter, reason),
  session: async (c, { serves, name, ttl, session = 'main' }) => { sessions.set(session, await c.session(serves, { name, ttl })); },
  heartbeat: (c, { session = 'main' }) => sessions.get(session).heartbeat(),
  resume: async (c, { session = 'main' }) => { await sessions.get(session).resume(); },
  end: async (c, { session = 'main' }) => { await sessions.get(session).end(); },
  claim: async (c, { session = 'main', limit, wait }) => {
    const claimed = await sessions.get(session).claim({ limit, wait });
    claimed.forEach((task) => tasks.set(task.id, task));
    return claimed;
  },
  task_parents: (c, { id }) => tasks.get(id).parents,
  extend: (c, { id, fraction, text }) => tasks.get(id).extend(fraction, text),
  resolve: (c, { id, result, create }) => tasks.get(id).resolve(result, create),
  release: (c, { id, error, output, give_up: giveUp }) => tasks.get(id).release(error, { output, giveUp }),
  hand_back: (c, { id, delay }) => tasks.get(id).handBack(delay),
  work: (c, { action, concurrency = 2, ttl = 1, drain = 1, name = action }) => {
    const retry = new Map([[RangeError, null], [TypeError, 0]]);
    return new leasehold.Worker(c, { [action]: handle }, { concurrency, name, ttl, drain, retry }).run();
  },
  process: () => ({ host: hostname(), pid: process.pid }),
  test_coordinator: async () => {
    const coordinator = await leasehold.TestCoordinator.start();
    try {
      return await coordinator.client().create('a');
    } finally {
      await coordinator.stop();
    }
  },
};

async function handle(task) {
  event('started', task);
  const { do: what, n, value } = task.data;
  switch (what) {
    case 'double':
      return n * 2;
    case 'echo':
      return value;
    case 'large': // n bytes of JSON
      return 'x'.repeat(n - 2);
    case 'together': // wait until n tasks are worked on at once
      await new Promise((resolve) => {
        waiting.push(resolve);
        if (waiting.length >= n) waiting.forEach((go) => go());
      });
      return what;
    case 'slow': // longer than the session's TTL
      await task.extend(0.5, 'slow');
      await sleep(1600);
      return 'done';
    case 'wait': // n milliseconds
      await sleep(n);
      return what;
    case 'fail':
      throw new Error('broken');
    case 'exit': // not an Error
      throw 'leave';
    case 'unsendable':
      return 1n;
    case 'never':
      throw new leasehold.HandBack(-1);
    case 'shout':
      throw new Error('x'.repeat(2 << 20));
    case 'hopeless':
      task.log('a note');
      return new Array(-1);
    case 'giveup':
      throw new leasehold.GiveUp('never');
    case 'later':
      if (later.has(task.id)) return what;
      later.add(task.id);
      throw new leasehold.HandBack(0.1);
    case 'finish':
      await on(task.draining);
      return 'finished';
    default:
      await on(task.stopped);
      event('stopped', task);
      return what;
  }
}

function failure(err) {
  const { status, code, title, detail, message } = err;
  const fields = { kind: err.constructor.name.replace(/Error$/, ''), text: message };
  if (err instanceof leasehold.LeaseholdError) Object.assign(fields, { status, code, title, detail });
  if (err instanceof leasehold.UnavailableError) fields.happened = err.happened;
  return fields;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { do: verb, client = 'main', ...more } = JSON.parse(line);
  try {
    if (verb === 'connect') {
      clients.set(client, new leasehold.Client(more.url || undefined, { token: more.token, ca: more.ca }));
      tell({ ok: null });
    } else {
      tell({ ok: await verbs[verb](clients.get(client), more) });
    }
  } catch (err) {
    tell({ error: failure(err) });
  }
}
process.exit();
