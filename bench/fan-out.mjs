// Watch fan-out: many watches of one namespace, objects created by a few writers at once, every watcher must see every one.
// One process reads all watches, so what that costs is reported too: with a core for each, the dearer side is the limit.
import https from 'node:https';
import { cpuOf, inParallel, must } from './tools.mjs';

const NEWLINE = 0x0a;
/** Every so manieth watcher reads what it is sent; the others count lines, which costs them next to nothing. */
const READER_EVERY = 20;
const WRITERS = 8;

/** Runs the load `times` times; answers the run of median rate, with all rates. */
export async function fanOut(server, namespace, { watchers = 200, events = 400, times = 3 } = {}) {
  const runs = [];
  for (let i = 0; i < times; i++) runs.push(await once(server, namespace, watchers, events, `w${i}x`));
  const sorted = runs.toSorted((a, b) => a.perSecond - b.perSecond);
  return { ...sorted[times >> 1], missing: Math.max(...runs.map((run) => run.missing)), rates: runs.map((run) => run.perSecond) };
}

async function once({ address, pids, token }, namespace, watchers, events, prefix) {
  const list = JSON.parse((await must(address, 'GET', `${namespace}/secrets?limit=1`, undefined, { token })).body);
  const path = `${address}${namespace}/secrets?watch=1&resourceVersion=${list.metadata.resourceVersion}`;
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: watchers });
  const sent = new Map();
  const delays = [];
  let got = 0;
  const read = (line) => {
    const name = /"name":"(w\w+)"/.exec(line)?.[1];
    if (line.startsWith('{"type":"ADDED"') && sent.has(name)) delays.push(performance.now() - sent.get(name));
  };
  const open = (_, i) =>
    new Promise((resolve, reject) => {
      const request = https.request(path, { agent, headers: { authorization: `Bearer ${token}` } });
      request.on('response', (response) => {
        const take = i % READER_EVERY === 0 ? lines(read) : () => {};
        response.on('data', (chunk) => {
          for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) got++;
          take(chunk);
        });
        response.on('error', () => {});
        resolve(request);
      });
      request.on('error', reject);
      request.end();
    });
  const requests = await Promise.all(Array.from({ length: watchers }, open));
  const before = { server: cpuOf(pids), client: cpuOf(process.pid) };
  const began = performance.now();
  await inParallel(events, WRITERS, async (i) => {
    sent.set(`${prefix}${i}`, performance.now());
    const metadata = { name: `${prefix}${i}` };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { a: 'x'.repeat(400) } };
    await must(address, 'POST', `${namespace}/secrets`, secret, { token });
  });
  const expected = watchers * events;
  for (const end = performance.now() + 60_000; got < expected && performance.now() < end; )
    await new Promise((resolve) => setTimeout(resolve, 2));
  const elapsed = (performance.now() - began) / 1000;
  const after = { server: cpuOf(pids), client: cpuOf(process.pid) };
  for (const request of requests) {
    request.on('error', () => {});
    request.destroy();
  }
  delays.sort((a, b) => a - b);
  const at = (share) => +(delays[Math.floor(delays.length * share)] ?? 0).toFixed(1);
  const cost = (of, which = 'main') => +((after[of][which] - before[of][which]) / expected).toFixed(2);
  const unread = Math.ceil(watchers / READER_EVERY) * events - delays.length;
  return {
    watchers,
    expected,
    missing: Math.max(expected - got, unread),
    perSecond: Math.round(got / elapsed),
    p50: at(0.5),
    p99: at(0.99),
    serverMicros: cost('server'),
    allMicros: cost('server', 'all'),
    clientMicros: cost('client'),
  };
}

function lines(take) {
  let rest = '';
  return (chunk) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop();
    for (const part of parts) take(part);
  };
}

/** What a fan-out came to, in a sentence. The server's time includes that of creating the objects. */
export function fanOutText(fan) {
  const alone = Math.round(1e6 / fan.serverMicros / 1000) * 1000;
  return `${fan.perSecond} deliveries/s to ${fan.watchers} watchers (${fan.rates.join(', ')}), ${fan.missing} of ${fan.expected} missing, p50 ${fan.p50} ms, p99 ${fan.p99} ms; main thread of the server ${fan.serverMicros} µs a delivery (a core gives ${alone}/s), all threads ${fan.allMicros} µs, main thread of the client ${fan.clientMicros} µs`;
}
