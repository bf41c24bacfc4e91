// A worker: node worker.js [URL of the coordinator]. It ends at SIGTERM or Ctrl-C, after its handlers.
//
// The task report comes from a schedule: leasehold schedule add nightly report --cron '30 3 * * *' --zone Europe/Berlin
import { Client, Worker } from 'leasehold';

const handlers = {
  count: (task) => task.data.text.split(/\s+/).filter(Boolean).length,
  report: async (task) => {
    await task.extend(0.5, 'halfway'); // progress; starts the timeout again
    return `done for ${task.tags.at(-1)}`; // due:TIME
  },
};

// No worker can count what is no text: such a task is dead at once.
const retry = new Map([[TypeError, null]]);
await new Worker(new Client(process.argv[2]), handlers, { concurrency: 4, retry }).run();
