/**
 * Builds dist/: plat.js (the program), index.* (for embedding) and testing.* (for tests) load a bundle, and with it what was compiled of it.
 *
 *   node scripts/build.mjs            bundles, unless that would change nothing
 *   node scripts/build.mjs --types    also writes type declarations, which only packages need
 *
 * Bundled, because reading hundreds of small files is most of a start; as a script, because only those can be loaded in
 * compiled form (load.cjs). Its modules are run when they are first asked for, as if each were a file of its own.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

/**
 * How Node runs a server (`npm start` says the same). Young objects get more room than Node gives them by itself: most of
 * what a request makes is gone with its answer, and need not be copied before. Commands of a client run without flags: with any
 * of the engine's, Node leaves aside what was compiled of its own modules, and starts a third later.
 * The program sets them back as soon as it runs, which the heap, laid out by then, does not notice: what was compiled without
 * flags is accepted from there on.
 */
const nodeFlags = ['--max-semi-space-size=64'];
/** The same flags at their defaults: 0 stands for the engine's own choice. */
const usualFlags = nodeFlags.map((flag) => flag.replace(/\d+$/, '0'));

const common = {
  absWorkingDir: root,
  outdir: dist,
  outExtension: { '.js': '.cjs' },
  bundle: true,
  write: false,
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  // Names stay readable in stack traces; the rest is made small because it is read at every start.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
};

/**
 * The commands are in three bundles, because reading code takes longer than most of them take: `get`, which people and scripts
 * run most, has one of its own; `cli` has all commands of a client; `bundle` has everything, which commands need that run or read
 * a server.
 */
const serverCommands = {
  server: './server.ts',
  controllers: './controllers.ts',
  check: './check/index.ts',
  convert: './convert/index.ts',
  down: './background/down.ts',
  envtest: './envtest/index.ts',
  list: './background/list.ts',
  store: './store/index.ts',
  up: './background/up.ts',
  '__kube-apiserver': './envtest/apiserver.ts',
};
/**
 * How the shell runs the program. Node parses all certificates of NODE_EXTRA_CA_CERTS, and all of its own, before it runs anything:
 * commands of a client get the file by another variable, and read it when they need it (src/client/extra-roots.ts). Addresses
 * among the arguments may be such a need that Node alone can fill. With options of Node about what it trusts (--use-openssl-ca) the
 * certificates are left to it as well: its own roots may not be trusted then. Only a variable of this start counts.
 */
const launch = [
  'unset PLAT_NODE_EXTRA_CA_CERTS;',
  `case "$1" in ${Object.keys(serverCommands).join('|')}) exec node ${nodeFlags.join(' ')} "$0" "$@";; esac;`,
  'case "$NODE_EXTRA_CA_CERTS,$NODE_OPTIONS $*" in ,*|*://*|*--use*) ;;',
  '*) PLAT_NODE_EXTRA_CA_CERTS=$NODE_EXTRA_CA_CERTS; export PLAT_NODE_EXTRA_CA_CERTS; unset NODE_EXTRA_CA_CERTS;; esac;',
  'exec node "$0" "$@"',
];

