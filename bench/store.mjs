/**
 * How fast the store engines are: `node bench/store.mjs [lmdb|memory] [writers] [value bytes]`.
 * Writes go to a temporary directory under $BENCH_DIR (default: the system's); give one on the disk that matters.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLmdbEngine, openMemoryEngine, work } from './engines.mjs';

const [store = 'lmdb', writers = '32', valueBytes = '600'] = process.argv.slice(2);
const started = performance.now();
const open = (options = {}) =>
  store === 'memory' ? openMemoryEngine(options) : openLmdbEngine({ dataDir: join(work, 'data'), ...options });

const memory = () => {
  const status = readFileSync('/proc/self/status', 'utf8');
  const of = (name) => `${Math.round(Number(status.match(new RegExp(`${name}:\\s+(\\d+)`))[1]) / 1024)} MB`;
  return `rss ${of('VmRSS')} (anonymous ${of('RssAnon')}, file ${of('RssFile')})`;
};
/** Longest time that the event loop was held. */
const stall = () => {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last - 1);
    last = now;
  }, 1);
  return () => {
    clearInterval(timer);
    return `${longest.toFixed(1)} ms`;
  };
};
const key = (index) => `/registry/pods/namespace-${index % 50}/pod-${String(index).padStart(8, '0')}`;

async function commits(title, engine, count, parallel, bytes, operation) {
  const value = Buffer.alloc(bytes, 'x');
  const times = [];
  let next = 0;
  const cpu = process.cpuUsage();
  const longest = stall();
  const start = performance.now();
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      while (next < count) {
        const one = operation(next++, value);
        const before = performance.now();
        await engine.commit([one]);
        times.push(performance.now() - before);
      }
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  times.sort((a, b) => a - b);
  const at = (part) => times[Math.floor(times.length * part)].toFixed(2);
  console.log(
    `${title}: ${Math.round(count / seconds)} commits/s, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, cpu ${((user + system) / 1e6 / seconds).toFixed(2)}, event loop held ${longest()}`,
  );
}

async function timed(title, run) {
  const longest = stall();
  const start = performance.now();
  const result = await run();
  console.log(
    `${title}: ${(performance.now() - start).toFixed(0)} ms, event loop held ${longest()}${result === undefined ? '' : `, ${result}`}`,
  );
}

let engine = await open();
console.log(`${store}: loaded and opened in ${(performance.now() - started).toFixed(0)} ms, idle ${memory()}`);
const put = (index, value) => ({ type: 'put', key: key(index), value });
await commits('create 50,000 of 2.4 KB, 500 writers', engine, 50_000, 500, 2_400, put);
await timed('range over 50,000 of 2.4 KB', async () => `${(await engine.range({ prefix: '/registry/pods/' })).entries.length} entries`);
await timed('page of 500 of 50,000', async () => void (await engine.range({ prefix: '/registry/pods/', limit: 500 })));
const random = (_, value) => put(Math.floor(Math.random() * 50_000), value);
await commits(`update, ${writers} writers, ${valueBytes} B`, engine, 40_000, Number(writers), Number(valueBytes), random);
await commits(`create, ${writers} writers, ${valueBytes} B`, engine, 20_000, Number(writers), Number(valueBytes), (index, value) =>
  put(100_000 + index, value),
);
await commits('update, 1 writer', engine, 2_000, 1, Number(valueBytes), random);
await timed('compact 112,000 revisions', () => engine.compact(engine.revision));
await timed('compact while writing', async () => {
  await commits('  prepare', engine, 20_000, 32, 600, random);
  const compacting = engine.compact(engine.revision);
  await commits('  update during compaction', engine, 20_000, 32, 600, random);
  await compacting;
});
if (store === 'lmdb') {
  console.log(await engine.stats());
  await engine.close();
  await timed('open again', async () => {
    engine = await open();
  });
  console.log(memory());
  await timed('load', async () => `${(await engine.range({ prefix: '' })).entries.length} entries`);
  console.log(memory());
  await engine.close();
  engine = await open({ unsafeNoSync: true });
  await commits(`without fsync: update, ${writers} writers`, engine, 40_000, Number(writers), Number(valueBytes), random);
}
await engine.close();
