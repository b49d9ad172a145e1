/**
 * What a start of the executable takes beside one of `node dist/plat.js` with the same Node, in turns:
 *
 *   npm run build && npm run build:executables
 *   node bench/executable.mjs executables/plat-linux-x64 /path/to/node26 [ROUNDS]
 *
 * Prints the least and the middle time in ms of `version --client`, of `get` of one object, and of a server on the store lmdb until it is ready.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [executable, node, rounds = '15'] = process.argv.slice(2);
if (node === undefined) throw new Error('usage: node bench/executable.mjs EXECUTABLE NODE [ROUNDS]');
const program = fileURLToPath(new URL('../dist/plat.js', import.meta.url));
const commands = { 'node dist/plat.js': [resolve(node), program], executable: [resolve(executable)] };
const directory = mkdtempSync(join(tmpdir(), 'plat-executable-'));
const { NODE_COMPILE_CACHE: _, ...inherited } = process.env;
const env = { ...inherited, HOME: directory, XDG_CACHE_HOME: join(directory, 'cache'), XDG_STATE_HOME: join(directory, 'state') };

/** Resolves with the time until a server is ready, and what ends it. */
async function started(command, data) {
  const [file, ...first] = command;
  const begin = performance.now();
  const args = [...first, 'server', '--secure-port', '0', '--data-dir', join(directory, data)];
  const child = spawn(file, args, { env, cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((done) => child.once('exit', done));
  let text = '';
  await new Promise((ready) => {
    child.stdout.on('data', (part) => {
      text += part;
      if (text.includes('is ready at')) ready(undefined);
    });
  });
  const millis = performance.now() - begin;
  return { millis, stop: () => child.kill() && ended };
}
const timed = (command, args) => {
  const [file, ...first] = command;
  const begin = performance.now();
  execFileSync(file, [...first, ...args], { env, cwd: directory, stdio: 'ignore' });
  return performance.now() - begin;
};

try {
  const serving = await started(commands.executable, 'serving');
  const config = join(directory, 'serving', 'admin.conf');
  const rows = { 'version --client': ['version', '--client'], 'get namespace': ['get', 'ns', 'default', '--kubeconfig', config] };
  const times = new Map();
  const note = (name, of, millis) => times.set(`${name} | ${of}`, [...(times.get(`${name} | ${of}`) ?? []), millis]);
  for (let round = -1; round < Number(rounds); round++) {
    for (const [of, command] of Object.entries(commands)) {
      for (const [name, args] of Object.entries(rows)) note(name, of, timed(command, args));
      const { millis, stop } = await started(command, `data-${of.length}`);
      await stop();
      note('server, until ready', of, millis);
    }
    // The first round compiles, unpacks and makes keys.
    if (round === -1) times.clear();
  }
  await serving.stop();
  console.log(`executable: ${(statSync(executable).size / 1e6).toFixed(1)} MB`);
  for (const [name, list] of [...times].sort()) {
    const sorted = list.sort((a, b) => a - b);
    console.log(`${name}: least ${Math.round(sorted[0])} ms, middle ${Math.round(sorted[sorted.length >> 1])} ms`);
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
