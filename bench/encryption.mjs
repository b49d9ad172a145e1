// What encryption at rest costs: node bench/encryption.mjs [--pairs N] [--batches N] [--only aesgcm,…] [--store lmdb] [--write]
// Creates of a secret of one kilobyte on a server that encrypts it and on one that does not. Batches of a fixed number take
// turns, so that what else the machine does meets both alike, and only the processor time of the servers counts, from when
// their code is compiled. Two processes of the same build differ by up to a tenth for as long as they live (`none` shows it),
// so several pairs of servers are measured, and their sums compared. The goal is 1.15 of the plain create at most.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuOf, inParallel, must, root, startPlat, temporary } from './tools.mjs';

const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : process.argv[at + 1];
};
const GOAL = 1.15;
const BATCH = 500;
const WARM_UP = 16;
const WIDTH = 32;
const pairs = Number(option('pairs', '6'));
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

function configuration(provider) {
  const entry = provider === 'identity' ? {} : { keys: [{ name: 'bench', secret: randomBytes(32).toString('base64') }] };
  const file = temporary(`${provider}.json`);
  const resources = [{ resources: ['secrets'], providers: [{ [provider]: entry }] }];
  writeFileSync(file, JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources }), {
    mode: 0o600,
  });
  return file;
}

async function prepared(flags) {
  const server = await startPlat(['--store', store, '--controllers=-*', ...flags]);
  await must(server.address, 'POST', '/api/v1/namespaces', { metadata: { name: 'bench' } });
  return server;
}

const text = { password: randomBytes(96).toString('base64'), certificate: randomBytes(480).toString('base64') };

/** Processor time of a batch in µs. */
async function creates({ address, pid }) {
  const before = cpuOf(pid).all;
  await inParallel(BATCH, WIDTH, () => must(address, 'POST', '/api/v1/namespaces/bench/secrets', secret(`s${made++}`)));
  const spent = cpuOf(pid).all - before;
  await must(address, 'DELETE', '/api/v1/namespaces/bench/secrets');
  return spent;
}

const sum = (figures) => figures.reduce((a, b) => a + b, 0);
const median = (figures) => [...figures].sort((a, b) => a - b)[Math.floor(figures.length / 2)];

execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
const lines = [];
let missed = 0;
for (const provider of providers) {
  const cpu = { plain: [], encrypted: [] };
  for (let pair = 0; pair < pairs; pair++) await measure(provider, cpu);
  const ratio = sum(cpu.encrypted) / sum(cpu.plain);
  if (ratio > GOAL) missed++;
  const each = (figures) => Math.round(sum(figures) / figures.length);
  lines.push(
    `create secret, ${provider}: ${each(cpu.encrypted)} µs of CPU, plain ${each(cpu.plain)} µs: ${ratio.toFixed(3)} over ${pairs * batches * BATCH} ` +
      `creates of each on ${pairs} pairs of servers, ${median(cpu.encrypted.map((figure, i) => figure / cpu.plain[i])).toFixed(3)} in the median of the batches`,
  );
  console.log(lines.at(-1));
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
process.exit(missed === 0 ? 0 : 1);
