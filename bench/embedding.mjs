/**
 * How long a test waits for its server: a full start, a fork of a snapshot, and a reset; with 20 CRDs and 2,000 objects.
 *
 *   npm run build && node --expose-gc bench/embedding.mjs [rounds]
 *
 * Prints one JSON object: milliseconds (median, lowest and highest of the rounds) and bytes. A fork is measured as a test sees
 * it: from the call to a server that has answered one request. Beside them: a process that is started anew for each test, in memory
 * and without controllers, until it says that it is ready. The bytes of a fork are what the heap and buffers grow by for
 * each of a row of forks that all stay open, after a collection of garbage.
 */
import { startPlat } from './tools.mjs';

const { startTestServer } = await import(new URL('../dist/testing.mjs', import.meta.url).href);

const rounds = Number(process.argv[2] ?? 30);
const [definitions, objects] = [20, 2000];
const WARM_UP = 5;
const OPEN_FORKS = 20;

const schema = (fields) => ({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: fields }, (_, i) => [`field${i}`, { type: 'string', maxLength: 100 }])),
    },
    status: { type: 'object', properties: { phase: { type: 'string' } } },
  },
});
const definition = (i) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things${i}.bench.example` },
  spec: {
    group: 'bench.example',
    scope: 'Namespaced',
    names: { plural: `things${i}`, kind: `Thing${i}` },
    versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: schema(30) } }],
  },
});
const object = (i) => ({
  apiVersion: 'bench.example/v1',
  kind: `Thing${i % definitions}`,
  metadata: { name: `thing-${i}`, labels: { app: `app-${i % 10}` } },
  spec: Object.fromEntries(Array.from({ length: 20 }, (_, f) => [`field${f}`, `value ${i} ${f}`])),
});

async function send(server, method, path, body) {
  const answer = await server.request(method, path, { body });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
  return answer;
}
const pathOf = (i) => `/apis/bench.example/v1/namespaces/default/things${i % definitions}`;

/** What a suite would do before each test without snapshots. */
async function filled() {
  const server = await startTestServer({ identity: 'kubernetes' });
  for (let i = 0; i < definitions; i++)
    await send(server, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition(i));
  await server.snapshot();
  for (let i = 0; i < objects; i++) await send(server, 'POST', pathOf(i), object(i));
  return server;
}

async function timed(count, run, after = (_made) => {}) {
  const took = [];
  for (let i = 0; i < count + WARM_UP; i++) {
    const began = performance.now();
    const made = await run(i);
    if (i >= WARM_UP) took.push(performance.now() - began);
    await after(made);
  }
  took.sort((a, b) => a - b);
  const round = (value) => Math.round(value * 100) / 100;
  return { median: round(took[took.length >> 1]), lowest: round(took[0]), highest: round(took.at(-1)) };
}
const close = (server) => server.close();
const bytes = () => {
  globalThis.gc?.();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
};

const startMs = await timed(
  rounds,
  async () => {
    const server = await startTestServer({ identity: 'kubernetes' });
    await send(server, 'GET', '/api');
    return server;
  },
  close,
);
const opened = [];
for (let i = 0; i < rounds + WARM_UP; i++) opened.push(await startTestServer({ identity: 'kubernetes' }));
const closeMs = await timed(rounds, () => opened.pop().close());
const processMs = await timed(
  5,
  () => startPlat(['--store', 'memory', '--controllers=-*']),
  (server) => server.stop(),
);
const fullMs = await timed(3, filled, close);
const parent = await filled();
const began = performance.now();
const snapshot = await parent.snapshot();
const snapshotMs = Math.round((performance.now() - began) * 100) / 100;
const fork = async (i) => {
  const server = await snapshot.fork();
  await send(server, 'GET', `${pathOf(i)}/thing-${i % definitions}`);
  return server;
};
const forkMs = await timed(rounds, fork, close);
const changed = await snapshot.fork();
const resetMs = await timed(rounds, async (i) => {
  await send(changed, 'POST', pathOf(i), object(objects + i));
  await send(changed, 'DELETE', `${pathOf(i)}/thing-${i}`);
  await changed.reset(snapshot);
});
const before = bytes();
const forks = [];
for (let i = 0; i < OPEN_FORKS; i++) forks.push(await fork(i));
const forkBytes = globalThis.gc === undefined ? undefined : Math.round((bytes() - before) / OPEN_FORKS);
const total = bytes();
await Promise.all([...forks, changed, parent].map(close));
console.log(
  JSON.stringify(
    { rounds, definitions, objects, startMs, closeMs, processMs, fullStartMs: fullMs, snapshotMs, forkMs, resetMs, forkBytes, total },
    null,
    2,
  ),
);
