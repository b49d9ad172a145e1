// What encryption at rest costs: node bench/encryption.mjs [--swaps N] [--servers N] [--pairs N] [--batches N] [--only aesgcm,…]
//                                                       [--store lmdb] [--write]
// Creates of a secret of one kilobyte, encrypted and not. Batches of a fixed number take turns, so that what else the machine does
// meets both alike, and only the processor time of the servers counts, from when their code is compiled. There is no target.
// Two processes of the same build differ by up to a tenth for as long as they live (`none` shows it), so:
//   - one server does both: its configuration is changed with every batch, so that the first provider encrypts or is identity.
//     `identity` in the other comparison shows what a server with a configuration costs without a cipher.
//   - with `--pairs`, servers with and without a configuration are compared as well; below a dozen pairs that shows little.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuOf, inParallel, must, root, startPlat, temporary } from './tools.mjs';

const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : process.argv[at + 1];
};
const BATCH = 500;
const WARM_UP = 16;
const WIDTH = 32;
const pairs = Number(option('pairs', '0'));
const swaps = Number(option('swaps', '16'));
const servers = Number(option('servers', '2'));
const batches = Number(option('batches', '12'));
const store = option('store', 'lmdb');
/** `none`: a second plain server, which shows how far two equal ones differ here and now. */
const providers = option('only', 'none,identity,aesgcm,aescbc,secretbox').split(',');
let made = 0;

const secret = (name) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, labels: { app: 'bench' } },
  type: 'Opaque',
  data: text,
});

const entryOf = (provider) =>
  provider === 'identity' ? { identity: {} } : { [provider]: { keys: [{ name: 'bench', secret: randomBytes(32).toString('base64') }] } };
function writeConfiguration(file, providers) {
  const resources = [{ resources: ['secrets'], providers }];
  const text = JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources });
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return file;
}
const configuration = (provider) => writeConfiguration(temporary(`${provider}.json`), [entryOf(provider)]);

async function prepared(flags) {
  const server = await startPlat(['--store', store, '--controllers=-*', ...flags]);
  await must(server.address, 'POST', '/api/v1/namespaces', { metadata: { name: 'bench' } });
  return server;
}

const text = { password: randomBytes(96).toString('base64'), certificate: randomBytes(480).toString('base64') };

/** Processor time of a batch in µs. */
async function creates({ address, pid }, count = BATCH) {
  const before = cpuOf(pid).all;
  await inParallel(count, WIDTH, () => must(address, 'POST', '/api/v1/namespaces/bench/secrets', secret(`s${made++}`)));
  const spent = cpuOf(pid).all - before;
  await must(address, 'DELETE', '/api/v1/namespaces/bench/secrets');
  return spent;
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const sum = (figures) => figures.reduce((a, b) => a + b, 0);
const median = (figures) => [...figures].sort((a, b) => a - b)[Math.floor(figures.length / 2)];

execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
const lines = [];
const each = (figures) => Math.round(sum(figures) / figures.length);
for (const provider of providers) {
  if (swaps > 0 && provider !== 'none' && provider !== 'identity') {
    const cpu = { plain: [], encrypted: [] };
    for (let server = 0; server < servers; server++) await measureInOne(provider, cpu);
    report(provider, cpu, `${servers} servers that did both`);
  }
  if (pairs > 0) {
    const cpu = { plain: [], encrypted: [] };
    for (let pair = 0; pair < pairs; pair++) await measure(provider, cpu);
    report(provider, cpu, `${pairs} pairs of servers`);
  }
}

function report(provider, cpu, where) {
  lines.push(
    `create secret, ${provider}: ${each(cpu.encrypted)} µs of CPU, plain ${each(cpu.plain)} µs: ${(sum(cpu.encrypted) / sum(cpu.plain)).toFixed(3)} over ` +
      `${cpu.plain.length * BATCH} creates of each on ${where}, ${median(cpu.encrypted.map((figure, i) => figure / cpu.plain[i])).toFixed(3)} in the median of the batches`,
  );
  console.log(lines.at(-1));
}

/** One server whose configuration changes: processor time of each batch, for each create. */
async function measureInOne(provider, cpu) {
  const [encrypting, identity] = [entryOf(provider), entryOf('identity')];
  const orders = { plain: [identity, encrypting], encrypted: [encrypting, identity] };
  const file = writeConfiguration(temporary(`${provider}-swapped.json`), orders.encrypted);
  const server = await prepared([`--encryption-provider-config=${file}`]);
  const reloads = () => server.output().split('encryption configuration reloaded').length;
  let current = 'encrypted';
  for (let batch = 0; batch < WARM_UP; batch++) await creates(server);
  for (let swap = 0; swap < swaps; swap++) {
    for (const name of swap % 2 === 0 ? ['plain', 'encrypted'] : ['encrypted', 'plain']) {
      if (name !== current) {
        const before = reloads();
        writeConfiguration(file, orders[name]);
        for (let waits = 0; reloads() === before; waits++) {
          if (waits > 1_000) throw new Error(`the configuration was not reloaded: ${server.output().slice(-2_000)}`);
          await sleep(20);
        }
        current = name;
        // Code of the new provider is compiled.
        await creates(server, BATCH / 2);
      }
      cpu[name].push((await creates(server)) / BATCH);
    }
  }
  await server.stop();
}
/** One pair of servers: processor time of each batch, for each create. */
async function measure(provider, cpu) {
  const plain = await prepared([]);
  const encrypted = await prepared(provider === 'none' ? [] : [`--encryption-provider-config=${configuration(provider)}`]);
  for (let batch = -WARM_UP; batch < batches; batch++) {
    for (const [name, server] of batch % 2 === 0 ? Object.entries({ plain, encrypted }) : Object.entries({ encrypted, plain })) {
      const spent = await creates(server);
      if (batch >= 0) cpu[name].push(spent / BATCH);
    }
  }
  await plain.stop();
  await encrypted.stop();
}
if (process.argv.includes('--write')) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const title = `\n## Encryption at rest, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${store}, ${commit}\n`;
  appendFileSync(join(root, 'bench/RESULTS.md'), `${[title, ...lines.map((line) => `- ${line}`)].join('\n')}\n`);
}
