// Written from leasehold.js by build.js.
/**
 * A client of Leasehold's tasks: create them, wait for them, and work on them.
 *
 * One file without packages, for Node 18 or newer and for browsers (Worker is for Node, and may
 * be used in browsers without signals). Install it, or copy it next to your program. For require there
 * is leasehold.cjs, which npm run build writes from this file.
 *
 *     const { Client, Worker } = require('./leasehold.cjs');
 *
 *     const client = new Client();                    // http://127.0.0.1:7412
 *     const task = await client.create('count', { words: ['a', 'b'] });
 *     console.log((await client.wait(task.id)).result);
 *
 *     // in another process:
 *     await new Worker(client, { count: (task) => task.data.words.length }).run(); // until SIGTERM
 *
 * A coordinator that authenticates wants a token, and shows a certificate of its own CA:
 *
 *     new Client('https://server:7412', { token: '@ci.token', ca: 'ca.pem' });
 *
 * Coordinators that share a realm are given together, and the client calls the one that serves:
 *
 *     new Client('http://one:7412,http://two:7412');
 *
 * Tasks are objects with the fields of docs/json.md. Durations are seconds. A refused request
 * throws a subclass of LeaseholdError. Requests that change something are repeated after errors
 * that can pass, with an idempotency key, so that they take effect once.
 */

const TRIES = 5; // of one request, at least
const LONGEST_TIMER = 2 ** 31 - 1; // milliseconds; a longer one fires at once
const WAIT = 20; // seconds that one request waits for a task, at most 25
const OUTAGE = 60; // seconds in which a call of Client goes on without a coordinator that has answered before
const UNREACHED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];
const TIMEOUT = 60; // seconds of one request
const MOST = 64; // tasks that one request claims, and ends that it tells
const MOST_LOGGED = 2048; // characters that a task keeps of what it logs
const PAGE_SIZE = 1000; // items of one page of a list
const CONNECT = 5; // seconds that one of several coordinators has to accept a connection
const SILENCE = 5; // seconds that one of several coordinators has to answer a session, at least
const MOST_TOLD = 512 * 1024; // characters of ends that one request tells, unless it tells one only
const DISTRUST = /CERT|SIGNATURE|^(INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH)$/; // codes of errors of certificates

/** A request that the coordinator refused, or that did not reach it (status 0). */
class LeaseholdError extends Error {
  constructor(status, code, title, detail) {
    super(detail || title);
    this.name = this.constructor.name;
    Object.assign(this, { status, code, title, detail });
  }
}

/** The request has a field that is not accepted. */
class InvalidError extends LeaseholdError {}
/** There is no such task. */
class NotFoundError extends LeaseholdError {}
/** The state of the task does not allow it. */
class ConflictError extends LeaseholdError {}
/** The task is not this worker's any more: stop working on it. */
class StaleClaimError extends ConflictError {}
/**
 * The token is missing or wrong or has ended; or, with status 0, the coordinator's certificate is not of
 * the CA or not for this name, and no request was sent.
 */
class UnauthenticatedError extends LeaseholdError {}
/** The token lacks the role that the request needs. */
class ForbiddenError extends LeaseholdError {}
/** The idempotency key belongs to another request. */
class KeyReusedError extends LeaseholdError {}
/** The session was lost or has ended, and its claims with it. */
class SessionClosedError extends LeaseholdError {}
/** The data or the result is too large; the detail names the limit. */
class TooLargeError extends LeaseholdError {}
/**
 * The coordinator is overloaded or cannot be reached. The field happened is false if the request
 * did not reach it, and undefined if it may have: the same key does it once.
 */
class UnavailableError extends LeaseholdError {}

const ERRORS = {
  invalid: InvalidError, usage: InvalidError, not_found: NotFoundError, conflict: ConflictError,
  stale_token: StaleClaimError, key_reused: KeyReusedError, closed: SessionClosedError,
  too_large: TooLargeError, overloaded: UnavailableError, unavailable: UnavailableError,
  unauthenticated: UnauthenticatedError, forbidden: ForbiddenError,
};

// Codes of answers that are not from a coordinator, by status.
const OF_PROXIES = { 429: 'overloaded', 502: 'unavailable', 503: 'unavailable', 504: 'unavailable' };

/** The task had not ended when the timeout of wait was over. The field task is the task as it was then. */
class TimeoutError extends Error {
  constructor(task, timeout) {
    super(`task ${task.id} is ${task.state} after ${timeout} s`);
    this.name = this.constructor.name;
    this.task = task;
  }
}

/** Thrown by a handler: no worker could do the task, so it is dead at once. */
class GiveUp extends Error {}

/** Thrown by a handler: not now. The attempt is not counted. */
class HandBack extends Error {
  constructor(delay = 0) {
    super(`handed back for ${delay} s`);
    this.delay = delay;
  }
}

const pause = (seconds, signal) => new Promise((resolve) => {
  if (signal?.aborted) return resolve();
  const timer = setTimeout(done, seconds * 1000);
  function done() {
    clearTimeout(timer);
    signal?.removeEventListener('abort', done);
    resolve();
  }
  signal?.addEventListener('abort', done);
});

