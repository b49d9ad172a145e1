/**
 * Builds dist/: plat.js (the program), index.* (for embedding) and testing.* (for tests) load a bundle, and with it what was compiled of it.
 *
 *   node scripts/build.mjs            bundles, unless that would change nothing
 *   node scripts/build.mjs --types    also writes type declarations, which only packages need
 *
 * Bundled, because reading hundreds of small files is most of a start; as a script, because only those can be loaded in
 * compiled form (load.cjs). Its modules are run when they are first asked for, as if each were a file of its own.
 */
import { spawn } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

/**
 * How Node runs the program (`npm start` says the same). Young objects get more room than Node gives them by itself: most of
 * what a request makes is gone with its answer, and need not be copied before.
 */
const nodeFlags = ['--max-semi-space-size=64'];

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
 * Commands that run or read a server need everything; they are loaded from the whole bundle. The others are in a small one of
 * their own, because reading the whole takes longer than most of them take.
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

const clientEntries = `
export const program = () => import('./src/cli/plat.ts');
export const commands = () => import('./src/cli/index.ts');
`;
/** In the client's bundle the modules of server commands are those of the whole bundle. */
const wholeApart = {
  name: 'whole',
  setup({ onResolve, onLoad }) {
    const apart = new Set(Object.values(serverCommands));
    onResolve({ filter: /^\.\// }, ({ path, importer }) =>
      apart.has(path) && /[\\/]src[\\/]cli[\\/]index\.ts$/.test(importer) ? { path, namespace: 'whole' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'whole' }, ({ path }) => ({
      contents: `module.exports = require('./load.cjs').load().modules[${JSON.stringify(path)}]();`,
    }));
    onResolve({ filter: /^\.\/load\.cjs$/ }, ({ path }) => ({ path, external: true }));
  },
};

const entries = `
export const modules = {
${Object.values(serverCommands)
  .map((path) => `  ${JSON.stringify(path)}: () => require(${JSON.stringify(path.replace('./', './src/cli/'))}),`)
  .join('\n')}
};
export const program = () => import('./src/cli/plat.ts');
export const commands = () => import('./src/cli/index.ts');
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

/** Descriptions of all kinds and fields, which only the OpenAPI documents need: a file of its own. */
const descriptionsApart = {
  name: 'descriptions',
  setup: ({ onResolve }) =>
    onResolve({ filter: /[\\/]kinds[\\/]descriptions\.ts$/ }, () => ({ path: './descriptions.cjs', external: true })),
};

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
  const [main, client, descriptions, etcd, library, testing, vitest, jest, node, loader] = await Promise.all([
    build({
      ...common,
      stdin: { contents: entries, sourcefile: 'bundle.ts', resolveDir: root },
      entryNames: 'bundle',
      plugins: [descriptionsApart, database],
      // A script has `require` alone to load what is external.
      supported: { 'dynamic-import': false },
    }),
    build({
      ...common,
      stdin: { contents: clientEntries, sourcefile: 'cli.ts', resolveDir: root },
      entryNames: 'cli',
      plugins: [wholeApart, descriptionsApart, database],
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
    [main, client, descriptions, etcd].flatMap(({ outputFiles }) => outputFiles.map(({ path, contents }) => [path, Buffer.from(contents)])),
  );
  const text = (file, lines) => files.set(join(dist, file), Buffer.from(`${lines.join('\n')}\n`));
  text('plat.js', [
    `#!/usr/bin/env -S node ${nodeFlags.join(' ')}`,
    "import loader from './load.cjs';",
    '',
    `const whole = new Set(${JSON.stringify(Object.keys(serverCommands))});`,
    'let program;',
    'try {',
    "  ({ program } = loader.load(whole.has(process.argv[2]) ? 'bundle' : 'cli'));",
    '} catch (error) {',
    "  console.error('plat: ' + error.message);",
    '  process.exit(1);',
    '}',
    'await program();',
  ]);
  for (const [file, entry, names] of [
    ['index', 'library()', library],
    ['testing', 'testing()', testing],
    // Jest runs each test file with globals of its own, which the bundle does not see.
    ['testing-vitest', 'testingExpect(globalThis)', vitest],
    ['testing-jest', 'testingExpect(globalThis)', jest],
    ['testing-node', 'testingNode()', node],
  ]) {
    text(`${file}.cjs`, ["'use strict';", `module.exports = require('./load.cjs').load().${entry};`]);
    text(`${file}.js`, [`import loaded from './${file}.cjs';`, '', `export const { ${names.join(', ')} } = loaded;`]);
  }
  return files.set(join(dist, 'load.cjs'), loader);
}

/** The names that a module exports. */
async function exportsOf(entry) {
  const { metafile } = await build({ ...common, bundle: false, format: 'esm', entryPoints: [entry], metafile: true });
  return Object.values(metafile.outputs).flatMap((output) => output.exports);
}

async function isBuilt(files) {
  const same = async ([path, bytes]) => bytes.equals(await readFile(path));
  return (await Promise.all([...files].map((file) => same(file).catch(() => false)))).every(Boolean);
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
if (!(await isBuilt(files))) await write(files);
// What the engine compiled it takes back under the same flags only, and some start the program without any.
const compile = (flags) => run(process.execPath, [...flags, 'scripts/compile.mjs'], 'the bundle could not be compiled');
await Promise.all([compile([]), compile(nodeFlags)]).catch((error) => console.warn(`${error.message}: starts will take longer`));
if (process.argv.includes('--types')) {
  await run(join(root, 'node_modules', '.bin', 'tsc'), ['-p', 'scripts/tsconfig.types.json'], 'the type declarations could not be made');
  const types = join(dist, 'types');
  await prune(types, ['index.d.ts', 'testing/index.d.ts', ...['vitest', 'jest', 'node'].map((runner) => `testing/runners/${runner}.d.ts`)]);
  // Both kinds of modules may use declarations of scripts, which is what the bundle is.
  await writeFile(join(types, 'package.json'), '{ "type": "commonjs" }\n');
}
