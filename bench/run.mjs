// npm run bench: loads of every kind against plat and a bare node:https server, in one run and in turn; ratios to
// bench/RESULTS.md with --write. Needs wrk (Debian package wrk). Loopback only.
//   --seconds N   length of each load (5)      --growth N   also fill a server with N pods (50000 with no number)
//   --only a,b    some loads                    --write      add the figures to bench/RESULTS.md
//   --profile DIR a CPU profile of each server   BENCH_NODE_FLAGS, BENCH_SERVER_FLAGS: flags for a comparison
import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fanOut, told } from './fan-out.mjs';
import { growth } from './growth.mjs';
import { fill, loads, ns } from './loads.mjs';
import { load, must, residentMB, root, startBare, startPlat } from './tools.mjs';

const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : process.argv[at + 1];
};
const seconds = Number(option('seconds', '5'));
const only = option('only')?.split(',');
execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
const plat = await startPlat(process.env.BENCH_SERVER_FLAGS?.split(' ') ?? []);
const idleMB = residentMB(plat.pid);
const { address } = plat;
await fill(address);
const one = (await must(address, 'GET', `${ns}/pods/p7`)).body.length;
const many = (await must(address, 'GET', `${ns}/pods`)).body.length;
const bare = await startBare(plat.dataDir, one, many);

const rows = [];
const bares = { small: [], large: [] };
const bareCpu = { small: [], large: [] };
const yardstick = (which) => {
  const { rate, cpu } = load(bare.address, `/${which}`, { seconds: Math.max(2, Math.ceil(seconds / 2)), pid: bare.pid });
  bares[which].push(rate);
  bareCpu[which].push(cpu.all);
  return rate;
};
for (const [name, { path, script, bare: which }] of Object.entries(loads)) {
  if (only !== undefined && !only.includes(name)) continue;
  // The bare server before and after: the machine's own speed wanders.
  const before = yardstick(which);
  const result = load(address, path, { script, seconds, pid: plat.pid });
  const after = yardstick(which);
  const ratio = result.rate / ((before + after) / 2);
  rows.push({ name, ...result, bare: Math.round((before + after) / 2), ratio: +ratio.toFixed(3) });
  console.log(
    `${name.padEnd(14)} ${String(result.rate).padStart(7)}/s  p50 ${result.p50} ms  p99 ${result.p99} ms  failed ${result.failed}  CPU ${result.cpu.all} µs (main thread ${result.cpu.main})  ${ratio.toFixed(2)} of bare`,
  );
}
const fan = only === undefined || only.includes('watch') ? await fanOut(plat, ns) : undefined;
if (fan) console.log(`watch          ${told(fan)}`);
const endMB = residentMB(plat.pid);
await bare.stop();
await plat.stop();
const again = await startPlat([], plat.dataDir);
console.log(
  `ready after ${plat.readyMs} ms on the first start, ${again.readyMs} ms on the second; ${idleMB} MB idle, ${endMB} MB at the end`,
);
await again.stop();
const grown = process.argv.includes('--growth') ? await growth(Number(option('growth', '50000')) || 50_000) : undefined;
if (grown) console.log(grown);

if (process.argv.includes('--write')) {
  const lines = [
    `\n## ${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores, Node ${process.version}, ${execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim()}\n`,
    `Bare node:https in the same run: ${range(bares.small)}/s with ${one} bytes, ${range(bares.large)}/s with ${many} bytes; it takes ${range(bareCpu.small)} and ${range(bareCpu.large)} µs of CPU for one. 32 connections, ${seconds} s each, store lmdb with durable commits.\n`,
    '| load | per second | p50 ms | p99 ms | failed | CPU µs | of which main thread | of bare |',
    '|---|---|---|---|---|---|---|---|',
    ...rows.map((r) => `| ${r.name} | ${r.rate} | ${r.p50} | ${r.p99} | ${r.failed} | ${r.cpu.all} | ${r.cpu.main} | ${r.ratio} |`),
    '',
    ...(fan ? [`Watch: ${told(fan)}.\n`] : []),
    `Ready ${plat.readyMs} ms after a first start, ${again.readyMs} ms after a second. Resident ${idleMB} MB idle, ${endMB} MB after the loads.`,
    ...(grown ? ['', `With ${grown.pods} pods: ${JSON.stringify(grown)}`] : []),
    '',
  ];
  appendFileSync(join(root, 'bench/RESULTS.md'), lines.join('\n'));
}
process.exit(0);

function range(values) {
  return values.length === 0 ? 'not measured' : `${Math.min(...values)}–${Math.max(...values)}`;
}
