import { Client, Worker, Task, HandBack, TestCoordinator } from 'leasehold';
const client = new Client();
const made = await client.create<string[], number>('count', ['a']);
const n: number | undefined = (await client.wait<string[], number>(made.id, 5)).result;
type Actions = { count: { data: string[]; result: number } };
const worker = new Worker<Actions>(client, { count: (task) => task.data.length }, { concurrency: 2, retry: new Map<any, number | null>([[TypeError, 5], [RangeError, null]]) });
const loose = new Worker(client, { any: (task: Task) => task.data.x });
await worker.run();
// @ts-expect-error the result is a number
new Worker<Actions>(client, { count: (task) => 'x' });
console.log(n, loose, HandBack, TestCoordinator);
