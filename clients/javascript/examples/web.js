// A web server whose handler creates tasks: node web.js PORT [URL of the coordinator]. worker.js does them.
//
// curl -d 'so it goes' localhost:8000/counts      {"id":"t1"}
// curl localhost:8000/counts/t1                   {"state":"resolved","result":3}
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Client, LeaseholdError } from 'leasehold';

const [port, url] = process.argv.slice(2);
const client = new Client(url);

async function answer(request) {
  if (request.method === 'POST' && request.url === '/counts') {
    // A browser or a proxy that repeats its request with this header creates one task.
    const key = request.headers['idempotency-key'];
    const { id } = await client.create('count', { text: await text(request) }, {}, key);
    return [202, { id }];
  }
  const [, id] = /^\/counts\/([^/]+)$/.exec(request.url) ?? [];
  if (request.method !== 'GET' || !id) return [404, { error: 'no such page' }];
  const { state, result } = await client.get(decodeURIComponent(id));
  return [200, { state, result }];
}

createServer(async (request, response) => {
  const [status, body] = await answer(request).catch((err) => {
    if (!(err instanceof LeaseholdError)) throw err;
    return [err.status || 503, { error: err.detail }];
  });
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}).listen(+port, '127.0.0.1');