const serverModules = Object.values(serverCommands);
const index = await readFile(join(root, 'src', 'cli', 'index.ts'), 'utf8');
/** The modules of all other commands, as the list of commands imports them. */
const clientModules = [...new Set([...index.matchAll(/\bimport\('(\.\/[^']+)'\)/g)].map(([, path]) => path))].filter(
  (path) => !serverModules.includes(path),
);

const modulesOf = (paths) => `export const modules = {
${paths.map((path) => `  ${JSON.stringify(path)}: () => require(${JSON.stringify(path.replace('./', './src/cli/'))}),`).join('\n')}
};
`;
const program = `
export const program = () => import('./src/cli/plat.ts');
export const commands = () => import('./src/cli/index.ts');
`;

/**
 * Modules that the list of commands takes from other bundles: path → name of the bundle. Schemas of the built-in kinds, which few
 * commands of a client need, are a bundle of their own, too.
 */
const modulesApart = (apart) => ({
  name: 'modules-apart',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\// }, ({ path, importer }) =>
      apart.has(path) && /[\\/]src[\\/]cli[\\/]index\.ts$/.test(importer) ? { path, namespace: 'apart' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'apart' }, ({ path }) => ({
      contents: `module.exports = require('./load.cjs').load(${JSON.stringify(apart.get(path))}).modules[${JSON.stringify(path)}]();`,
    }));
    onResolve({ filter: /[\\/]kind-schemas\.ts$/ }, ({ path }) => ({ path, namespace: 'schemas' }));
    onLoad({ filter: /./, namespace: 'schemas' }, () => ({ contents: "module.exports = require('./load.cjs').load('schemas');" }));
    onResolve({ filter: /^\.\/load\.cjs$/ }, ({ path }) => ({ path, external: true }));
  },
});
/** Modules of Node that few commands need are loaded when a function of them is first used: a script names these as properties. */
const lazyBuiltIns = {
  name: 'lazy-built-ins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:(fs\/promises|child_process|http|https)$/ }, ({ path, namespace }) =>
      namespace === 'lazy' ? { path, external: true } : { path, namespace: 'lazy' },
    );
    onLoad({ filter: /./, namespace: 'lazy' }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter((name) => name !== 'default');
      return { contents: gettersOf(path, names) };
    });
  },
};
const gettersOf = (path, names) => {
  const getter = (name) => `get ${name}() { return require(${JSON.stringify(path)}).${name}; }`;
  return `module.exports = { ${names.map(getter).join(', ')} };`;
};
/** Modules of our own that few runs of a command need: the same. */
const lazyFiles = [
  'src/client/agents.ts',
  'src/cli/get-objects.ts',
  'src/cli/json-path-template.ts',
  'src/cli/live-table.ts',
  'src/kinds/release-texts.ts',
  'src/lib/go-template/index.ts',
  'src/meta/json-path.ts',
  'src/schema/yaml-write.ts',
].map((file) => join(root, file));
const lazyModules = {
  name: 'lazy-modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\.?[\\/].*\.ts$/ }, ({ path, resolveDir, namespace }) => {
      const file = resolve(resolveDir, path);
      return lazyFiles.includes(file) && namespace !== 'lazy-module' ? { path: file, namespace: 'lazy-module' } : undefined;
    });
    onLoad({ filter: /./, namespace: 'lazy-module' }, async ({ path }) => ({
      contents: gettersOf(`./${basename(path)}`, await exportsOf(path)),
      resolveDir: dirname(path),
    }));
  },
};
const fromBundle = serverModules.map((path) => [path, 'bundle']);
/** In the bundle of get these are its own. */
const ownOfGet = ['./get.ts', './global-flags.ts', './stock-flags.ts', './profile.ts', './options.ts'];
const fromCli = clientModules.filter((path) => !ownOfGet.includes(path)).map((path) => [path, 'cli']);

const entries = `
${modulesOf(serverModules)}
${program}
export const clock = () => require('./src/lib/clock.ts').systemClock;
export const library = () => require('./src/index.ts');
export const testing = () => require('./src/testing/index.ts');
export const testingExpect = (globals) => require('./src/testing/runners/expect.ts').expectHelpers(globals);
export const testingNode = () => require('./src/testing/runners/node.ts');
`;

/** What `plat envtest` puts in the place of etcd: a program of its own, which starts without the rest. */
const etcdProgram = `
import { fail, main } from './src/cli/envtest/etcd.ts';
try {
  main(process.argv.slice(2));
} catch (error) {
  fail(error.message);
}
`;

/**
 * Files of their own: descriptions of all kinds and fields, which only the OpenAPI documents need, and what the program was built
 * from, which another commit changes while the bundles stay as they are.
 */
const filesApart = {
  name: 'files-apart',
  setup({ onResolve }) {
    onResolve({ filter: /[\\/]kinds[\\/]descriptions\.ts$/ }, () => ({ path: './descriptions.cjs', external: true }));
    onResolve({ filter: /[\\/]lib[\\/]build-info\.ts$/ }, () => ({ path: './build-info.cjs', external: true }));
  },
};
const buildInfoFile = join(dist, 'build-info.cjs');

