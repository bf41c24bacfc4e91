// Two workers in one process, whose handlers behave badly. badinput.mjs URL ACTION
import { execFileSync } from 'node:child_process';

import * as leasehold from '../javascript/leasehold.js';

function handle(task) {
  const { do: what } = task.data;
  task.log(`${what} in ${task.action}`);
  switch (what) {
    case 'function':
      return () => 1;
    case 'nan':
      return { a: NaN };
    case 'cycle': {
      const cycle = [];
      cycle.push(cycle);
      return cycle;
    }
    case 'bytes':
      return new Uint8Array(1);
    case 'hang': // it does not even look at task.stopped
      return new Promise(() => {});
    case 'exit':
      return process.exit(3);
    case 'fork':
      execFileSync(process.execPath, ['-e', '']);
      return 0;
    default:
      return what;
  }
}

const [url, action] = process.argv.slice(2);
const client = new leasehold.Client(url);
await Promise.all(['-one', '-two'].map((end) => new leasehold.Worker(client, { [action + end]: handle }, { concurrency: 2, ttl: 1, drain: 0.1 }).run()));
