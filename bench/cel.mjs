// What expressions cost: node bench/cel.mjs [--packages DIR]
//   1. compiling and evaluating usual rules;
//   2. the time of a unit: processor time of expressions that use up a budget, the slowest per unit last.
// DIR has @marcbachmann/cel-js and @bufbuild/cel under node_modules, which are measured beside it.

import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';
import { root } from './tools.mjs';

const directory = mkdtempSync(join(tmpdir(), 'plat-cel-'));
process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
const file = join(directory, 'cel.mjs');
buildSync({
  entryPoints: [join(root, 'packages/cel/src/index.ts')],
  bundle: true,
  conditions: ['source'],
  platform: 'node',
  format: 'esm',
  outfile: file,
  logLevel: 'error',
});
const { BOOL, compile, CostBudget, INT, listOf, mapOf, objectOf, STRING, stringOf } = await import(pathToFileURL(file).href);

const types = {
  self: objectOf('Self', {
    replicas: INT,
    minReplicas: INT,
    name: stringOf(63),
    labels: mapOf(STRING, STRING),
    ports: listOf(objectOf('Port', { name: STRING, port: INT })),
    list: listOf(STRING),
    free: STRING,
    n: INT,
  }),
};
const self = {
  replicas: 3,
  minReplicas: 1,
  name: 'web-frontend-0',
  labels: { app: 'web', tier: 'front' },
  ports: [
    { name: 'http', port: 80 },
    { name: 'https', port: 443 },
  ],
  list: Array.from({ length: 1000 }, (_, i) => `item-${i}`),
  free: 'ab'.repeat(5000),
  n: 5,
};
const rules = [
  'self.replicas <= 10',
  'self.minReplicas <= self.replicas',
  "self.name.startsWith('web') && size(self.name) < 64",
  "self.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
  "self.ports.all(p, p.port > 0 && p.port < 65536 && p.name != '')",
];

/** The least time of a call in nanoseconds, of rounds of some milliseconds. */
function time(call) {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 30; round++) {
    let count = 0;
    const begin = process.cpuUsage();
    let spent = 0;
    do {
      for (let i = 0; i < 100; i++) call();
      count += 100;
      spent = process.cpuUsage(begin).user * 1000;
    } while (spent < 3_000_000);
    best = Math.min(best, spent / count);
  }
  return best;
}

const others = await packages();
console.log(`rule | compile µs | evaluate ns${others.map(({ name }) => ` | ${name} ns`).join('')}`);
for (const rule of rules) {
  const program = compile(rule, types, { result: BOOL });
  const budget = new CostBudget(1e15);
  const own = [time(() => compile(rule, types, { result: BOOL })) / 1000, time(() => program.evaluate({ self }, budget))];
  const rest = others.map(({ prepare }) => {
    try {
      return Math.round(time(prepare(rule)));
    } catch (error) {
      return error.message.split('\n')[0];
    }
  });
  console.log([rule, own[0].toFixed(1), Math.round(own[1]), ...rest].join(' | '));
}