// The next turn of the event loop, after what can go on at once.
const turn = () => new Promise((resolve) => { (globalThis.setImmediate ?? setTimeout)(resolve); });

// Milliseconds of a clock that nobody sets.
const now = () => performance.now();

const ENV = globalThis.process?.env ?? {};

/**
 * Calls the HTTP API of a coordinator, by default the one at LEASEHOLD_HTTP or port 7412. The URL and
 * LEASEHOLD_HTTP may have several, separated by commas, that stand by for each other. A request goes to the
 * one that answered last, and to the next one at once if it cannot be reached or stands by.
 */
class Client {
  #token;
  #ca;
  #all; // the coordinators: base, and what sends a request there
  #first; // the one that answered last

  /**
   * token is what leasehold token create printed, or @FILE (default: LEASEHOLD_TOKEN). ca is a file with
   * what leasehold identity show --ca printed (default: LEASEHOLD_CA). With one of them the default URL is
   * https. Browsers have no files: they trust the CAs of their system.
   */
  constructor(url = undefined, { token = ENV.LEASEHOLD_TOKEN, ca = ENV.LEASEHOLD_CA } = {}) {
    const scheme = token || ca ? 'https' : 'http';
    const urls = url ? String(url).split(',') : (ENV.LEASEHOLD_HTTP ?? '127.0.0.1:7412').split(',').map((a) => `${scheme}://${a.trim()}`);
    this.#all = urls.map((one) => {
      const at = new URL(one.trim());
      if (token && at.protocol === 'http:' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(at.hostname)) {
        throw new TypeError(`url ${at.href}: a token is sent over https only, because others could read it`);
      }
      const href = at.href.replace(/\/+$/, '');
      return { url: href, base: `${href}/api/v1`, connect: undefined };
    });
    [this.#first] = this.#all;
    this.#token = token;
    if (this.#all.some(({ base }) => base.startsWith('https:'))) this.#ca = ca;
    this.answered = false; // whether a coordinator has, so that one restarts if none does
  }

  /** @private The address of the API that answered last. */
  get base() {
    return this.#first.base;
  }

  /** @private Whether there are several coordinators. */
  get areSeveral() {
    return this.#all.length > 1;
  }

  /**
   * Create a task and return it. Options are the fields of the API, such as priority: 5,
   * timeout: 60, unique_key: 'a', after: ['t1']. The same key creates the task once.
   */
  create(action, data = null, options = {}, key = undefined) {
    return this.post('/tasks', { action, data, ...options }, { key, patient: true });
  }

  /** Create tasks, all or none: objects with action, data and options. */
  async createAll(tasks, key = undefined) {
    return (await this.post('/task-batches', { tasks }, { key, patient: true })).items;
  }

  /** Return a task, alive or ended. NotFoundError: it never was, or ended long ago. */
  get(id) {
    return this.request('GET', `/tasks/${encodeURIComponent(id)}`, undefined, { patient: true });
  }

  /** Return how the tasks of after of a task ended, with all results. NotFoundError: it never was, or has ended. */
  async parents(id) {
    const found = [];
    for (let next = 0; next !== undefined;) {
      const page = await this.request('GET', `/tasks/${encodeURIComponent(id)}/parents?offset=${next}`, undefined, { patient: true });
      found.push(...page.items);
      next = page.next;
    }
    return found;
  }

  /**
   * Wait until a task is resolved, dead or cancelled, and return it. After timeout seconds, throw
   * TimeoutError.
   */
  async wait(id, timeout = Infinity) {
    const end = now() + timeout * 1000;
    let wait = 0; // the first request does not wait, to learn whether a coordinator answers
    for (;;) {
      const task = await this.request('GET', `/tasks/${encodeURIComponent(id)}?wait=${wait}`, undefined, { patient: true, end });
      if (['resolved', 'dead', 'cancelled'].includes(task.state)) return task;
      if (now() >= end) throw new TimeoutError(task, timeout);
      wait = Math.ceil(Math.min(WAIT, (end - now()) / 1000));
    }
  }

  /** End a task that has not ended; its worker stops. The same key does it once. */
  cancel(id, reason = '', key = undefined) {
    return this.post(`/tasks/${encodeURIComponent(id)}/cancel`, { reason }, { key, patient: true });
  }

  /** Have a dead task tried again. The same key does it once. */
  requeue(id, key = undefined) {
    return this.post(`/dead/${encodeURIComponent(id)}/requeue`, undefined, { key, patient: true });
  }

  /** Return the actions with their figures, by name: tasks by state, pause, workers, rates, durations. */
  actions() {
    return this.list('/actions');
  }

  /** Return the leases of managers. */
  leases() {
    return this.list('/leases');
  }

  /** Return what a person should look at: the time at, and items, the worst first. */
  attention() {
    return this.request('GET', '/attention', undefined, { patient: true });
  }

  /** Return the counts of tasks by interval, of one action or of all. span is hour, day or two-weeks. */
  history(action = undefined, span = 'hour') {
    return this.request('GET', `/history?${new URLSearchParams({ span, ...(action && { action }) })}`, undefined, { patient: true });
  }

  /**
   * Count the tasks that a filter selects: those that are alive, or those of a state. The filter has
   * state, action, tag, group, text, data, older and younger; a field that is missing selects all. Pass
   * the answer to requeueSelected, discardSelected or cancelSelected.
   */
  count(filter = {}) {
    return this.request('GET', `/bulk/count?${new URLSearchParams(filter)}`, undefined, { patient: true });
  }

  /**
   * Have the dead tasks that a filter selects tried again. seen is what count returned for it with
   * state: 'dead'. Later ones are left out; ConflictError: more are selected than were counted. Return the
   * ids in done, and refused: task, code and detail of those that could not be changed.
   */
  requeueSelected(seen, filter = {}) {
    return this.selected('requeue', seen, filter);
  }

  /** Remove the dead tasks that a filter selects, as requeueSelected does. */
  discardSelected(seen, filter = {}) {
    return this.selected('discard', seen, filter);
  }

  /** End the tasks that a filter selects and that are alive, as requeueSelected does. */
  cancelSelected(seen, filter = {}, reason = '') {
    return this.selected('cancel', seen, { ...filter, reason });
  }

  /**
   * Open the session of a worker that serves actions: an object of action and slots. It lives
   * while a request of it comes every ttl seconds. A worker of the same name is not offered the
   * task that it just failed; the default is the machine and the process.
   */
  async session(serves = {}, { name = '', ttl = 30 } = {}) {
    const { host, pid } = await machine();
    const body = {
      name: name || `${host}/${pid || PAGE}`, ttl, host, pid,
      serves: Object.entries(serves).map(([action, slots]) => ({ action, slots })),
    };
    return new Session(this, body, (await this.post('/sessions', body, { within: patience(ttl) })).id);
  }

  /** @private */
  async list(path) {
    const found = [];
    for (let offset = 0; ;) {
      const page = await this.request('GET', `${path}?offset=${offset}&limit=${PAGE_SIZE}`, undefined, { patient: true });
      found.push(...page.items);
      const read = page.items.length + (page.omitted ?? 0); // these are too large to be shown
      offset += read;
      if (read === 0 || offset >= page.total) return found;
    }
  }

  /** @private */
  async selected(verb, seen, filter) {
    const body = { ...filter, count: seen.count, before: seen.at };
    if (verb !== 'cancel') delete body.state; // it is that of dead tasks
    const changed = { done: [], refused: [] };
    for (;;) { // each request changes some
      const part = await this.post(`/bulk/${verb}`, body, { patient: true });
      changed.done.push(...part.done);
      changed.refused.push(...part.refused);
      if (part.next === undefined) return changed;
      body.cursor = part.next;
    }
  }

  /** @private */
  post(path, body, { key, ...more } = {}) {
    return this.request('POST', path, body, { key: key ?? newKey(), ...more });
  }

  /** @private within is how many seconds each of several coordinators has to answer. */
  async request(method, path, body, { key, signal, patient, end = Infinity, within } = {}) {
    if (key !== undefined && !/^[!-~]{1,128}$/.test(key)) {
      throw new InvalidError(0, 'invalid', 'invalid', `key ${JSON.stringify(key)}: want 1 to 128 visible characters of ASCII`);
    }
    const until = patient && this.answered ? Math.min(end, now() + OUTAGE * 1000) : 0;
    let left = []; // the coordinators that were not asked since the latest pause
    let told; // by those that were: rather not that one stands by
    for (let tries = 1, seconds = 0.1, sent = false; ;) {
      if (left.length === 0) left = this.#inOrder();
      const at = left.shift();
      try {
        const answer = await this.#once(at, method, path, body, key, { signal, within });
        this.answered = true;
        this.#first = at;
        return answer;
      } catch (err) {
        if (!(err instanceof UnavailableError)) throw err;
        sent ||= err.happened === undefined;
        if (!told || !err.owner) told = err;
        if (!signal?.aborted && left.length > 0 && err.code === 'unavailable') {
          left.sort((a, b) => (b.url === err.owner) - (a.url === err.owner));
          continue;
        }
        const goesOn = [0, 503].includes(err.status) && now() < until;
        if (signal?.aborted || tries >= TRIES && !goesOn) {
          told.happened = sent ? undefined : false;
          if (key) told.message += sent ? '; it may have happened' : '; it did not happen';
          throw told;
        }
      }
      left = [];
      told = undefined;
      await pause(seconds, signal);
      tries += 1;
      seconds = Math.min(2 * seconds, 2);
    }
  }

  // Returns the coordinators, from the one that answered last on.
  #inOrder() {
    const n = this.#all.indexOf(this.#first);
    return [...this.#all.slice(n), ...this.#all.slice(0, n)];
  }

  // Reads the files of the token and of the CA, once, and returns the headers of every request to a coordinator.
  async #identity(at) {
    if (!at.connect) {
      this.#token = await this.#read(this.#token?.startsWith('@') ? this.#token.slice(1) : undefined) ?? this.#token;
      this.#ca = this.#ca?.includes('-----BEGIN') ? this.#ca : await this.#read(this.#ca);
      at.connect ??= await connection(at.base, this.#ca);
    }
    return { 'Content-Type': 'application/json', ...(this.#token && { Authorization: `Bearer ${this.#token.trim()}` }) };
  }

  async #read(file) {
    if (!file) return undefined;
    return (await import('node:fs/promises')).readFile(file, 'utf8');
  }

  async #once(at, method, path, body, key, { signal, within }) {
    const content = body === undefined || typeof body === 'string' ? body : JSON.stringify(body, strict);
    const headers = await this.#identity(at);
    if (key) headers['Idempotency-Key'] = key;
    const limits = this.areSeveral ? { seconds: Math.min(within ?? TIMEOUT, TIMEOUT), connect: CONNECT } : { seconds: TIMEOUT };
    let response;
    try {
      response = await at.connect(at.base + path, { method, signal, headers }, content, limits);
    } catch (err) {
      const { message, code } = err.cause ?? err;
      if (DISTRUST.test(code)) throw new UnauthenticatedError(0, 'unauthenticated', 'unauthenticated', `${at.base}: ${message}`);
      const unreached = new UnavailableError(0, 'unavailable', 'unavailable', `${method} ${path}: ${message}`);
      if (UNREACHED.includes(code) && !err.sent) unreached.happened = false;
      throw unreached;
    }
    if (response.status < 300) return response.text.trim() ? JSON.parse(response.text) : {};
    throw refused(response.status, problem(response.text), response.statusText);
  }
}

