/**
 * The versions of Node that the README names beside the one that runs the whole suite, from npm's packages of their binaries.
 *
 *   node scripts/node-versions.mjs            makes them available, and prints where each is
 *   node scripts/node-versions.mjs --smoke    and runs, with each, the tests that would notice a difference
 *
 * They are kept outside of the checkout, with the other programs of tests (CONTRIBUTING.md).
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSIONS = ['22.23.3', '24.21.0', '26.10.0'];

/** What each is about: test files that start programs, or use much of Node. */
const smoke = {
  'the package, the program, compiled code': ['test/embedding/packed', 'test/embedding/package', 'test/embedding/program'],
  'a server starts, stops and starts again': ['test/server/restart', 'test/embedding/lifetime'],
  'the kit': ['test/embedding/kit-lifetime', 'test/embedding/kit-clients'],
  commands: ['test/cli/background', 'test/cli/secrets', 'test/cli/bad-servers'],
  'envtest programs': ['test/envtest/drop-in'],
  lmdb: ['src/storage/engines/lmdb.test', 'test/faults/lmdb-durable'],
  encryption: ['src/storage/encryption/provider', 'test/encryption/stores'],
  TLS: ['test/server/tls.test', 'src/admission/webhooks/client'],
  'HTTP/1.1': ['src/server/http1', 'test/server/connections'],
  'HTTP/2': ['src/server/http2', 'test/server/abandoned-streams', 'test/server/answer-forms'],
  'a watch': ['test/server/watch.test', 'src/client/watch'],
  'a backup': ['test/cli/store.test', 'src/storage/backup'],
};

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'plat-tests', 'node');

function programOf(version) {
  const name = `node-${process.platform}-${process.arch}`;
  const directory = join(cache, version);
  const program = join(directory, 'node_modules', name, 'bin', 'node');
  if (!existsSync(program)) {
    const quiet = ['--no-save', '--no-package-lock', '--ignore-scripts', '--loglevel=error'];
    execFileSync('npm', ['install', '--prefix', directory, ...quiet, `${name}@${version}`], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  return program;
}

function runSmoke(version, program) {
  console.log(`\nNode ${version}: ${Object.keys(smoke).join(', ')}`);
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const env = { ...process.env, PATH: `${dirname(program)}${delimiter}${process.env.PATH}` };
  return spawnSync(program, [vitest, 'run', ...Object.values(smoke).flat()], { cwd: root, env, stdio: 'inherit' }).status === 0;
}

const failed = [];
for (const version of VERSIONS) {
  const program = programOf(version);
  const found = execFileSync(program, ['--version'], { encoding: 'utf8' }).trim();
  if (found !== `v${version}`) throw new Error(`${program} is ${found}, not v${version}`);
  console.log(`${version} ${program}`);
  if (process.argv.includes('--smoke') && !runSmoke(version, program)) failed.push(version);
}
if (failed.length > 0) {
  console.error(`the tests failed with Node ${failed.join(', ')}`);
  process.exitCode = 1;
}