const doubling = (first, count) =>
  `${Array.from({ length: count }, (_, i) => `cel.bind(t${i}, ${i === 0 ? first : `t${i - 1} + t${i - 1}`}, `).join('')}size(t${count - 1}) > 0${')'.repeat(count)}`;
const attacks = [
  'self.list.all(a, self.list.all(b, self.list.all(c, a + b != c)))',
  'self.list.all(a, self.list.all(b, self.list.all(c, true)))',
  'self.list.all(a, self.list.all(b, 1 / (self.n - 5) == 1 || true))',
  doubling('self.free', 30),
  doubling('self.list', 40),
  "self.list.all(x, self.free.replace('a', x).size() > 0)",
  "self.list.all(x, self.free.split('').size() > 0)",
  "self.list.all(x, self.free.matches('(a|b)*a(a|b){900}c'))",
  "self.list.all(x, self.free.matches('(a|b)*a(a|b){900}c' + x))",
  "self.list.all(x, self.free.findAll('a.*c|a').size() > 0)",
  'self.list.all(x, self.list.all(y, !isQuantity(x)))',
  'self.list.all(x, self.list.all(y, isURL(self.free)))',
  "self.list.all(x, self.list.all(y, timestamp('2024-01-01T00:00:00Z').getHours('Europe/Berlin') == 1))",
  "self.list.all(x, self.list.all(y, timestamp('2024-01-01T00:00:00Z').getHours('Etc/GMT+' + string(self.list.indexOf(x) % 15)) > -1))",
  'self.list.all(x, self.list.all(y, self.list == self.list))',
  `self.list.all(x, self.list.all(y, ${Array(1000).fill('true').join('&&')}))`,
  `self.list.all(x, self.list.all(y, [${Array(1000).fill('x').join()}].size() > 0))`,
  `self.list.all(x, self.list.all(y, {${Array.from({ length: 300 }, (_, i) => `${i}: x`).join()}}.size() > 0))`,
  'self.list.all(x, self.list.distinct().size() > 0)',
  'self.list.all(x, self.list.sort().size() > 0)',
  "self.list.all(x, '%s'.format([self.list]) != '')",
  'self.list.map(x, self.list.map(y, x + y)).size() > 0',
  'self.list.all(x, self.list.join(self.free).size() > 0)',
  "self.list.all(x, self.free.lowerAscii().reverse().trim().contains('zz') || true)",
  "self.list.all(x, self.free.lastIndexOf('zzz') < 0 && self.free.indexOf('zzz') < 0)",
  "self.list.all(x, bytes(self.free).size() > 0 && string(bytes(self.free)) != '')",
  'self.list.all(x, self.list.all(y, dyn(1) + dyn(1) == 2 && dyn(1.0) + dyn(1.0) == 2.0))',
  "self.list.all(x, self.list.all(y, quantity('1e400').add(quantity('1n')).sub(1).compareTo(quantity('0')) > 0))",
  "self.list.all(x, self.list.all(y, cidr('2001:db8::/32').containsIP('2001:db8::1')))",
  "self.list.all(x, url('https://a/?' + self.free.replace('ab', '%ff&')).getQuery().size() >= 0)",
];
const BUDGET = 300_000;
const figures = attacks.map((source) => {
  const program = compile(source, types);
  let best = Number.POSITIVE_INFINITY;
  let used = 0;
  for (let round = 0; round < 5; round++) {
    const budget = new CostBudget(BUDGET);
    const begin = process.cpuUsage();
    try {
      program.evaluate({ self }, budget);
    } catch (error) {
      if (error.name !== 'CostExceeded' && error.name !== 'CelRuntimeError') throw error;
    }
    used = Math.min(BUDGET, BUDGET - budget.remaining);
    best = Math.min(best, process.cpuUsage(begin).user * 1000);
  }
  return { source: source.slice(0, 100), milliseconds: best / 1e6, perUnit: best / used };
});
console.log('\nns of a unit | ms | expression');
for (const { source, milliseconds, perUnit } of figures.sort((a, b) => a.perUnit - b.perUnit))
  console.log(`${perUnit.toFixed(1)} | ${milliseconds.toFixed(1)} | ${source}`);

async function packages() {
  const at = process.argv.indexOf('--packages');
  if (at < 0) return [];
  const require = createRequire(join(process.argv[at + 1], 'package.json'));
  const js = await import(pathToFileURL(require.resolve('@marcbachmann/cel-js')).href);
  const es = await import(pathToFileURL(require.resolve('@bufbuild/cel')).href);
  const ints = (value) =>
    typeof value === 'number'
      ? BigInt(value)
      : Array.isArray(value)
        ? value.map(ints)
        : typeof value === 'object'
          ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, ints(part)]))
          : value;
  const maps = (value) =>
    typeof value === 'number'
      ? BigInt(value)
      : Array.isArray(value)
        ? value.map(maps)
        : typeof value === 'object'
          ? new Map(Object.entries(value).map(([key, part]) => [key, maps(part)]))
          : value;
  return [
    {
      name: '@marcbachmann/cel-js',
      prepare(rule) {
        const run = new js.Environment().registerVariable('self', 'dyn').parse(rule);
        const values = { self: ints(self) };
        run(values);
        return () => run(values);
      },
    },
    {
      name: '@bufbuild/cel',
      prepare(rule) {
        const run = es.plan(es.celEnv(), es.parse(rule));
        const values = { self: maps(self) };
        run(values);
        return () => run(values);
      },
    },
  ];
}