// Returns a problem document; an empty one if the answer is a proxy's.
function problem(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

// Returns the error of a problem document.
function refused(status, { code = OF_PROXIES[status] ?? 'internal', title, detail = '', owner }, otherwise = '') {
  const err = new (ERRORS[code] ?? LeaseholdError)(status, code, title ?? otherwise, detail);
  if (owner) err.owner = owner; // from a coordinator that stands by
  if (code === 'overloaded' || owner) err.happened = false;
  return err;
}

// Returns the function that sends requests to a URL: in Node with kept connections and a CA, elsewhere fetch.
async function connection(base, ca) {
  if (!globalThis.process?.versions?.node) return fetchText;
  const { Agent, request } = await import(base.startsWith('https:') ? 'node:https' : 'node:http');
  const agent = new Agent({ keepAlive: true, noDelay: true, ...(ca && { ca }) });
  const send = (url, options, body, limits, again) => new Promise((resolve, reject) => {
    const call = request(url, { ...options, agent, timeout: limits.seconds * 1000 }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part)).on('error', reject).on('end', () => {
        resolve({ status: response.statusCode, statusText: response.statusMessage, text: Buffer.concat(parts).toString() });
      });
    });
    call.on('timeout', () => call.destroy(new Error(`no answer in ${limits.seconds} s`)));
    if (limits.connect) call.on('socket', (socket) => limitConnecting(call, socket, limits.connect));
    call.on('error', (err) => {
      // The server has closed a kept connection meanwhile; at the second time, it has not kept it for long.
      if (!again && call.reusedSocket && !options.signal?.aborted && ['ECONNRESET', 'EPIPE'].includes(err.code)) {
        send(url, options, body, limits, true).then(resolve, (later) => reject(Object.assign(later, { sent: true })));
      } else {
        reject(err);
      }
    });
    call.end(body);
  });
  return send;
}

