// Two builds in turn: the processor time of a request in this checkout beside that in another.
//   node bench/compare.mjs --base DIR    DIR: another checkout, built (npm run build)
//   --rounds N   rounds of each load (7)       --seconds N   length of one (2)
//   --only a,b   some loads                    --write       add the figures to bench/RESULTS.md
// Every round runs both builds, in changing order, so that what else the machine does meets both. The figure of a load is the
// median over the rounds; the ratio is the median of the rounds' ratios.
import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { fill, loads, ns } from './loads.mjs';
import { load, must, root, startBare, startPlat } from './tools.mjs';

const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : process.argv[at + 1];
};
const base = option('base');
if (base === undefined) throw new Error('--base DIR names the checkout to compare with');
const rounds = Number(option('rounds', '7'));
const seconds = Number(option('seconds', '2'));
const only = option('only')?.split(',');
const builds = [
  { name: 'base', server: await startPlat([], undefined, base) },
  { name: 'this', server: await startPlat([], undefined, root) },
];
for (const { server } of builds) await fill(server.address);
const one = (await must(builds[0].server.address, 'GET', `${ns}/pods/p7`)).body.length;
const bare = await startBare(builds[0].server.dataDir, one, one);
const rows = [];
for (const [name, [path, script]] of Object.entries(loads)) {
  if (only !== undefined && !only.includes(name)) continue;
  const figures = { base: [], this: [], bare: [] };
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? builds : [...builds].reverse();
    for (const { name: build, server } of order)
      figures[build].push(load(server.address, path, { script, seconds, pid: server.pid }).cpu.all);
    figures.bare.push(load(bare.address, '/small', { seconds: 1, pid: bare.pid }).cpu.all);
  }
  const ratio = median(figures.this.map((value, i) => value / figures.base[i]));
  rows.push({ name, base: median(figures.base), this: median(figures.this), bare: median(figures.bare), ratio: ratio.toFixed(3) });
  const row = rows.at(-1);
  console.log(`${name.padEnd(15)} base ${row.base} µs, this ${row.this} µs: ${row.ratio}   (bare ${row.bare} µs)`);
}
if (process.argv.includes('--write')) {
  const commit = (cwd) => execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd, encoding: 'utf8' }).trim();
  const lines = [
    `\n## ${commit(root)} beside ${commit(base)}, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}\n`,
    `Processor time of one request in µs (all threads), median of ${rounds} rounds of ${seconds} s in turn; \`node bench/compare.mjs\`. Bare: a node:https server that sends the bytes of the get, in the same rounds.\n`,
    `| load | ${commit(base)} | ${commit(root)} | ratio | bare |`,
    '|---|---|---|---|---|',
    ...rows.map((r) => `| ${r.name} | ${r.base} | ${r.this} | ${r.ratio} | ${r.bare} |`),
    '',
  ];
  appendFileSync(join(root, 'bench/RESULTS.md'), lines.join('\n'));
}
process.exit(0);

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}
