// Would worker threads pay? One thread beside two worker threads over one lmdb store, in turn: node bench/threads.mjs [options]
//   --rounds N   rounds of each load (6)   --seconds N   length of one (2)   --only a,b   some loads   --write   add to bench/RESULTS.md
// Decision 038 has the rule and what was decided. The load generator takes a core of its own where there is one: on two cores only
// the processor time of a request can be compared, and the rate is an estimate: what both cores would serve at that cost.
import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundledPackages } from '../scripts/workspaces.mjs';
import { median } from './figures.mjs';
import { fill, loads, ns } from './loads.mjs';
import { call, endWithBench, load, must, residentMB, root, startBare, stop, TOKEN, temporary } from './tools.mjs';
import { flag, option } from './typed.mjs';

const rounds = Number(option('rounds', '6'));
const seconds = Number(option('seconds', '2'));
const chosen = option('only', 'get,get from cache,list500,create,merge patch').split(',');
const bundle = join(root, 'node_modules/.cache', `plat-threads-${process.pid}.mjs`);
await build({
  entryPoints: [join(root, 'bench/threads-parts.ts')],
  outfile: bundle,
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  plugins: [bundledPackages],
  logLevel: 'error',
});
process.on('exit', () => rmSync(bundle, { force: true }));

const tokens = temporary('thread-tokens.csv');
writeFileSync(tokens, `${TOKEN},bench,bench-uid,"system:masters"\n`, { mode: 0o600 });
async function start(threads) {
  const dataDir = temporary(`threads-${threads}`);
  const flags = ['--identity=kubernetes', '--secure-port=0', '--controllers=-*', `--data-dir=${dataDir}`, `--token-auth-file=${tokens}`];
  const args = [join(root, 'bench/threads-server.mjs'), bundle, String(threads), ...flags];
  const child = endWithBench(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }));
  let output = '';
  const addresses = await new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const found = /^\[.*\]$/m.exec(output);
      if (found) resolve(JSON.parse(found[0]));
    });
    child.once('exit', () => reject(new Error(`the server ended: ${output}`)));
  });
  await fill(addresses[0]);
  return { threads, addresses, dataDir, pid: child.pid, stop: () => stop(child) };
}

const servers = [await start(0), await start(2)];
await checkVisible(servers[1]);
const bare = await startBare(servers[0].dataDir, (await must(servers[0].addresses[0], 'GET', `${ns}/pods/p7`)).body.length, 1000);
const rows = [];
for (const name of chosen) {
  const { path, script } = loads[name];
  const costs = servers.map(() => []);
  for (let round = -1; round < rounds; round++) {
    for (const [i, server] of round % 2 === 0 ? [...servers.entries()] : [...servers.entries()].reverse()) {
      // The threads take turns: what one of them costs does not depend on how busy the other is.
      const address = server.addresses[Math.abs(round) % server.addresses.length];
      const { cpu } = load(address, path, { script, seconds: round < 0 ? 1 : seconds, pid: server.pid });
      if (round >= 0) costs[i].push(cpu.all);
    }
  }
  const bareCost = load(bare.address, '/small', { seconds: 1, pid: bare.pid }).cpu.all;
  const ratio = median(costs[1].map((cost, i) => cost / costs[0][i]));
  rows.push(`| ${name} | ${median(costs[0])} | ${median(costs[1])} | ${ratio.toFixed(2)} | ${(2 / ratio).toFixed(2)} | ${bareCost} |`);
  console.log(rows.at(-1));
}
const memory = `Memory with the objects of the bench: ${servers.map(({ pid }) => residentMB(pid)).join(' and ')} MB.`;
console.log(memory);
if (flag('write')) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  appendFileSync(
    join(root, 'bench/RESULTS.md'),
    `\n## One thread and two worker threads, lmdb, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${commit}\n\n` +
      `Processor time of a request in µs, all threads, median of ${rounds} rounds of ${seconds} s in turn; \`node bench/threads.mjs\`. Times the requests: how many times the requests two cores would serve at that cost. Bare: node:https with the bytes of a get.\n\n` +
      `| load | one thread | two worker threads | ratio | times the requests | bare |\n|---|---|---|---|---|---|\n${rows.join('\n')}\n\n${memory}\n`,
  );
}
process.exit(0);

/** What is written at one thread is visible to a consistent read at the other at once. */
async function checkVisible({ addresses: [one, other] }) {
  for (let i = 0; i < 200; i++) {
    await must(one, 'POST', `${ns}/configmaps`, { metadata: { name: `seen-${i}` } });
    const { status } = await call(other, 'GET', `${ns}/configmaps/seen-${i}`);
    if (status !== 200) throw new Error(`a write was not visible at the other thread: ${status}`);
  }
}
