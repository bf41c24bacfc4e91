// What every client must do, in JavaScript. clients/conformance_test.go runs it and describes it.
//
// node conformance.js URL ACTION         calls each verb, and prints the steps that passed
// node conformance.js URL ACTION worker [SLOTS]  works until SIGTERM, as the tasks' data demand
// node conformance.js URL ACTION refused OTHER  is refused by a coordinator that authenticates, and does not
//                                              send a request to OTHER, whose certificate is of another CA
// node conformance.js URL ACTION restart calls verbs once a line comes, while the coordinator is away
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { createInterface } from 'node:readline';
import * as leasehold from './leasehold.js';

const DATA = { n: 1, text: 'é "\n\u{1f980}', list: [1.5, null, true] };

async function refused(kind, status, call) {
  let failed;
  await assert.rejects(call, (err) => (failed = err) instanceof kind);
  assert.equal(failed.status, status);
  assert(failed.code && failed.title && failed.detail, failed);
  return failed;
}

async function verbs(client, admin, action) {
  const made = await client.create(action, DATA, { priority: 5, tags: ['a'] });
  const shown = await client.get(made.id);
  assert.deepEqual([shown.state, shown.data, shown.priority], ['waiting', DATA, 5]);
  console.log('create');

  const keyed = await client.create(action, null, {}, `${action}-key`);
  assert.equal((await client.create(action, null, {}, `${action}-key`)).id, keyed.id);
  await refused(leasehold.KeyReusedError, 409, () => client.create(action, 1, {}, `${action}-key`));
  console.log('key');

  await refused(leasehold.NotFoundError, 404, () => client.get('t999999'));
  assert.match((await refused(leasehold.InvalidError, 400, () => client.create('a b'))).detail, /a b/);
  assert.match((await refused(leasehold.TooLargeError, 413, () => client.create(action, 'x'.repeat(2 << 20)))).detail, /1048576/);
  console.log('errors');

  const session = await client.session({ [action]: 4 }, { name: action });
  const [first, second] = await session.claim({ limit: 2 });
  assert.deepEqual([first.id, first.data, first.attempts], [made.id, DATA, 0]);
  assert.equal(second.id, keyed.id);
  assert.deepEqual(await session.claim(), []);
  assert.deepEqual((await session.heartbeat()).claims.map((c) => c.task).sort(), [first.id, second.id].sort());
  await first.extend();
  await first.extend(0.5, 'half');
  assert.deepEqual((await client.get(first.id)).progress, { fraction: 0.5, text: 'half' });
  const created = await first.resolve({ ok: true }, [{ action: `${action}-next` }]);
  assert.deepEqual(created.map((t) => t.action), [`${action}-next`]);
  const ended = await client.wait(first.id);
  assert.deepEqual([ended.state, ended.result], ['resolved', { ok: true }]);
  await refused(leasehold.StaleClaimError, 409, () => first.resolve());
  assert.equal((await client.wait(first.id, 0)).state, 'resolved');
  await assert.rejects(client.wait(second.id, 0), (err) => err instanceof leasehold.TimeoutError && err.task.state === 'claimed');
  await second.handBack();
  const [again] = await session.claim({ wait: 5 });
  assert.deepEqual([again.id, again.attempts], [second.id, 0]);
  await again.release('not an image', { output: 'line', giveUp: true });
  assert.equal((await client.wait(second.id)).state, 'dead');
  for (let n = 0; n < 2; n++) await admin.requeue(second.id, `${action}-requeue`); // without a key, the second time is refused
  assert.equal((await client.get(second.id)).state, 'waiting');
  for (let n = 0; n < 2; n++) await client.cancel(second.id, 'done with it', `${action}-cancel`);
  await refused(leasehold.NotFoundError, 404, () => client.cancel(second.id));
  console.log('claim');

  const [parent, child] = await client.createAll([{ action, ref: 'p' }, { action, after: ['p'] }]);
  await (await session.claim())[0].resolve([1, 2]);
  const [last] = await session.claim({ wait: 5 });
  assert.deepEqual([last.id, last.parents[0].task, last.parents[0].result], [child.id, parent.id, [1, 2]]);
  await client.cancel(last.id, 'no longer needed');
  assert.equal((await client.wait(last.id)).state, 'cancelled');
  const parents = [];
  for (let n = 0; n < 4; n++) parents.push((await client.create(action)).id);
  const sum = await client.create(action, null, { after: parents });
  for (const task of await session.claim({ limit: 4 })) await task.resolve('r'.repeat(400_000));
  const [large] = await session.claim({ wait: 5 });
  assert.deepEqual([large.id, large.parents.map((p) => p.result.length)], [sum.id, [400_000, 400_000, 400_000, 400_000]]);
  await large.resolve();
  await refused(leasehold.NotFoundError, 404, () => client.parents(sum.id));
  console.log('parents');

  const nameless = await client.session({ [action]: 1 }); // two of one machine must differ
  await client.create(action);
  const [claimed] = await nameless.claim({ wait: 5 });
  assert.equal(claimed.current_claimant, `${hostname()}/${process.pid}`);
  await claimed.resolve();
  await nameless.end();
  console.log('name');

  await select(client, admin, action);
  console.log('selection');

  await session.end();
  await refused(leasehold.SessionClosedError, 404, () => session.heartbeat());
  await session.end();
  console.log('session');
}

