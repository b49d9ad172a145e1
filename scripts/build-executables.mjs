/**
 * Builds executables that need no Node, one file for a platform, with Node's own single executable applications:
 *
 *   npm run build:executables                                     for this machine: executables/plat-linux-x64
 *   npm run build:executables -- --platform linux-arm64           for another one, --platform all for all
 *   npm run build:executables -- --keep-symbols                   without the program strip
 *
 * The Node in them comes from npm's packages of its binaries, by version and hash (executables/platforms.mjs). No compiled code is in
 * them: the engine never writes it the same way twice (decision 057).
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { consoleFiles } from './build-console.mjs';
import { bundledScripts } from './bundled-scripts.mjs';
import { fetched, locked } from './executables/downloads.mjs';
import { nodeVersion, ownPlatform, platforms } from './executables/platforms.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values: options } = parseArgs({
  options: {
    platform: { type: 'string', multiple: true, default: [ownPlatform] },
    'keep-symbols': { type: 'boolean', default: false },
    out: { type: 'string', default: join(root, 'executables') },
  },
});

const cli = 'packages/cli/src';
/** Dependencies are part of the executable, whose native module is not found among packages. */
const whole = { external: [], sourcemap: false };
const program = {
  ...whole,
  input: { plat: `${cli}/main.ts`, etcd: `${cli}/envtest/etcd-program.ts` },
  alias: { 'node-gyp-build-optional-packages': join(root, cli, 'executable/native-module.ts') },
};

/** The parts that are the same for all platforms, as files of a directory. */
async function writeParts(directory) {
  const [start, scripts, page] = await Promise.all([
    bundledScripts({ ...whole, input: { start: `${cli}/executable/start.ts` } }),
    bundledScripts(program),
    consoleFiles(),
  ]);
  if (start.length !== 1) throw new Error('the first module of the executable must be one file');
  const assets = new Map(scripts.map(({ fileName, code }) => [fileName, code]));
  for (const [name, content] of page) assets.set(`console/${name}`, content);
  for (const [name, content] of [...assets, ['start.cjs', start[0].code]]) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
  return [...assets.keys()].sort();
}

function nodeOf(platform) {
  const { node, integrity } = platforms[platform];
  const directory = join(fetched(node, nodeVersion, integrity), 'bin');
  return join(directory, platform.startsWith('win32') ? 'node.exe' : 'node');
}

/** From the installed packages, which the lockfile has verified, or as it says. */
function storeOf(platform) {
  const [scope, name, file] = platforms[platform].store.split('/');
  const installed = join(root, 'node_modules', scope, name, file);
  if (existsSync(installed)) return installed;
  const { version, integrity } = locked(`${scope}/${name}`);
  return join(fetched(`${scope}/${name}`, version, integrity), file);
}

/** Copies a binary without its debug symbols. Those for the loader of the system stay. */
function copyStripped(from, to, platform) {
  copyFileSync(from, to);
  chmodSync(to, 0o755);
  const { strip } = platforms[platform];
  if (strip === undefined || options['keep-symbols']) return;
  try {
    execFileSync(strip, ['--strip-unneeded', to], { stdio: ['ignore', 'ignore', 'inherit'] });
  } catch (error) {
    throw new Error(`${strip} does not work here (${error.message}): install binutils for ${platform}, or pass --keep-symbols`);
  }
}

/** Paths are relative to the directory, because the name of the first module becomes part of the executable. */
function buildFor(platform, names, directory) {
  const output = `plat-${platform}${platform.startsWith('win32') ? '.exe' : ''}`;
  mkdirSync(join(directory, 'native'), { recursive: true });
  copyStripped(nodeOf(platform), join(directory, 'node'), platform);
  copyStripped(storeOf(platform), join(directory, 'native', 'store.node'), platform);
  const settings = {
    main: 'start.cjs',
    output,
    executable: 'node',
    disableExperimentalSEAWarning: true,
    assets: Object.fromEntries([...names, 'native/store.node'].map((name) => [name, name])),
  };
  writeFileSync(join(directory, 'settings.json'), JSON.stringify(settings));
  execFileSync(nodeOf(ownPlatform), ['--build-sea', 'settings.json'], { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
  // What was signed has changed; the system runs nothing that is not signed, if only by nobody in particular.
  if (process.platform === 'darwin') execFileSync('codesign', ['--force', '--sign', '-', output], { cwd: directory });
  chmodSync(join(directory, output), 0o755);
  renameSync(join(directory, output), join(options.out, output));
  console.log(join(options.out, output));
}

const wanted = options.platform.includes('all') ? Object.keys(platforms) : options.platform;
const unknown = [...wanted, ownPlatform].find((platform) => !Object.hasOwn(platforms, platform));
if (unknown !== undefined) throw new Error(`there is no executable for ${unknown}: ${Object.keys(platforms).join(', ')}`);

mkdirSync(options.out, { recursive: true });
const directory = mkdtempSync(join(options.out, '.parts-'));
try {
  const names = await writeParts(directory);
  for (const platform of wanted) buildFor(platform, names, directory);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
