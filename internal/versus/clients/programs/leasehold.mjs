import { Client, Worker } from '../../../../clients/javascript/leasehold.js';

const [what, address, first, second] = process.argv.slice(2);
const client = new Client(address);
if (what === 'create') {
  for (let n = 0; n < +first; n += 500) await client.createAll(Array.from({ length: Math.min(500, +first - n) }, (_, i) => ({ action: 'add', data: n + i })));
} else if (what === 'slowly') {
  for (let n = 0; n < +first; n++) {
    await new Promise((resolve) => { setTimeout(resolve, 50); });
    await client.create('add', performance.timeOrigin + performance.now());
  }
} else {
  let [begun, ended] = [0, 0];
  const add = ({ data }) => {
    if (+second === 0) return console.log(`latency ${performance.timeOrigin + performance.now() - data}`);
    if (++begun === 1) console.log('first');
    if (++ended === +second) console.log('last');
    return data + 1;
  };
  await new Worker(client, { add }, { concurrency: +first }).run();
}
