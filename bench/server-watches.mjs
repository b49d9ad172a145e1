// Watches at several servers of the same writes: each watch must get each of them.
import https from 'node:https';
import { inParallel, must, TOKEN } from './tools.mjs';

const NEWLINE = 0x0a;
const WRITERS = 4;
/** Longest wait for deliveries after the last write. */
const WAIT_MS = 60_000;

/** Opens `watchers` watches at each server, writes `events` secrets at one server after another and waits for all deliveries.
 * `during` is called while the watches are open. */
export async function fanOutAtServers(servers, ns, { watchers, events, prefix, during }) {
  const { metadata } = JSON.parse((await must(servers[0].address, 'GET', `${ns}/secrets?limit=1`)).body);
  const agent = new https.Agent({ rejectUnauthorized: false });
  const expected = servers.length * watchers * events;
  let received = 0;
  let complete = (_value) => {};
  const open = ({ address }) =>
    new Promise((resolve, reject) => {
      const path = `${address}${ns}/secrets?watch=1&resourceVersion=${metadata.resourceVersion}`;
      const request = https.request(path, { agent, headers: { authorization: `Bearer ${TOKEN}` } });
      request.on('response', (response) => {
        response.on('data', (chunk) => {
          for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) received++;
          if (received >= expected) complete(undefined);
        });
        response.on('error', () => {});
        resolve(request);
      });
      request.on('error', reject);
      request.end();
    });
  const requests = await Promise.all(servers.flatMap((server) => Array.from({ length: watchers }, () => open(server))));
  const all = new Promise((resolve) => {
    complete = resolve;
    if (expected === 0) resolve(undefined);
  });
  await inParallel(events, WRITERS, async (i) => {
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: `${prefix}${i}` }, stringData: { a: 'x'.repeat(400) } };
    await must(servers[i % servers.length].address, 'POST', `${ns}/secrets`, body);
  });
  await Promise.race([all, new Promise((resolve) => setTimeout(resolve, WAIT_MS).unref())]);
  const counted = await during();
  for (const request of requests) {
    request.on('error', () => {});
    request.destroy();
  }
  return { missing: expected - received, counted };
}
