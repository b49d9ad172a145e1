// What history costs: node bench/history.mjs [etcd|lmdb|memory] [rounds] [--server]
// With --server: replaces of a config map of 2.4 KB at two servers of the build, one of which keeps history, in turn; only the processor
// time of the servers counts. Without it: two stores in one process, one of which keeps history, take turns with batches of updates of an object of 2.4 KB, each with a note of
// 200 bytes, followed by a subscriber as in a server. Only processor time counts: of this process, and with etcd of etcd as well. Then an
// object with 1,000 versions is read.
import { join } from 'node:path';
import { openEngine, work } from './engines.mjs';
import { startEtcd } from './etcd.mjs';
import { median } from './figures.mjs';
import { cpuOf, inParallel, must, startPlat } from './tools.mjs';

const [store = 'etcd', rounds = '30'] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const BATCH = 1_000;
const WRITERS = 32;
const VERSIONS = 1_000;
const etcd = store === 'etcd' ? await startEtcd() : undefined;
const rule = { retentionMs: 24 * 3_600_000, values: true, mostBytesPerKey: 4 * 1024 * 1024 };
const policy = { ruleOf: () => rule, mostBytes: 256 * 1024 * 1024 };

/** A store with objects, and the revision and creation of each. */
async function prepare(name, history) {
  const access = etcd === undefined ? {} : { etcd: { servers: [etcd.endpoint], prefix: `/${name}` } };
  const engine = await openEngine({ store, dataDir: join(work, name), ...access, ...(history && { history: policy }) });
  engine.subscribe(
    engine.revision,
    () => {},
    () => {},
  );
  const target = { engine, objects: [] };
  return { target, rounds: [], run: () => batch(target), close: () => engine.close() };
}

const value = Buffer.alloc(2_400, 'x');
const note = Buffer.alloc(200, 'n');
async function write({ engine, objects }, index) {
  const key = `/registry/pods/default/pod-${index}`;
  const { revision: expect = 0, created } = objects[index] ?? {};
  const { revision } = await engine.commit([{ type: 'put', key, value, note, expect, ...(created !== undefined && { created }) }]);
  objects[index] = { revision, created: created ?? revision };
}

async function batch(target) {
  const [own, others] = [process.cpuUsage(), etcd === undefined ? 0 : cpuOf(etcd.pid).all];
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let index = writer; index < BATCH; index += WRITERS) await write(target, index);
    }),
  );
  const { user, system } = process.cpuUsage(own);
  const etcdMicros = etcd === undefined ? 0 : cpuOf(etcd.pid).all - others;
  return { own: (user + system) / BATCH, etcd: etcdMicros / BATCH };
}

/** A server, whose batches are replaces through its API. */
async function prepareServer(name, history) {
  const flags = ['--store', store, '--controllers=-*'];
  // The servers of benchmarks have stock names, with which history is kept only where its API is served.
  if (history) flags.push('--runtime-config', 'explain.k8s.io/v1alpha1=true');
  if (etcd !== undefined) flags.push('--etcd-servers', etcd.endpoint, '--etcd-prefix', `/${name}`);
  const server = await startPlat(flags);
  return { target: undefined, rounds: [], run: () => batchOfRequests(server), close: () => server.stop() };
}
const configMaps = '/api/v1/namespaces/default/configmaps';
async function batchOfRequests({ address, pid }) {
  const objects = Array.from({ length: WRITERS }, (_, index) => ({ metadata: { name: `m${index}` }, data: { text: value.toString() } }));
  if (!written.has(pid)) for (const object of objects) await must(address, 'POST', configMaps, object);
  written.add(pid);
  const [own, others] = [cpuOf(pid).all, etcd === undefined ? 0 : cpuOf(etcd.pid).all];
  await inParallel(BATCH, WRITERS, async (index) => {
    const object = objects[index % WRITERS];
    await must(address, 'PUT', `${configMaps}/${object.metadata.name}`, {
      ...object,
      data: { ...object.data, count: `${batches}-${index}` },
    });
  });
  batches++;
  return { own: (cpuOf(pid).all - own) / BATCH, etcd: etcd === undefined ? 0 : (cpuOf(etcd.pid).all - others) / BATCH };
}
const written = new Set();
let batches = 0;

const isServer = process.argv.includes('--server');
const make = isServer ? prepareServer : prepare;
const targets = [await make('without', false), await make('with', true)];
for (let round = -3; round < Number(rounds); round++) {
  for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
    const figures = await target.run();
    if (round >= 0) target.rounds.push(figures);
  }
}
const [without, withHistory] = targets;
const all = (target, of) => target.rounds.map((figures) => figures[of]);
const micros = (target, of) => `${median(all(target, of)).toFixed(1)} (least ${Math.min(...all(target, of)).toFixed(1)})`;
const more = (of) => {
  const ratios = withHistory.rounds.map((figures, round) => figures[of] / without.rounds[round][of]);
  return `${(100 * (median(ratios) - 1)).toFixed(1)} % more`;
};
console.log(
  `${store}, ${isServer ? 'a replace' : 'an update'}: ${micros(without, 'own')} µs of CPU without history, ${micros(withHistory, 'own')} with: ${more('own')}`,
);
if (etcd !== undefined)
  console.log(`etcd itself: ${micros(without, 'etcd')} µs without, ${micros(withHistory, 'etcd')} with: ${more('etcd')}`);

if (withHistory.target !== undefined) await readVersions(withHistory.target);
await Promise.all(targets.map(({ close }) => close()));
await etcd?.stop();
process.exit(0);

/** An object with many versions is read. */
async function readVersions(target) {
  for (let version = 0; version < VERSIONS; version++) await write(target, BATCH);
  const times = [];
  for (let round = 0; round < 10; round++) {
    const start = performance.now();
    const key = `/registry/pods/default/pod-${BATCH}`;
    const { versions } = await target.engine.history.versions({ prefix: key, exact: true, limit: VERSIONS });
    times.push(performance.now() - start);
    if (versions.length !== VERSIONS) throw new Error(`there are ${versions.length} versions, not ${VERSIONS}`);
  }
  const figures = `${median(times).toFixed(0)} ms (least ${Math.min(...times).toFixed(0)})`;
  console.log(`${VERSIONS} versions of an object of ${value.length} bytes: ${figures}`);
}
