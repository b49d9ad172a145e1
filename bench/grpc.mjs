// What a call to etcd costs this process: node bench/grpc.mjs [--rounds N] [--calls N]
// The same calls through the gRPC client of this product and through @grpc/grpc-js, to one etcd. Batches of both take turns, so that
// what else the machine does meets both alike; only the processor time of this process counts. The median of the rounds is printed.
//
// Decision 036 keeps the own client while it saves at least 15 % of the processor time of a headline row. A create makes one
// transaction: compare what is saved there with the processor time of `create` by `npm run bench -- --stores etcd`, on a quiet machine.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { build } from 'esbuild';
import { bundledPackages } from '../scripts/workspaces.mjs';
import { startEtcd } from './etcd.mjs';
import { inParallel, root } from './tools.mjs';

const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return Number(at < 0 ? fallback : process.argv[at + 1]);
};
const rounds = option('rounds', 12);
const calls = option('calls', 2000);
const WARM_UP = 3;
const TIMEOUT_MS = 10_000;

const directory = mkdtempSync(join(tmpdir(), 'plat-grpc-'));
process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
const file = join(directory, 'grpc.mjs');
await build({
  stdin: {
    contents: `
      export { Channel } from './storage/src/grpc/channel.ts';
      export { systemClock } from './lib/src/clock.ts';
      export { seededRandom } from './lib/src/random.ts';
      export { encodePut, encodeRange, putMethod, rangeMethod } from './storage/src/engines/etcd/messages.ts';
      export { encodeCommit, transaction } from './storage/src/engines/etcd/transactions.ts';
      export { CHANNEL_OPTIONS, METADATA } from './storage/src/engines/etcd/options.ts';`,
    resolveDir: join(root, 'packages'),
    loader: 'ts',
  },
  bundle: true,
  plugins: [bundledPackages],
  platform: 'node',
  format: 'esm',
  outfile: file,
  logLevel: 'error',
});
const source = await import(pathToFileURL(file).href);

const etcd = await startEtcd();
const target = new URL(etcd.endpoint).host;
const same = (bytes) => bytes;

function ownClient() {
  const channel = new source.Channel({
    ...source.CHANNEL_OPTIONS,
    target,
    clock: source.systemClock,
    random: source.seededRandom(1),
    metadata: () => source.METADATA,
  });
  return { call: (path, request) => channel.callWhenReady(path, request, TIMEOUT_MS), close: () => channel.close() };
}
function libraryClient() {
  const client = new Client(target, credentials.createInsecure(), {
    'grpc.enable_retries': 0,
    'grpc.max_receive_message_length': source.CHANNEL_OPTIONS.mostAnswerBytes,
  });
  const metadata = Metadata.fromHttp2Headers(source.METADATA);
  const call = (path, request) =>
    new Promise((resolve, reject) => {
      const deadline = Date.now() + TIMEOUT_MS;
      client.makeUnaryRequest(path, same, same, request, metadata, { deadline }, (error, answer) =>
        error ? reject(error) : resolve(answer),
      );
    });
  return { call, close: () => client.close() };
}

const clients = { own: ownClient(), library: libraryClient() };
let written = 0;
const value = Buffer.alloc(900, 'x');
const range = source.rangeMethod({ root: '' });
const page = source.encodeRange({ key: 'page/', end: 'page0' });
const newest = source.encodeRange({ key: 'page/0', countOnly: true });
/** Each makes one call with a client. */
const kinds = {
  'newest revision': { width: 16, run: (client) => client.call(range.path, newest) },
  'transaction of 900 bytes': { width: 32, run: commit },
  'transaction of 900 bytes, alone': { width: 1, run: commit, share: 0.25 },
  'range of 500 objects': { width: 4, run: (client) => client.call(range.path, page), share: 0.1 },
};
function commit(client) {
  const key = String(written++);
  return client.call(
    source.transaction.path,
    source.encodeCommit('bench/', [{ type: 'put', key, value, expect: 0 }], () => 0n),
  );
}
const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];

await inParallel(500, 16, (i) => clients.own.call(source.putMethod.path, source.encodePut(`page/${i}`, value)));
console.log('| call | at a time | own, µs | grpc-js, µs | saved, µs |\n| --- | --- | --- | --- | --- |');
for (const [name, { width, run, share = 1 }] of Object.entries(kinds)) {
  const count = Math.ceil(calls * share);
  const spent = { own: [], library: [] };
  for (let round = 0; round < WARM_UP + rounds; round++) {
    // Who goes first changes, since the first pays for what the one before left to collect.
    const order = round % 2 === 0 ? ['own', 'library'] : ['library', 'own'];
    for (const client of order) {
      const before = process.cpuUsage();
      await inParallel(count, width, () => run(clients[client]));
      const { user, system } = process.cpuUsage(before);
      if (round >= WARM_UP) spent[client].push((user + system) / count);
    }
  }
  const [own, library] = [median(spent.own), median(spent.library)];
  console.log(`| ${name} | ${width} | ${own.toFixed(0)} | ${library.toFixed(0)} | ${(library - own).toFixed(0)} |`);
}
for (const client of Object.values(clients)) client.close();
await etcd.stop();
process.exit(0);
