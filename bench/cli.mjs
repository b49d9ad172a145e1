// How long a command takes from exec to exit: `node bench/cli.mjs [--rounds 20] [--pods 100] [--kubectl PATH]`.
//
// `plat get pods`, the same as `kubectl` (by a link of that name), and the stock kubectl list the pods of one namespace on the
// same server, in turn, each with the caches that its own earlier runs left. Prints the median of each, in ms, and its spread, and
// the processor time of the program and what it started, which a busy machine changes less.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { inParallel, must, root, samplePod, startPlat, temporary } from './tools.mjs';

const argument = (name, usual) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? usual : process.argv[at + 1];
};
const rounds = Number(argument('rounds', 20));
const pods = Number(argument('pods', 100));
const kubectl = argument('kubectl', '/usr/bin/kubectl');

const dataDir = temporary('cli');
const { address } = await startPlat([], dataDir);
await must(address, 'POST', '/api/v1/namespaces', { metadata: { name: 'cli' } });
await inParallel(pods, 8, (i) => must(address, 'POST', '/api/v1/namespaces/cli/pods', samplePod(`pod-${i}`, 'cli')));

const home = temporary('home');
mkdirSync(home);
const link = join(home, 'kubectl');
symlinkSync(join(root, 'dist', 'plat.js'), link);
const env = { PATH: process.env.PATH, HOME: home, KUBECONFIG: join(dataDir, 'admin.conf') };
const programs = {
  plat: [join(root, 'dist', 'plat.js')],
  'plat as kubectl': [link],
  kubectl: [kubectl],
};

const args = ['get', 'pods', '-n', 'cli'];
const times = Object.fromEntries(Object.keys(programs).map((name) => [name, []]));
const processor = Object.fromEntries(Object.keys(programs).map((name) => [name, []]));

/** The shell knows the processor time of what it ran: the second line of `times`, as 0m0.123s for user and system. */
function processorTime(program) {
  const { stderr } = spawnSync('/bin/sh', ['-c', '"$@" >/dev/null 2>&1; times >&2', 'sh', program, ...args], { env, encoding: 'utf8' });
  const children = stderr.trim().split('\n').at(-1);
  return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1000,
    0,
  );
}
for (let round = -2; round < rounds; round++) {
  for (const [name, [program]] of Object.entries(programs)) {
    const began = performance.now();
    const printed = execFileSync(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const took = performance.now() - began;
    const lines = printed.toString().trimEnd().split('\n').length;
    if (lines !== pods + 1) throw new Error(`${name} printed ${lines} lines`);
    // The first rounds fill the caches.
    if (round >= 0) {
      times[name].push(took);
      processor[name].push(processorTime(program));
    }
  }
}
const at = (all, share) => {
  const sorted = all.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(0);
};
for (const [name, all] of Object.entries(times)) {
  const spread = `quartiles ${at(all, 0.25)} to ${at(all, 0.75)}`;
  console.log(`${name.padEnd(16)} median ${at(all, 0.5)} ms   ${spread}   processor ${at(processor[name], 0.5)} ms   ${rounds} runs`);
}
process.exit();