async function select(client, admin, action) {
  const kind = `${action}-many`;
  const die = async (number) => {
    const { id } = await client.create(kind);
    await client.createAll(Array(number).fill({ action: kind, tags: ['many'], after: [id] }));
    await client.cancel(id);
  };
  await die(1);
  const seen = await client.count({ state: 'dead', action: kind, tag: 'many', text: 'cancelled' });
  assert.equal(seen.count, 1);
  await die(2);
  const now = (await client.count()).at;
  await refused(leasehold.ConflictError, 409, () => admin.discardSelected({ ...seen, at: now }, { action: kind }));
  assert.equal((await admin.requeueSelected(seen, { action: kind })).refused[0].code, 'conflict'); // its parent cannot come back
  assert.equal((await admin.discardSelected(seen, { state: 'dead', action: kind })).done.length, 1); // the later ones are left
  await client.createAll(Array(1000).fill({ action: kind }));
  await client.createAll(Array(200).fill({ action: kind }));
  const live = await client.count({ action: kind });
  assert.equal(live.count, 1200);
  assert.equal((await client.cancelSelected(live, { action: kind }, 'moved')).done.length, 1200);
  let names;
  do { // they are at most a second old
    names = (await client.actions()).map((a) => a.action);
  } while (!names.includes(action));
  assert.deepEqual(names, [...names].sort());
  assert.deepEqual(await client.leases(), []);
  const attention = await client.attention();
  assert(attention.at && attention.items.every((i) => ['stops_work', 'degrades', 'to_know'].includes(i.severity)));
  const day = await client.history(action, 'day');
  assert.deepEqual([day.action, day.span, day.step_s], [action, 'day', 60]);
  assert.equal((await client.history()).action, undefined);
}

const seen = new Set();
const on = (signal) => new Promise((resolve) => { signal.addEventListener('abort', resolve); });

async function handle(task) {
  switch (task.data.do) {
    case 'double':
      return task.data.n * 2;
    case 'slow': // longer than the session's TTL
      await task.extend(0.5, 'slow');
      await new Promise((resolve) => { setTimeout(resolve, 1600); });
      return 'done';
    case 'wait': // n milliseconds
      await new Promise((resolve) => { setTimeout(resolve, task.data.n); });
      return 'waited';
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
      if (seen.has(task.id)) return 'later';
      seen.add(task.id);
      throw new leasehold.HandBack(0.1);
    case 'finish':
      await on(task.draining);
      return 'finished';
    default:
      await on(task.stopped);
      return 'stuck';
  }
}

async function restart(client, action) {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const [first, second] = [await client.create(action), await client.create(action)];
  console.log('ready');
  await lines.next();
  await client.create(action, null, {}, `${action}-restart`);
  await client.cancel(first.id);
  assert.equal((await client.get(second.id)).state, 'waiting');
  assert.equal((await client.wait(first.id)).state, 'cancelled');
  console.log('restarted');
  await lines.next();
  await assert.rejects(new leasehold.Client('http://127.0.0.1:9999').create(action), (err) => {
    assert(err instanceof leasehold.UnavailableError && err.happened === false, err);
    return err.message.includes('did not happen');
  });
  console.log('told');
}

async function unauthorized(url, other) {
  const wrong = new leasehold.Client(url, { token: 'lht-wrong' });
  assert.match((await refused(leasehold.UnauthenticatedError, 401, () => wrong.create('a'))).detail, /not known/);
  await refused(leasehold.ForbiddenError, 403, () => new leasehold.Client(url).requeue('t1'));
  await refused(leasehold.UnauthenticatedError, 0, () => new leasehold.Client(other).create('a'));
  assert.throws(() => new leasehold.Client('http://192.0.2.1:7412', { token: 't' }), /https/);
  await assert.rejects(new leasehold.Client(url, { ca: 'no-such-file.pem' }).create('a'), /no-such-file/);
  console.log('refused');
}

const [url, action, mode, more] = process.argv.slice(2);
const client = new leasehold.Client(url || undefined);
const retry = new Map([[RangeError, null], [TypeError, 0]]);
if (mode === 'coordinator') {
  const coordinator = await leasehold.TestCoordinator.start();
  console.log((await coordinator.client().create('a')).state);
  await coordinator.stop();
} else if (mode === 'worker') {
  await new leasehold.Worker(client, { [action]: handle }, { concurrency: +(more ?? 2), name: action, ttl: 1, drain: 1, retry }).run();
} else if (mode === 'restart') {
  await restart(client, action);
  process.exit();
} else if (mode === 'refused') {
  await unauthorized(url, more);
} else {
  await verbs(client, new leasehold.Client(url, { token: process.env.ADMIN_TOKEN }), action);
}