/** Nothing is known of sources that are not a git checkout, such as those of an archive. */
function builtFrom() {
  const git = (...args) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    if (!existsSync(join(root, '.git'))) return undefined;
    const [commit, seconds] = git('log', '-1', '--format=%H %ct').split(' ');
    const treeState = git('status', '--porcelain', '--untracked-files=no') === '' ? 'clean' : 'dirty';
    return { commit, treeState, date: new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z') };
  } catch {
    return undefined;
  }
}
const unknownSource = { commit: '', treeState: '', date: '1970-01-01T00:00:00Z' };

/**
 * The database library looks for its binary from where it lies itself, so that it is told the place. The binary is of the same
 * version, since package.json names that exactly. What the library would load to speed up its own encoding is left out.
 */
const database = {
  name: 'lmdb',
  setup({ onResolve, onLoad }) {
    const file = createRequire(import.meta.url).resolve('lmdb');
    onResolve({ filter: /^lmdb$/ }, ({ kind }) => (kind === 'require-resolve' ? { path: 'lmdb', external: true } : { path: file }));
    onLoad({ filter: /[\\/]lmdb[\\/]dist[\\/]index\.cjs$/ }, async () => ({
      contents: `var __filename = require.resolve('lmdb');${await readFile(file, 'utf8')}`,
    }));
    onResolve({ filter: /^msgpackr-extract$/ }, ({ path }) => ({ path, namespace: 'nothing' }));
    onLoad({ filter: /./, namespace: 'nothing' }, () => ({ contents: '' }));
  },
};

/** The files of dist as they should be: path → bytes. */
async function bundle() {
  const [main, client, get, schemas, descriptions, etcd, library, testing, vitest, jest, node, loader] = await Promise.all([
    build({
      ...common,
      stdin: { contents: entries, sourcefile: 'bundle.ts', resolveDir: root },
      entryNames: 'bundle',
      plugins: [filesApart, database],
      // A script has `require` alone to load what is external.
      supported: { 'dynamic-import': false },
    }),
    build({
      ...common,
      stdin: { contents: `${program}${modulesOf(clientModules)}`, sourcefile: 'cli.ts', resolveDir: root },
      entryNames: 'cli',
      plugins: [lazyBuiltIns, lazyModules, modulesApart(new Map(fromBundle)), filesApart, database],
      supported: { 'dynamic-import': false },
    }),
    build({
      ...common,
      stdin: { contents: program, sourcefile: 'get.ts', resolveDir: root },
      entryNames: 'get',
      plugins: [lazyBuiltIns, lazyModules, modulesApart(new Map([...fromBundle, ...fromCli])), filesApart, database],
      supported: { 'dynamic-import': false },
    }),
    build({
      ...common,
      entryPoints: { schemas: 'src/cli/kind-schemas.ts' },
      plugins: [filesApart],
      supported: { 'dynamic-import': false },
    }),
    build({ ...common, entryPoints: { descriptions: 'src/kinds/descriptions.ts' } }),
    build({ ...common, stdin: { contents: etcdProgram, sourcefile: 'etcd.ts', resolveDir: root }, entryNames: 'etcd' }),
    exportsOf('src/index.ts'),
    exportsOf('src/testing/index.ts'),
    exportsOf('src/testing/runners/vitest.ts'),
    exportsOf('src/testing/runners/jest.ts'),
    exportsOf('src/testing/runners/node.ts'),
    readFile(join(root, 'scripts', 'load.cjs')),
  ]);
  const files = new Map(
    [main, client, get, schemas, descriptions, etcd].flatMap(({ outputFiles }) =>
      outputFiles.map(({ path, contents }) => [path, Buffer.from(contents)]),
    ),
  );
  const text = (file, lines) => files.set(join(dist, file), Buffer.from(`${lines.join('\n')}\n`));
  text('plat.js', [
    '#!/bin/sh',
    // For the shell a command without effect, for Node a text and a comment.
    `':' //; ${launch.join(' ')}`,
    "'use strict';",
    `const whole = new Set(${JSON.stringify(Object.keys(serverCommands))});`,
    `if (whole.has(process.argv[2])) for (const flag of ${JSON.stringify(usualFlags)}) require('node:v8').setFlagsFromString(flag);`,
    "const { load } = require('./load.cjs');",
    'let program;',
    'try {',
    "  const name = whole.has(process.argv[2]) ? 'bundle' : process.argv.includes('get') ? 'get' : 'cli';",
    '  ({ program } = load(name));',
    '} catch (error) {',
    "  console.error('plat: ' + error.message);",
    '  process.exit(1);',
    '}',
    'void program();',
  ]);
  // The program is a script: it starts several milliseconds earlier than a module.
  text('package.json', ['{ "type": "commonjs" }']);
  for (const [file, entry, names] of [
    ['index', 'library()', library],
    ['testing', 'testing()', testing],
    // Jest runs each test file with globals of its own, which the bundle does not see.
    ['testing-vitest', 'testingExpect(globalThis)', vitest],
    ['testing-jest', 'testingExpect(globalThis)', jest],
    ['testing-node', 'testingNode()', node],
  ]) {
    text(`${file}.cjs`, ["'use strict';", `module.exports = require('./load.cjs').load().${entry};`]);
    text(`${file}.mjs`, [`import loaded from './${file}.cjs';`, '', `export const { ${names.join(', ')} } = loaded;`]);
  }
  text('build-info.cjs', ["'use strict';", `exports.builtFrom = ${JSON.stringify(builtFrom() ?? unknownSource)};`]);
  return files.set(join(dist, 'load.cjs'), loader);
}

