// A server whose requests are served by worker threads: the prototype of decision 038, for bench/threads.mjs only.
//   node bench/threads-server.mjs BUNDLE THREADS FLAGS-OF-THE-SERVER
// The main thread alone has the store open. Each worker thread runs a whole server on an engine that relays to it; the newest revision
// is in shared memory, so that a consistent read sends no message. With 0 threads the main thread runs the server itself.
// Node cannot hand a connection to a worker thread, so each listens on a port of its own: one JSON line tells the addresses.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

if (isMainThread) await main(process.argv[2], Number(process.argv[3]), process.argv.slice(4));
else await serveInThread(workerData);

async function main(bundle, threads, flags) {
  const { composeServer, openEngine, parseServerFlags } = await import(bundle);
  if (threads === 0) {
    const { listening } = await composeServer(parseServerFlags(flags), {}, true);
    console.log(JSON.stringify([listening.address]));
    return;
  }
  const addresses = [];
  let engine;
  const newest = new Float64Array(new SharedArrayBuffer(8));
  const open = async (options) => {
    engine ??= await openEngine(options);
    return engine;
  };
  for (let i = 0; i < threads; i++) {
    const worker = new Worker(new URL(import.meta.url), { workerData: { bundle, flags, newest: newest.buffer } });
    addresses.push(await new Promise((resolve, reject) => relay(worker, open, newest, resolve, reject)));
  }
  console.log(JSON.stringify(addresses));
}

/** Answers the calls of a worker thread. */
function relay(worker, open, newest, listening, failed) {
  const subscriptions = new Map();
  worker.on('error', failed);
  worker.on('message', async ({ id, method, args }) => {
    try {
      if (method === 'listening') return listening(args[0]);
      const engine = await open(method === 'open' ? args[0] : undefined);
      if (method === 'open') {
        worker.postMessage({ id, value: { name: engine.name, mark: engine.mark, revision: engine.revision, compacted: engine.compacted } });
      } else if (method === 'subscribe') {
        const [subscription, after] = args;
        const deliver = (changes, revision) => {
          newest[0] = Math.max(newest[0], engine.revision);
          worker.postMessage({ subscription, changes, revision, compacted: engine.compacted });
        };
        const gone = (error) => worker.postMessage({ subscription, failed: packed(error) });
        subscriptions.set(subscription, engine.subscribe(after, deliver, gone));
        worker.postMessage({ id });
      } else if (method === 'unsubscribe') {
        subscriptions.get(args[0])?.();
      } else {
        const value = await engine[method](...args);
        newest[0] = Math.max(newest[0], engine.revision);
        worker.postMessage({ id, value: method === 'hold' ? { revision: value.revision } : value });
      }
    } catch (error) {
      worker.postMessage({ id, error: packed(error) });
    }
  });
}
const packed = (error) => ({ name: error.name, message: error.message, key: error.key, oldest: error.oldest, current: error.current });

async function serveInThread({ bundle, flags, newest }) {
  const parts = await import(bundle);
  const { listening } = await parts.composeServer(
    parts.parseServerFlags(flags),
    { openStore: (options) => relayedEngine(parts, options, new Float64Array(newest)) },
    true,
  );
  parentPort.postMessage({ method: 'listening', args: [listening.address] });
}

async function relayedEngine(parts, options, newest) {
  const { clock, random, notice, checked, freeBytes, ...plain } = options;
  let calls = 0;
  const waiting = new Map();
  const subscriptions = new Map();
  const ask = (method, ...args) =>
    new Promise((resolve, reject) => {
      waiting.set(++calls, { resolve, reject });
      parentPort.postMessage({ id: calls, method, args });
    });
  const state = { revision: 0, compacted: 0 };
  parentPort.on('message', ({ id, value, error, subscription, changes, revision, compacted, failed }) => {
    if (subscription !== undefined) {
      const found = subscriptions.get(subscription);
      if (failed !== undefined) return found?.failed(unpacked(parts, failed));
      Object.assign(state, { revision: Math.max(state.revision, revision), compacted });
      return found?.deliver(changes.map(withBuffer), revision);
    }
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) resolve(value);
    else reject(unpacked(parts, error));
  });
  const { name, mark, ...first } = await ask('open', plain);
  Object.assign(state, first);
  return {
    name,
    mark,
    exclusive: false,
    get revision() {
      return state.revision;
    },
    get compacted() {
      return state.compacted;
    },
    currentRevision: async () => Math.max(newest[0], state.revision),
    get: async (...args) => {
      const entry = await ask('get', ...args);
      return entry && withBuffer(entry);
    },
    range: async (...args) => {
      const result = await ask('range', ...args);
      return { ...result, entries: result.entries.map(withBuffer) };
    },
    commit: (operations) => ask('commit', operations),
    changes: async (...args) => (await ask('changes', ...args)).map(withBuffer),
    subscribe(after, deliver, failed) {
      const subscription = ++calls;
      subscriptions.set(subscription, { deliver, failed });
      ask('subscribe', subscription, after).catch(failed);
      return () => {
        subscriptions.delete(subscription);
        parentPort.postMessage({ method: 'unsubscribe', args: [subscription] });
      };
    },
    compact: (revision) => ask('compact', revision),
    hold: async (milliseconds) => ({ ...(await ask('hold', milliseconds)), release: async () => {} }),
    skipTo: (revision) => ask('skipTo', revision),
    ping: () => ask('ping'),
    stats: () => ask('stats'),
    close: async () => {},
  };
}
/** A Buffer arrives as a plain array of bytes. */
function withBuffer(entry) {
  const { value } = entry;
  return value === undefined ? entry : { ...entry, value: Buffer.from(value.buffer, value.byteOffset, value.byteLength) };
}
function unpacked(parts, { name, message, key, oldest, current }) {
  if (name === 'CommitConflict') return new parts.CommitConflict(key);
  if (name === 'Compacted') return new parts.Compacted(oldest);
  if (name === 'FutureRevision') return new parts.FutureRevision(current);
  return new parts.StoreUnavailable(message);
}
