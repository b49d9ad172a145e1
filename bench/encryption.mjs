// What encryption at rest costs: node bench/encryption.mjs [--seconds N] [--rounds N] [--only aesgcm,…] [--store lmdb] [--write]
// Creates of a secret of one kilobyte on a server that encrypts it and on one that does not, in rounds that take turns, so
// that what else the machine does meets both alike. Processor time is what counts. The goal is 1.15 of the plain create at most.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load, must, root, startPlat, temporary, writing } from './tools.mjs';

const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : process.argv[at + 1];
};
const GOAL = 1.15;
const seconds = Number(option('seconds', '2'));
const rounds = Number(option('rounds', '11'));
const store = option('store', 'lmdb');
const providers = option('only', 'identity,aesgcm,aescbc,secretbox').split(',');
let run = 0;

const secret = (name) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, labels: { app: 'bench' } },
  type: 'Opaque',
  data: { password: randomBytes(96).toString('base64'), certificate: randomBytes(480).toString('base64') },
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

async function creates(server, seconds) {
  const script = writing('POST', '/api/v1/namespaces/bench/secrets', 'application/json', secret('@NAME@'), `"s${run++}"..id.."-"..n`);
  const result = load(server.address, '/', { script, seconds, pid: server.pid });
  if (result.failed > 0) throw new Error(`${result.failed} creates failed`);
  await must(server.address, 'DELETE', '/api/v1/namespaces/bench/secrets');
  await new Promise((resolve) => setTimeout(resolve, 300));
  return result;
}

const sorted = (figures) => [...figures].sort((a, b) => a - b);
const median = (figures) => sorted(figures)[Math.floor(figures.length / 2)];
const quarter = (figures) => median(sorted(figures).slice(0, Math.max(1, Math.ceil(figures.length / 4))));

execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
const lines = [];
let missed = 0;
for (const provider of providers) {
  const plain = await prepared([]);
  const encrypted = await prepared([`--encryption-provider-config=${configuration(provider)}`]);
  const cpu = { plain: [], encrypted: [] };
  // The first round of each is longer: until then the code is compiled.
  for (let round = -1; round < rounds; round++) {
    for (const [name, server] of round % 2 === 0 ? Object.entries({ plain, encrypted }) : Object.entries({ encrypted, plain })) {
      const result = await creates(server, round < 0 ? 3 * seconds : seconds);
      if (round >= 0) cpu[name].push(result.cpu.all);
    }
  }
  const ratios = cpu.encrypted.map((figure, i) => figure / cpu.plain[i]);
  const ratio = median(ratios);
  if (ratio > GOAL) missed++;
  lines.push(
    `create secret, ${provider}: ${median(cpu.encrypted)} µs of CPU, plain ${median(cpu.plain)} µs: ${ratio.toFixed(3)} in the median of ` +
      `${rounds} rounds, ${(quarter(cpu.encrypted) / quarter(cpu.plain)).toFixed(3)} in their quickest quarter`,
  );
  console.log(lines.at(-1));
  await plain.stop();
  await encrypted.stop();
}
if (process.argv.includes('--write')) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const title = `\n## Encryption at rest, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${store}, ${commit}\n`;
  appendFileSync(join(root, 'bench/RESULTS.md'), `${[title, ...lines.map((line) => `- ${line}`)].join('\n')}\n`);
}
process.exit(missed === 0 ? 0 : 1);
