/**
 * Makes a release in `release/`: packages, executables, their checksums, a bill of materials, licences and notes. Nothing is published.
 *
 *   npm run release -- 0.2.0
 *   npm run release -- 0.2.0 --executables DIRECTORY      with those that other machines built
 *   npm run release -- 0.2.0 --platform linux-x64         builds executables of some platforms only; --platform none: of none
 *   npm run release -- 0.2.0 --no-tests                   leaves out the tests: CI has run all of them
 *
 * The same commit gives the same bytes with the same Node, npm and strip. SOURCE_DATE_EPOCH is the time of the release, else that of its commit.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { fetched } from './executables/downloads.mjs';
import { nodeVersion, ownPlatform, platforms } from './executables/platforms.mjs';
import { faultsOf, notesOf, reproducible, timeOf } from './release-parts.mjs';
import { packages } from './workspaces.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const {
  values: options,
  positionals: [version],
} = parseArgs({
  allowPositionals: true,
  options: {
    executables: { type: 'string' },
    platform: { type: 'string', multiple: true, default: ['all'] },
    'no-tests': { type: 'boolean', default: false },
  },
});

/** What holds of a release beyond what its own tests hold: they run with the packed files, or compare pages with data. */
const tests = ['test/dependencies.test.ts', 'test/lockfile.test.ts', 'test/versioning.test.ts', 'test/embedding/packed.test.ts'];

const isWindows = process.platform === 'win32';
const run = (program, ...args) => execFileSync(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], shell: isWindows });
const output = (program, ...args) => execFileSync(program, args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20, shell: isWindows });
const text = (path) => readFileSync(join(root, path), 'utf8');
const packageJson = JSON.parse(text('package.json'));

const faults = faultsOf({
  version,
  status: output('git', 'status', '--porcelain'),
  changelog: text('CHANGELOG.md'),
  versions: new Map([
    ['package.json', packageJson.version],
    ['packages/lib/src/version.ts', /productVersion = '([^']+)'/.exec(text('packages/lib/src/version.ts'))?.[1]],
    ...[...packages].map(([name, { version: own }]) => [`packages/${name}/package.json`, own]),
  ]),
});
if (faults.length > 0) {
  for (const fault of faults) console.error(`release: ${fault}`);
  process.exit(1);
}

const commit = output('git', 'rev-parse', 'HEAD').trim();
const date = timeOf(process.env.SOURCE_DATE_EPOCH ?? output('git', 'log', '-1', '--format=%ct'));
const directory = join(root, 'release');
rmSync(directory, { recursive: true, force: true });
mkdirSync(directory);
const write = (name, content) => writeFileSync(join(directory, name), content);

if (!options['no-tests']) {
  run('npm', 'run', 'check');
  run('npm', 'run', 'build');
  run('npx', 'vitest', 'run', ...tests);
}
pack();
const executables = options.executables ?? builtExecutables();
if (executables !== undefined) addExecutables(executables);
const bom = JSON.parse(output(process.execPath, 'scripts/sbom.mjs'));
write('sbom.cdx.json', `${JSON.stringify(reproducible(bom, { commit, date, nodeVersion }), undefined, 2)}\n`);
write('notes.md', notesOf(text('CHANGELOG.md'), version));
write('SHA256SUMS', checksums());
console.log(text('release/SHA256SUMS'));

/** `prepack` of the packages builds all of them each time. */
function pack() {
  run(process.execPath, 'scripts/build.mjs');
  run(process.execPath, 'scripts/types.mjs');
  run(process.execPath, 'scripts/build-packages.mjs');
  const workspaces = [...packages].filter(([, { private: own }]) => own !== true).map(([name]) => `packages/${name}`);
  for (const place of ['.', ...workspaces])
    run('npm', 'pack', ...(place === '.' ? [] : ['-w', place]), '--ignore-scripts', '--loglevel=error', '--pack-destination', directory);
}

function builtExecutables() {
  if (options.platform.includes('none')) return undefined;
  run(process.execPath, 'scripts/build-executables.mjs', ...options.platform.flatMap((platform) => ['--platform', platform]));
  return join(root, 'executables');
}

/** Windows unpacks no gzip by itself. */
function addExecutables(from) {
  const names = Object.keys(platforms).map((platform) => `plat-${platform}${platform.startsWith('win32') ? '.exe' : ''}`);
  for (const name of readdirSync(from).filter((file) => names.includes(file))) {
    if (name.endsWith('.exe')) copyFileSync(join(from, name), join(directory, name));
    else write(`${name}.gz`, gzipSync(readFileSync(join(from, name))));
  }
  write('licences.txt', licenceTexts());
}

/** Of Node and of what the executables hold of packages. The console has its own list, which `/console/licences.txt` serves. */
function licenceTexts() {
  const { node, integrity } = platforms[ownPlatform];
  const own = [
    ['plat', text('LICENSE')],
    [`Node ${nodeVersion}`, readFileSync(join(fetched(node, nodeVersion, integrity), 'LICENSE'), 'utf8')],
  ];
  const { packages: locked } = JSON.parse(text('package-lock.json'));
  const names = Object.entries(locked)
    .filter(([path, { dev, devOptional, optional, link }]) => path.startsWith('node_modules/') && !(dev || devOptional || optional || link))
    .map(([path]) => path);
  const others = names.sort().flatMap((path) => {
    const file = readdirSync(join(root, path)).find((entry) => /^licen[cs]e/i.test(entry));
    return file === undefined ? [] : [[`${path.slice('node_modules/'.length)} ${locked[path].version}`, text(join(path, file))]];
  });
  const console_ = ['The console', text('dist/console/licences.txt')];
  return [...own, ...others, console_].map(([title, licence]) => `${title}\n\n${licence.trim()}\n`).join(`\n${'-'.repeat(80)}\n\n`);
}

function checksums() {
  const sha256 = (name) =>
    createHash('sha256')
      .update(readFileSync(join(directory, name)))
      .digest('hex');
  return readdirSync(directory)
    .sort()
    .map((name) => `${sha256(name)}  ${name}\n`)
    .join('');
}
