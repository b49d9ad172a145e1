/**
 * The versions of Node that the README names beside the one that runs the whole suite, from npm's packages of their binaries.
 *
 *   node scripts/node-versions.mjs            makes them available, and prints where each is
 *   node scripts/node-versions.mjs --smoke    and runs, with each, the tests that would notice a difference
 *
 * They are kept outside of the checkout, with the other programs of tests (CONTRIBUTING.md). With `CI=true` a version that cannot be
 * had is a failure, unless test/skipped.json lists this script.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSIONS = ['22.23.3', '24.21.0', '26.10.0'];

/** What each is about: test files that start programs, or use much of Node. */
const smoke = {
  'the program, compiled code': ['test/embedding/package.test.ts', 'test/embedding/program.test.ts'],
  'a server starts, stops and starts again': ['test/server/restart.test.ts'],
  'the kit': ['test/embedding/kit-lifetime.test.ts', 'test/embedding/kit-clients.test.ts'],
  commands: ['test/cli/background.test.ts', 'test/cli/secrets.test.ts', 'test/cli/bad-servers.test.ts'],
  'envtest programs': ['test/envtest/drop-in.test.ts'],
  lmdb: ['packages/storage/src/engines/lmdb.test.ts', 'test/faults/lmdb-durable.test.ts'],
  encryption: ['packages/storage/src/encryption/provider.test.ts', 'test/encryption/stores.test.ts'],
  TLS: ['test/server/tls.test.ts', 'packages/server/src/admission/webhooks/client.test.ts'],
  'HTTP/1.1': ['packages/server/src/http1', 'test/server/connections.test.ts'],
  'HTTP/2': [
    'packages/server/src/connections/http2-requests.test.ts',
    'test/server/abandoned-streams.test.ts',
    'test/server/whole-answers.test.ts',
    'test/server/answer-forms.test.ts',
  ],
  'a watch': ['test/server/watch.test.ts', 'packages/client/src/watch.test.ts'],
  'a backup': ['test/cli/store.test.ts'],
};
/** Only what hangs takes so long. */
const SMOKE_TIMEOUT = 900_000;

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'plat-tests', 'node');
const isWindows = process.platform === 'win32';

function programOf(version) {
  const name = `node-${isWindows ? 'win' : process.platform}-${process.arch}`;
  const directory = join(cache, version);
  const program = join(directory, 'node_modules', name, 'bin', isWindows ? 'node.exe' : 'node');
  if (!existsSync(program)) {
    const quiet = ['--no-save', '--no-package-lock', '--ignore-scripts', '--loglevel=error'];
    const args = ['install', '--prefix', directory, ...quiet, `${name}@${version}`];
    execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'], shell: isWindows });
  }
  const found = execFileSync(program, ['--version'], { encoding: 'utf8' }).trim();
  if (found !== `v${version}`) throw new Error(`${program} is ${found}, not v${version}`);
  return program;
}

/** The program; undefined where there is none, and that is allowed. */
function availableProgram(version) {
  try {
    return programOf(version);
  } catch (error) {
    const isListed = JSON.parse(readFileSync(join(root, 'test/skipped.json'), 'utf8')).some(
      ({ file }) => file === 'scripts/node-versions.mjs',
    );
    if (process.env.CI === 'true' && !isListed) throw error;
    console.error(`Node ${version} cannot be had: ${error.message}`);
    return undefined;
  }
}

function smokePasses(version, program) {
  console.log(`\nNode ${version}: ${Object.keys(smoke).join(', ')}`);
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const env = { ...process.env, PATH: `${dirname(program)}${delimiter}${process.env.PATH}` };
  const options = { cwd: root, env, stdio: 'inherit', timeout: SMOKE_TIMEOUT };
  return spawnSync(program, [vitest, 'run', ...Object.values(smoke).flat()], options).status === 0;
}

// Vitest leaves out what it does not find.
for (const [topic, paths] of Object.entries(smoke)) {
  if (!paths.some((path) => existsSync(join(root, path))))
    throw new Error(`no tests are left of ${topic}: name those that took their place`);
}

const failed = [];
for (const version of VERSIONS) {
  const program = availableProgram(version);
  if (program === undefined) continue;
  console.log(`${version} ${program}`);
  if (process.argv.includes('--smoke') && !smokePasses(version, program)) failed.push(version);
}
if (failed.length > 0) {
  console.error(`the tests failed with Node ${failed.join(', ')}`);
  process.exitCode = 1;
}
