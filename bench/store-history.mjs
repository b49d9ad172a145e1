/**
 * What history costs a store engine: `node bench/store-history.mjs [lmdb|memory] [versions]`. Processor time of a commit with a note and
 * with rules that keep everything, against one without; memory of the versions; time to read the 1,000 versions of one key.
 * Writes go to a temporary directory under $BENCH_DIR (default: the system's).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLmdbEngine, openMemoryEngine, work } from './engines.mjs';

const [store = 'lmdb', versions = '1000000'] = process.argv.slice(2);
let directories = 0;
const open = (options) =>
  store === 'memory' ? openMemoryEngine(options) : openLmdbEngine({ dataDir: join(work, `data${directories++}`), ...options });
/** Everything is removed again after two seconds where it is to be measured as a whole. */
const policy = (retentionMs) => ({
  id: 'bench',
  ruleOf: () => ({ retentionMs, values: true, mostBytesPerKey: 2 ** 31 }),
  mostBytes: 2 ** 33,
});
const NOTE = Buffer.from(
  '{"u":"system:serviceaccount:default:web","a":"kubectl/v1.24","v":"update","m":"kubectl","i":"0123456789"}'.padEnd(120),
);
const VALUE = Buffer.alloc(1024, 'x');
const KEYS = 1000;
const key = (index) => `/registry/pods/namespace-${index % 50}/pod-${String(index % KEYS).padStart(8, '0')}`;

async function write(engine, count, note) {
  let next = 0;
  const writer = async () => {
    while (next < count) await engine.commit([{ type: 'put', key: key(next++), value: VALUE, ...(note && { note }) }]);
  };
  await Promise.all(Array.from({ length: 32 }, writer));
}

/** Microseconds of processor time for each commit, with the compaction of all of them and the end of their retention. */
async function cost(note, history) {
  const engine = await open({ historyRetentionMs: 1_000, ...(history && { history }) });
  await write(engine, 5_000, note);
  const before = process.cpuUsage();
  await write(engine, 60_000, note);
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  await engine.compact(engine.revision);
  const { user, system } = process.cpuUsage(before);
  await engine.close();
  return (user + system) / 60_000;
}
const median = (figures) => figures.sort((a, b) => a - b)[Math.floor(figures.length / 2)];
const [plain, noted] = [[], []];
for (let round = 0; round < 5; round++) {
  plain.push(await cost(undefined, undefined));
  noted.push(await cost(NOTE, policy(2_000)));
}
const [without, withHistory] = [median(plain), median(noted)];
console.log(
  `${store}: commit of 1 KB ${without.toFixed(1)} µs of processor time, with note and history ${withHistory.toFixed(1)} µs (${((withHistory / without - 1) * 100).toFixed(1)} %)`,
);

const anonymous = () => {
  globalThis.gc?.();
  return Math.round(Number(readFileSync('/proc/self/status', 'utf8').match(/RssAnon:\s+(\d+)/)[1]) / 1024);
};
const engine = await open({ historyRetentionMs: 1_000, history: policy(24 * 3_600_000) });
await write(engine, 20_000, NOTE);
await engine.compact(engine.revision);
const memoryBefore = anonymous();
await write(engine, Number(versions), NOTE);
await engine.compact(engine.revision);
await new Promise((resolve) => setTimeout(resolve, 3_000));
console.log(`${store}: ${versions} versions kept, ${JSON.stringify(await engine.stats())}`);
console.log(`${store}: memory before ${memoryBefore} MB, after ${anonymous()} MB (anonymous)`);
const times = [];
for (let round = 0; round < 20; round++) {
  const start = performance.now();
  const page = await engine.history.versions({ prefix: key(7 * round), exact: true, limit: 1_000 });
  times.push(performance.now() - start);
  if (page.versions.length !== Math.min(1_000, Math.floor(Number(versions) / KEYS) + 20))
    console.log(`only ${page.versions.length} versions`);
}
console.log(`${store}: 1,000 versions of a key in ${median(times).toFixed(1)} ms, slowest ${Math.max(...times).toFixed(1)} ms`);
await engine.close();