/** The names that a module exports. */
async function exportsOf(entry) {
  const { metafile } = await build({ ...common, bundle: false, format: 'esm', entryPoints: [entry], metafile: true });
  return Object.values(metafile.outputs).flatMap((output) => output.exports);
}

async function isBuilt(files) {
  const same = async ([path, bytes]) => bytes.equals(await readFile(path));
  const bundled = [...files].filter(([path]) => path !== buildInfoFile);
  return (await Promise.all(bundled.map((file) => same(file).catch(() => false)))).every(Boolean);
}

async function write(files) {
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist);
  await Promise.all([...files].map(([path, bytes]) => writeFile(path, bytes)));
  await chmod(join(dist, 'plat.js'), 0o755);
}

function run(program, args, failure) {
  return new Promise((done, reject) => {
    const child = spawn(program, args, { cwd: root, stdio: 'inherit' });
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? done() : reject(new Error(failure))));
  });
}

/** The compiler writes declarations of all files; packages need those that the entries lead to. */
async function prune(directory, entries) {
  const wanted = new Set();
  const visit = async (file) => {
    if (wanted.has(file)) return;
    wanted.add(file);
    const text = await readFile(file, 'utf8');
    const imports = [...text.matchAll(/(?:from |import\()['"](\.[^'"]+)\.ts['"]/g)].map((m) => resolve(dirname(file), `${m[1]}.d.ts`));
    await Promise.all(imports.map(visit));
  };
  await Promise.all(entries.map((entry) => visit(join(directory, entry))));
  const files = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = files.filter((f) => f.isFile()).map((f) => join(f.parentPath ?? f.path, f.name));
  await Promise.all(paths.filter((path) => !wanted.has(path)).map((path) => rm(path)));
}

const files = await bundle();
if (await isBuilt(files)) await writeFile(buildInfoFile, files.get(buildInfoFile));
else await write(files);
// What the engine compiled it takes back under the same flags only: without any, as the program runs.
await run(process.execPath, ['scripts/compile.mjs'], 'the bundle could not be compiled').catch((error) =>
  console.warn(`${error.message}: starts will take longer`),
);
if (process.argv.includes('--types')) {
  await run(join(root, 'node_modules', '.bin', 'tsc'), ['-p', 'scripts/tsconfig.types.json'], 'the type declarations could not be made');
  const types = join(dist, 'types');
  await prune(types, ['index.d.ts', 'testing/index.d.ts', ...['vitest', 'jest', 'node'].map((runner) => `testing/runners/${runner}.d.ts`)]);
  // Both kinds of modules may use declarations of scripts, which is what the bundle is.
  await writeFile(join(types, 'package.json'), '{ "type": "commonjs" }\n');
}
