// Two builds in turn, or one build with two versions of Node: the processor time of a request in each.
//   node bench/compare.mjs --base DIR    DIR: another checkout, built (npm run build)
//   node bench/compare.mjs --node DIR    DIR: where another version of Node has its program `node`
//   --pairs N    servers of each build, one after another (5)
//   --rounds N   rounds of each load with each pair (3)   --seconds N   length of one (1)
//   --warm N     seconds of each load before its rounds (6): the engine compiles for that long what a load runs
//   --only a,b   some loads                               --write       add the figures to bench/RESULTS.md
// Every round runs both builds, in changing order, so that what else the machine does meets both. Two processes of the same build
// differ by several percent, as the engine compiles what it happens to see: so there are several pairs. What else a shared machine
// does only adds to the time of a round, never takes from it: the figure of a load is the median of the quietest quarter of its
// rounds, and the ratio that of the two figures. The median of all rounds' ratios stands beside it, and tells how quiet it was.
import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from './figures.mjs';
import { fill, loads, ns } from './loads.mjs';
import { load, must, root, startBare, startPlat } from './tools.mjs';

const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : process.argv[at + 1];
};
const [base, nodeDirectory] = [option('base'), option('node')];
if ((base === undefined) === (nodeDirectory === undefined)) throw new Error('either --base DIR or --node DIR says what to compare with');
const pairs = Number(option('pairs', '5'));
const rounds = Number(option('rounds', '3'));
const seconds = Number(option('seconds', '1'));
const warmSeconds = Number(option('warm', '6'));
const only = option('only')?.split(',');
const chosen = Object.entries(loads).filter(([name]) => only === undefined || only.includes(name));
const figures = new Map(chosen.map(([name]) => [name, { base: [], this: [], bare: [] }]));
for (let pair = 0; pair < pairs; pair++) {
  const builds = [
    { name: 'base', server: await startPlat([], undefined, base) },
    { name: 'this', server: await startPlat([], undefined, root, nodeDirectory) },
  ];
  for (const { server } of builds) await fill(server.address);
  const one = (await must(builds[0].server.address, 'GET', `${ns}/pods/p7`)).body.length;
  const bare = await startBare(builds[0].server.dataDir, one, one);
  load(bare.address, '/small', { seconds: 1 });
  for (const [name, { path, script }] of chosen) {
    for (const { server } of builds) load(server.address, path, { script, seconds: warmSeconds });
    for (let round = 0; round < rounds; round++) {
      const order = (pair + round) % 2 === 0 ? builds : [...builds].reverse();
      for (const { name: build, server } of order)
        figures.get(name)[build].push(load(server.address, path, { script, seconds, pid: server.pid }).cpu.all);
    }
    figures.get(name).bare.push(load(bare.address, '/small', { seconds: 1, pid: bare.pid }).cpu.all);
  }
  for (const { server } of builds) await server.stop();
  await bare.stop();
}
const quietest = (values) => median([...values].sort((a, b) => a - b).slice(0, Math.ceil(values.length / 4)));
const rows = [];
for (const [name, found] of figures) {
  const [quietBase, quietThis] = [quietest(found.base), quietest(found.this)];
  rows.push({
    name,
    base: quietBase,
    this: quietThis,
    bare: median(found.bare),
    ratio: (quietThis / quietBase).toFixed(3),
    ofAllRounds: median(found.this.map((value, i) => value / found.base[i])).toFixed(3),
  });
  const row = rows.at(-1);
  console.log(
    `${name.padEnd(15)} base ${row.base} µs, this ${row.this} µs: ${row.ratio}   (all rounds ${row.ofAllRounds}; bare ${row.bare} µs)`,
  );
}
if (process.argv.includes('--write')) {
  const commit = (cwd) => execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd, encoding: 'utf8' }).trim();
  const versionIn = (directory) => execFileSync(join(directory, 'node'), ['--version'], { encoding: 'utf8' }).trim();
  const [here, there] =
    nodeDirectory === undefined ? [commit(root), commit(base)] : [`${commit(root)} with ${versionIn(nodeDirectory)}`, process.version];
  const lines = [
    `\n## ${here} beside ${there}, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}\n`,
    `Processor time of one request in µs (all threads), median of the quietest quarter of the rounds: ${pairs} pairs of servers with ${rounds} rounds of ${seconds} s each in turn, after ${warmSeconds} s of warm-up; all rounds: the median of their ratios; \`node bench/compare.mjs\`. Bare: a node:https server that sends the bytes of the get, in the same rounds.\n`,
    `| load | ${there} | ${here} | ratio | all rounds | bare |`,
    '|---|---|---|---|---|---|',
    ...rows.map((r) => `| ${r.name} | ${r.base} | ${r.this} | ${r.ratio} | ${r.ofAllRounds} | ${r.bare} |`),
    '',
  ];
  appendFileSync(join(root, 'bench/RESULTS.md'), lines.join('\n'));
}
process.exit(0);