// Ends a request whose connection is not accepted in so many seconds.
function limitConnecting(call, socket, seconds) {
  if (!socket.connecting) return;
  const late = () => call.destroy(Object.assign(new Error(`no connection in ${seconds} s`), { code: 'UND_ERR_CONNECT_TIMEOUT' }));
  const timer = setTimeout(late, seconds * 1000);
  ['connect', 'close'].forEach((event) => socket.once(event, () => clearTimeout(timer)));
}

async function fetchText(url, { signal, ...options }, body, limits) {
  const call = new AbortController();
  const stop = () => call.abort();
  const timer = setTimeout(stop, limits.seconds * 1000);
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop);
  try {
    const response = await fetch(url, { body, signal: call.signal, redirect: 'error', ...options });
    return { status: response.status, statusText: response.statusText, text: await response.text() };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

// A UUID also where crypto.randomUUID is missing: in Node 18 and in pages without TLS.
function newKey() {
  return globalThis.crypto?.randomUUID?.()
    ?? Array.from({ length: 4 }, () => Math.random().toString(36).slice(2)).join('-');
}

/** For JSON.stringify: refuse what it would leave out or replace in silence. */
function strict(key, value) {
  const given = this[key];
  const lost = typeof value === 'function' || typeof value === 'symbol' || (typeof value === 'number' && !Number.isFinite(value));
  if (lost || ArrayBuffer.isView(given) || given instanceof ArrayBuffer) throw new TypeError(`${key}: ${Object.prototype.toString.call(given)} ${String(value)} is no JSON`);
  return value;
}

const PAGE = newKey(); // the identity of a page, which has no process

// The machine and the process; a browser tells neither.
async function machine() {
  if (!globalThis.process?.versions?.node) return { host: 'browser', pid: 0 };
  const { hostname } = await import('node:os');
  return { host: hostname(), pid: globalThis.process.pid };
}

// Seconds after which a session asks another coordinator, soon enough to be kept there.
const patience = (ttl, wait = 0) => wait + Math.max(SILENCE, ttl / 3);

/** The session of a worker, to which its claims belong. End it: its tasks are offered to others then. */
class Session {
  constructor(client, body, id) {
    Object.assign(this, { client, body, id });
  }

  /** @private */
  get path() {
    return `/sessions/${encodeURIComponent(this.id)}`;
  }

  /** @private */
  post(path, body, { wait, ...more } = {}) {
    return this.client.post(path, body, { within: patience(this.body.ttl, wait), ...more });
  }

  /** Go on after a restart of the coordinator. SessionClosedError: the session was lost. */
  resume() {
    return this.post('/sessions', { ...this.body, resume: this.id });
  }

  /**
   * Keep the session alive. Return an object with its claims, and whether it is draining. With wait,
   * up to 25 seconds, that is when it loses a task or shall drain.
   */
  heartbeat({ wait = 0, signal } = {}) {
    return this.post(`${this.path}/heartbeat`, { wait }, { wait, signal });
  }

  /**
   * Claim up to limit tasks of the actions (those that the session serves if absent), and wait up
   * to 25 seconds for the first one. Return an array of Task, which may be empty. Results of
   * parents that are too large for one claim are read too; if that fails, they have left_out.
   */
  async claim({ actions, limit = 1, wait = 0, signal } = {}) {
    return this.#tasks(await this.post(`${this.path}/claims`, { actions, limit, wait }, { wait, signal }));
  }

  /**
   * @private End tasks, and claim up to limit others in the same step. ends are JSON texts of finish; key
   * belongs to them. Return the answers to the ends, and tasks.
   */
  async next(ends, limit, key) {
    const body = `{"limit":${limit},"finish":[${ends.join()}]}`;
    const found = await this.post(`${this.path}/claims`, body, { key: `${key}/${this.id}` });
    return { answers: found.finished, tasks: await this.#tasks(found) };
  }

  async #tasks({ items }) {
    await Promise.all(items.filter((t) => t.parents?.some((p) => p.left_out)).map(async (t) => {
      t.parents = await this.client.parents(t.id).catch(() => t.parents);
    }));
    return items.map((fields) => new Task(this, fields));
  }

  /** End the session. Tasks that it has are handed back. */
  async end() {
    try {
      await this.client.request('DELETE', this.path);
    } catch (err) {
      if (!(err instanceof NotFoundError) && !(err instanceof SessionClosedError)) throw err; // else it was lost
    }
  }
}

/** A task that a session has claimed, with all fields that the API returned. */
class Task {
  #session;
  #stopping = new AbortController();
  #draining = new AbortController();
  #timer; // of a Worker: stops the task at its timeout
  #log = '';

  constructor(session, fields) {
    Object.assign(this, fields);
    this.#session = session;
  }

  /** An AbortSignal: the task was cancelled, timed out or is another worker's; stop. */
  get stopped() {
    return this.#stopping.signal;
  }

  /** An AbortSignal: the worker drains; finish soon, or the task is handed back. */
  get draining() {
    return this.#draining.signal;
  }

  /** Start the timeout of the task again, and note its progress: from 0 to 1, and a text. */
  async extend(fraction, text = '') {
    await this.#call('extend', fraction === undefined ? {} : { progress: { fraction, text } });
    if (this.#timer) this.watch();
  }

  /** End the task with its result, any JSON, and create tasks in the same transaction. Return those. */
  async resolve(result = null, create = []) {
    return (await this.#call('resolve', { result, create, ...Task.outputOf(this) })).items;
  }

  /**
   * Give the task back after an attempt that failed. Another worker may try, after delay seconds;
   * with giveUp, or past its attempts, it is dead.
   */
  async release(error, { delay = 0, output = '', giveUp = false } = {}) {
    await this.#call('release', { error, delay, output, give_up: giveUp });
  }

  /** Give the task back without counting an attempt. */
  async handBack(delay = 0) {
    await this.#call('hand-back', { delay });
  }

  /** Note a line. The last 2 KiB of them are kept with the attempt: before the stack of the error, if it fails. */
  log(text) {
    this.#log = `${this.#log}${text}\n`.slice(-MOST_LOGGED);
  }

  /** @private The field of a resolution with the lines, if there are some. */
  static outputOf(task) {
    return task.#log ? { output: task.#log } : {};
  }

  /** @private The lines that a task has noted. */
  static linesOf(task) {
    return task.#log;
  }

  /** @private */
  stop() {
    this.#stopping.abort();
  }

  /** @private Stop when the timeout is over, which starts again now. */
  watch() {
    this.forget();
    const end = now() + this.timeout * 1000;
    const look = () => {
      const left = end - now();
      if (left <= 0) {
        this.stop();
        return;
      }
      this.#timer = setTimeout(look, Math.min(left, LONGEST_TIMER));
      this.#timer.unref?.(); // it must not keep the process
    };
    look();
  }

  /** @private */
  forget() {
    clearTimeout(this.#timer);
  }

  /** @private */
  drain() {
    this.#draining.abort();
  }

  async #call(verb, more) {
    const path = `${this.#session.path}/claims/${encodeURIComponent(this.id)}/${verb}`;
    const body = { token: this.token, ...more };
    try {
      return await this.#session.post(path, body);
    } catch (err) {
      if (!(err instanceof SessionClosedError) || !this.#session.reopen) throw err;
    }
    await this.#session.reopen();
    return this.#session.post(path, body);
  }
}

/**
 * Works on tasks: handlers are functions of a Task by action, which may be async. What a handler
 * returns is the result. If it throws GiveUp, the task is dead; HandBack, it is offered later;
 * anything else releases it, so that another worker may try.
 *
 * concurrency is the number of tasks at a time. When the worker stops, its handlers have drain
 * seconds to finish; tasks that do not are handed back. log gets warnings. retry is a Map of classes of
 * what handlers throw: after how many seconds another worker may try, or a function that returns them
 * for the attempts that failed before; null: the task is dead. The first class that fits counts.
 */
class Worker {
  #running = new Set(); // tasks whose handlers have not returned
  #ends = []; // of tasks whose handlers have, and that are not told
  #telling = false; // whether ends are being told
  #asked = 0; // tasks that requests under way may bring
  #stopping = new AbortController(); // of the worker, and of the claim that waits
  #ended = new AbortController();
  #changed = () => {}; // called when one of these has changed, or the worker shall stop
  #reopening = null;

  constructor(client, handlers, { concurrency = 1, name = '', ttl = 30, drain = 30, log = console.warn, retry = new Map() } = {}) {
    if (Object.keys(handlers).length === 0 || concurrency < 1) {
      throw new RangeError('a worker needs at least one handler, and a concurrency of at least 1');
    }
    Object.assign(this, { client, handlers, concurrency, name, ttl, drain, log, retry });
  }

  /** Work until stop is called, SIGTERM or SIGINT comes, or an administrator drains the session. */
  async run() {
    const stop = () => this.stop();
    const signals = ['SIGTERM', 'SIGINT'];
    signals.forEach((s) => globalThis.process?.on?.(s, stop));
    try {
      while (!await this.#begin()) if (this.#stopping.signal.aborted) return;
      const beating = this.#beat();
      while (!this.#stopping.signal.aborted) await this.#claim();
      await this.#finish();
      this.#ended.abort();
      await beating;
      await this.session.end();
    } finally {
      this.#ended.abort();
      signals.forEach((s) => globalThis.process?.off?.(s, stop));
    }
  }

  /** Claim nothing new, finish or hand back, and have run return. */
  stop() {
    this.#stopping.abort();
    this.#changed();
  }

  async #begin() {
    try {
      this.session = await this.#open();
      return true;
    } catch (err) {
      await this.#pause(err);
      return false;
    }
  }

  /** Wait a second after an error that can pass; throw any other. */
  async #pause(err) {
    if (!(err instanceof UnavailableError)) throw err;
    if (this.#stopping.signal.aborted) return;
    this.log(`leasehold: coordinator unreachable, retrying: ${err.message}`);
    await pause(1, this.#stopping.signal);
  }

  async #open() {
    const serves = Object.fromEntries(Object.keys(this.handlers).map((a) => [a, this.concurrency]));
    const session = await this.client.session(serves, { name: this.name, ttl: this.ttl });
    session.reopen = () => this.#reopen();
    return session;
  }

  /** Return for how many tasks there is room, and count them as asked for. */
  #ask() {
    const free = this.#stopping.signal.aborted ? 0 : Math.min(this.concurrency - this.#running.size - this.#asked, MOST);
    this.#asked += free;
    return free;
  }

  /** Wait for tasks, unless what tells ends asks for them too. */
  async #claim() {
    const free = this.#telling ? 0 : this.#ask();
    if (free === 0) {
      await this.#change();
      return;
    }
    let tasks = [];
    try {
      tasks = await this.session.claim({ limit: free, wait: WAIT, signal: this.#stopping.signal });
    } catch (err) {
      if (this.#stopping.signal.aborted) return;
      if (err instanceof SessionClosedError) await this.#reopen().catch((failed) => this.#pause(failed));
      else await this.#pause(err);
    } finally {
      this.#start(tasks, free);
    }
  }

  #change() {
    return new Promise((resolve) => { this.#changed = resolve; });
  }

  /** Work on tasks, of as many as were asked for. */
  #start(tasks, asked) {
    this.#asked -= asked;
    for (const task of tasks) {
      this.#running.add(task);
      if (this.#stopping.signal.aborted) task.drain();
      task.watch();
      this.#work(task);
    }
  }

  /** Resume the session after a restart of the coordinator, or open another one. */
  #reopen() {
    this.#reopening ??= this.#resume().finally(() => { this.#reopening = null; });
    return this.#reopening;
  }

  async #resume() {
    try {
      await this.session.resume();
    } catch (err) {
      if (err instanceof ConflictError) return; // it lives
      if (!(err instanceof SessionClosedError)) throw err;
      this.log('leasehold: the session was lost; its tasks are offered to others');
      this.#running.forEach((task) => task.stop());
      this.session = await this.#open();
    }
  }

  /**
   * Keep a heartbeat waiting, which answers when a task is lost or the session shall drain. Then see
   * what the session has: tasks may have been claimed while it waited.
   */
  async #beat() {
    for (let seconds = 0; ;) {
      await pause(seconds, this.#ended.signal);
      if (this.#ended.signal.aborted) return;
      seconds = this.ttl / 3;
      try {
        const { draining, known } = await this.#see();
        if (draining) continue;
        const wait = this.client.areSeveral ? Math.min(WAIT, this.ttl / 3) : WAIT;
        if (known) await this.session.heartbeat({ wait, signal: this.#ended.signal });
        seconds = 0.1;
      } catch (err) {
        if (this.#ended.signal.aborted) return;
        this.log(`leasehold: heartbeat: ${err.message}`);
        if (err instanceof SessionClosedError && !this.#stopping.signal.aborted) {
          await this.#reopen().catch((failed) => this.log(`leasehold: ${failed.message}`));
        }
      }
    }
  }

  /**
   * Stop the tasks that the session does not have. Return whether it shall drain, and whether it is known of
   * each task that it has it: one that was claimed meanwhile may be lost already, and nothing tells that again.
   */
  async #see() {
    const running = [...this.#running];
    const state = await this.session.heartbeat();
    const has = new Set(state.claims.map((c) => `${c.task} ${c.token}`));
    const lacks = (t) => !has.has(`${t.id} ${t.token}`);
    running.filter(lacks).forEach((t) => t.stop());
    if (state.draining) this.stop();
    return { draining: state.draining, known: ![...this.#running].some((t) => lacks(t) && !running.includes(t)) };
  }

  async #work(task) {
    const end = await this.#conclude(task);
    task.forget();
    this.#running.delete(task);
    if (end) this.#ends.push(end);
    if (this.#ends.length > 0 && !this.#telling) this.#tell();
    this.#changed();
  }

  /** Call the handler of a task, and return how the task ended: undefined if it is not the worker's any more. */
  async #conclude(task) {
    try {
      const result = await this.handlers[task.action](task);
      const output = Task.outputOf(task);
      const end = this.#end(task, 'result', 'resolve', { result, ...output });
      // An older coordinator refuses the output.
      if (output.output && end.what) end.plain = () => this.#end(task, 'result', 'resolve', { result });
      return end;
    } catch (err) {
      if (err instanceof StaleClaimError) {
        this.log(`leasehold: task ${task.id} was taken away`);
        return undefined;
      }
      if (err instanceof GiveUp) return this.#end(task, 'reason', 'release', { error: err.message, give_up: true });
      if (err instanceof HandBack) return this.#end(task, 'delay', 'hand_back', { delay: err.delay });
      const output = Task.linesOf(task) + (err?.stack ?? '');
      return this.#end(task, 'error', 'release', { error: String(err), output, ...this.#again(task, err) });
    }
  }

  /** Return the fields of a release that say when the task is tried again. */
  #again({ attempts }, err) {
    for (const [kind, when] of this.retry) {
      if (err instanceof kind) return when === null ? { give_up: true } : { delay: typeof when === 'function' ? when(attempts) : when };
    }
    return {};
  }

  /** Return the end of a task as a request tells it. What is no JSON is refused at once. */
  #end(task, what, verb, fields) {
    try {
      return { task, what, text: JSON.stringify({ task: task.id, [verb]: { token: task.token, ...fields } }, strict) };
    } catch (err) {
      return this.#refused(task, what, err);
    }
  }

  /**
   * Return the end of a task whose end was refused, because it is too large, out of range or no JSON: the
   * attempt failed. Else the task would be claimed until its timeout.
   */
  #refused(task, what, err) {
    this.log(`leasehold: ${what} of task ${task.id}: ${err.message}`);
    return this.#end(task, undefined, 'release', { error: `its ${what} was refused: ${err}`.slice(0, 2000) });
  }

  /**
   * Tell how tasks ended, and claim others in the same request, until all is told. A claim that waits does
   * not delay it, because each has a connection. Handlers that return at once end in the same turn of the event
   * loop, and one request tells all of them.
   */
  async #tell() {
    this.#telling = true;
    for (await turn(); this.#ends.length > 0; await turn()) {
      const ends = this.#nextEnds();
      const free = this.#ask();
      this.#start(await this.#next(ends, free), free);
    }
    this.#telling = false;
    this.#changed();
  }

  /** Take as many ends as one request can tell. */
  #nextEnds() {
    let size = 0;
    const over = this.#ends.findIndex(({ text }, n) => n === MOST || (size += text.length) > MOST_TOLD && n > 0);
    return this.#ends.splice(0, over < 0 ? this.#ends.length : over);
  }

  /** Tell ends, and return up to limit further tasks. */
  async #next(ends, limit) {
    try {
      const { answers, tasks } = await this.#report(ends, limit);
      answers.forEach((answer, n) => answer.code && this.#judge(ends[n], refused(200, answer)));
      return tasks;
    } catch (err) {
      if (err instanceof UnavailableError || err instanceof SessionClosedError || !(err instanceof LeaseholdError)) {
        this.log(`leasehold: task ${ends.map(({ task }) => task.id).join(', ')}: ${err.message}`);
      } else if (ends.length > 1) { // one of them is refused, and none is told
        for (const end of ends) await this.#next([end], 0);
      } else {
        this.#judge(ends[0], err);
      }
      return [];
    }
  }

  /** Look at the error with which an end was refused. */
  #judge({ task, what, plain }, err) {
    if (err instanceof StaleClaimError) this.log(`leasehold: task ${task.id} was taken away`);
    else if (plain) this.#ends.push(plain());
    else if (what) this.#ends.push(this.#refused(task, what, err));
    else this.log(`leasehold: task ${task.id}: ${err.message}`);
  }

  /** Tell ends. Repeat that while the coordinator cannot be reached: after a restart the session has the tasks again. */
  async #report(ends, limit) {
    const key = newKey();
    const send = () => this.session.next(ends.map(({ text }) => text), limit, key);
    for (;;) {
      try {
        return await send().catch(async (err) => {
          if (!(err instanceof SessionClosedError)) throw err;
          await this.#reopen();
          return send();
        });
      } catch (err) {
        if (!(err instanceof UnavailableError) || this.#ended.signal.aborted) throw err;
        this.log(`leasehold: task ${ends[0].task.id}: retrying: ${err.message}`);
      }
      await pause(1, this.#ended.signal);
    }
  }

  /** Give handlers time to finish, and hand back the tasks of the others. */
  async #finish() {
    this.#running.forEach((task) => task.drain());
    const end = new AbortController();
    const late = pause(this.drain, end.signal).then(() => true);
    const idle = async () => {
      while (this.#running.size > 0 || this.#telling) await this.#change();
      return false;
    };
    if (await Promise.race([late, idle()])) {
      for (const task of this.#running) {
        // First, because a handler that stops might resolve the task.
        await task.handBack().catch((err) => this.log(`leasehold: task ${task.id}: ${err.message}`));
        task.stop();
      }
    }
    end.abort();
  }
}

/**
 * A coordinator for a program's own tests, in Node, with a folder that is removed at its end. program is
 * the binary; else it is leasehold in the path.
 *
 *     const coordinator = await TestCoordinator.start();
 *     const client = coordinator.client();
 *     await coordinator.stop();
 */
class TestCoordinator {
  #process;
  #folder;

  static async start(program = 'leasehold') {
    const [{ mkdtemp, readFile }, { tmpdir }, { join }, { spawn }] = await Promise.all(
      ['node:fs/promises', 'node:os', 'node:path', 'node:child_process'].map((module) => import(module)),
    );
    const started = new TestCoordinator();
    const folder = await mkdtemp(join(tmpdir(), 'leasehold-'));
    const child = spawn(program, ['coordinator', '--data', folder, '--listen', '127.0.0.1:0', '--http', '127.0.0.1:0'], { stdio: ['ignore', 'ignore', 'pipe'] });
    let printed = '';
    child.stderr.on('data', (text) => { printed = (printed + text).slice(-2000); });
    child.on('error', (err) => { printed = err.message; });
    started.#folder = folder;
    started.#process = child;
    for (const end = now() + 60_000; child.exitCode === null && child.pid && now() < end; await pause(0.02)) {
      try {
        started.url = `http://${JSON.parse(await readFile(join(folder, 'coordinator.json'), 'utf8')).http}`;
        if ((await fetch(`${started.url}/readyz`)).ok) return started;
      } catch (err) {
        if (err.code !== 'ENOENT' && !(err instanceof SyntaxError) && !(err instanceof TypeError)) throw err; // else not yet
      }
    }
    await started.stop();
    throw new Error(`${program} coordinator did not start: ${printed}`);
  }

  client() {
    return new Client(this.url);
  }

  async stop() {
    const child = this.#process;
    if (child.pid && child.exitCode === null) await new Promise((resolve) => { child.once('exit', resolve).kill('SIGTERM'); });
    await (await import('node:fs/promises')).rm(this.#folder, { recursive: true, force: true });
  }
}

module.exports = { LeaseholdError, InvalidError, NotFoundError, ConflictError, StaleClaimError, UnauthenticatedError, ForbiddenError, KeyReusedError, SessionClosedError, TooLargeError, UnavailableError, TimeoutError, GiveUp, HandBack, Client, Session, Task, Worker, TestCoordinator };
