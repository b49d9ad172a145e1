// What validation rules cost: node bench/rules.mjs [--servers N] [--batches N] [--store memory] [--write]
// Creates of a custom object of a kind with five rules, and of a kind that is the same without them, on one server. Batches of a
// fixed number take turns, so that what else the machine does meets both alike, and only the processor time of the server counts,
// from when its code is compiled. The goal is 1.3 of the create without rules at most.
import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuOf, inParallel, must, root, startPlat } from './tools.mjs';

const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : process.argv[at + 1];
};
const GOAL = 1.3;
const BATCH = 500;
const WARM_UP = 8;
const WIDTH = 32;
const servers = Number(option('servers', '3'));
const batches = Number(option('batches', '12'));
const store = option('store', 'lmdb');
const GROUP = 'bench.example.com';
let made = 0;

const rules = [
  { rule: 'self.minReplicas <= self.replicas && self.replicas <= self.maxReplicas', message: 'replicas is between its bounds' },
  { rule: '!has(self.paused) || !self.paused || self.replicas == 0' },
  { rule: "self.image.matches('^[a-z0-9./-]+:[a-z0-9.-]+$')", message: 'image has a tag' },
  { rule: 'self.ports.all(p, p.port > 0 && p.port < 65536)' },
  {
    rule: 'has(self.host) != has(self.gateway)',
    messageExpression: "'give one of host and gateway, replicas are ' + string(self.replicas)",
  },
];
const integer = { type: 'integer' };
const string = { type: 'string', maxLength: 253 };
const definition = (kind, validations) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: `${kind.toLowerCase()}s`, kind },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['replicas', 'minReplicas', 'maxReplicas', 'image', 'ports'],
                properties: {
                  replicas: integer,
                  minReplicas: integer,
                  maxReplicas: integer,
                  paused: { type: 'boolean' },
                  image: string,
                  host: string,
                  gateway: string,
                  ports: {
                    type: 'array',
                    maxItems: 16,
                    items: { type: 'object', required: ['port'], properties: { name: string, port: integer } },
                  },
                },
                ...(validations && { 'x-kubernetes-validations': rules }),
              },
            },
          },
        },
      },
    ],
  },
});
const object = (kind) => ({
  apiVersion: `${GROUP}/v1`,
  kind,
  metadata: { name: `o${made++}`, labels: { app: 'bench' } },
  spec: {
    replicas: 3,
    minReplicas: 1,
    maxReplicas: 9,
    paused: false,
    image: 'registry.example.com/shop/web:1.2.3',
    host: 'shop.example.com',
    ports: [
      { name: 'http', port: 80 },
      { name: 'https', port: 443 },
      { name: 'metrics', port: 9090 },
    ],
  },
});
const path = (kind) => `/apis/${GROUP}/v1/namespaces/bench/${kind.toLowerCase()}s`;

/** Processor time of a batch in µs for each create. */
async function creates({ address, pid }, kind) {
  const before = cpuOf(pid).all;
  await inParallel(BATCH, WIDTH, () => must(address, 'POST', path(kind), object(kind)));
  const spent = cpuOf(pid).all - before;
  await must(address, 'DELETE', path(kind));
  return spent / BATCH;
}

async function established(address, kind) {
  const at = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await must(address, 'POST', at, definition(kind, kind === 'Ruled'));
  for (let i = 0; i < 200; i++) {
    const { status } = JSON.parse((await must(address, 'GET', `${at}/${kind.toLowerCase()}s.${GROUP}`)).body);
    if (status.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True')) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${kind} is not established`);
}

const sum = (figures) => figures.reduce((a, b) => a + b, 0);
const median = (figures) => [...figures].sort((a, b) => a - b)[Math.floor(figures.length / 2)];

execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
const cpu = { Plain: [], Ruled: [] };
for (let i = 0; i < servers; i++) {
  const server = await startPlat(['--store', store, '--controllers=-*', '--feature-gates=CustomResourceValidationExpressions=true']);
  await must(server.address, 'POST', '/api/v1/namespaces', { metadata: { name: 'bench' } });
  for (const kind of Object.keys(cpu)) await established(server.address, kind);
  const refused = await must(server.address, 'POST', path('Ruled'), {
    ...object('Ruled'),
    spec: { ...object('Ruled').spec, replicas: 10 },
  }).then(
    () => false,
    () => true,
  );
  if (!refused) throw new Error('the rules are not enforced');
  for (let batch = -WARM_UP; batch < batches; batch++)
    for (const kind of batch % 2 === 0 ? ['Plain', 'Ruled'] : ['Ruled', 'Plain']) {
      const spent = await creates(server, kind);
      if (batch >= 0) cpu[kind].push(spent);
    }
  await server.stop();
}
const ratio = sum(cpu.Ruled) / sum(cpu.Plain);
const each = (figures) => Math.round(sum(figures) / figures.length);
const line =
  `create with five rules: ${each(cpu.Ruled)} µs of CPU, without ${each(cpu.Plain)} µs: ${ratio.toFixed(3)} over ${servers * batches * BATCH} creates of each, ` +
  `${median(cpu.Ruled.map((figure, i) => figure / cpu.Plain[i])).toFixed(3)} in the median of the batches`;
console.log(line);
if (process.argv.includes('--write')) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const title = `\n## Validation rules, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${store}, ${commit}\n`;
  appendFileSync(join(root, 'bench/RESULTS.md'), `${title}\n- ${line}\n`);
}
process.exit(ratio <= GOAL ? 0 : 1);
