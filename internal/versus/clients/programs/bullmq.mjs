import { Queue, Worker } from 'bullmq';

const [what, address, first, second] = process.argv.slice(2);
const at = new URL(address);
const connection = { host: at.hostname, port: +at.port, maxRetriesPerRequest: null };
if (what === 'work') {
  let [begun, ended] = [0, 0];
  new Worker('add', async ({ data }) => {
    if (+second === 0) return console.log(`latency ${performance.timeOrigin + performance.now() - data.n}`);
    if (++begun === 1) console.log('first');
    if (++ended === +second) console.log('last');
    return data.n + 1;
  }, { connection, concurrency: +first });
} else {
  const queue = new Queue('add', { connection });
  if (what === 'create') {
    for (let n = 0; n < +first; n += 500) await queue.addBulk(Array.from({ length: Math.min(500, +first - n) }, (_, i) => ({ name: 'add', data: { n: n + i } })));
  } else {
    for (let n = 0; n < +first; n++) {
      await new Promise((resolve) => { setTimeout(resolve, 50); });
      await queue.add('add', { n: performance.timeOrigin + performance.now() });
    }
  }
  process.exit();
}
