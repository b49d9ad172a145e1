/**
 * Builds dist/: plat.js (the program), index.* (for embedding), testing.* (for tests), etcd.cjs (for `plat envtest`) and
 * console/ (the page, see build-console.mjs).
 * scripts/types.mjs adds type declarations.
 *
 * All entries are bundled in one graph and share its chunks, so that each class exists once in a process, however it was loaded. A
 * dynamic import is loaded when it is reached: a command loads itself and what it imports. Chunks are scripts, which start sooner than
 * modules, and which `require` can load in every release of Node; the entries for `import` hand on what those for `require` export.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { consoleFiles } from './build-console.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

/** What package.json exports, each for `import` and `require`. */
const library = {
  index: 'packages/compose/src/index.ts',
  testing: 'packages/testing/src/index.ts',
  'testing-vitest': 'packages/testing/src/runners/vitest.ts',
  'testing-jest': 'packages/testing/src/runners/jest.ts',
  'testing-node': 'packages/testing/src/runners/node.ts',
};
const page = consoleFiles();
const programs = { plat: 'packages/cli/src/main.ts', etcd: 'packages/cli/src/envtest/etcd-program.ts' };

const bundle = await rolldown({
  cwd: root,
  input: { ...programs, ...library },
  platform: 'node',
  // Dependencies are loaded from where npm puts them, packages of this repository are part of the bundle.
  external: /^(?!@plat-dev\/)[^./]/,
  resolve: { conditionNames: ['source', 'import', 'node'] },
  transform: { target: 'node20', define: { PLAT_BUILT_FROM: JSON.stringify(builtFrom()) ?? 'undefined' } },
  onLog: (level, log, report) => log.code === 'INEFFECTIVE_DYNAMIC_IMPORT' || report(level, log),
});
const { output } = await bundle.generate({
  format: 'cjs',
  // Jest runs scripts in a context of its own, where `import()` works only with a flag of Node.
  dynamicImportInCjs: false,
  exports: 'named',
  entryFileNames: ({ name }) => (name === 'plat' ? 'plat.js' : '[name].cjs'),
  // The face of a package is src/index.ts: its chunk has the name of the package.
  chunkFileNames: ({ name, moduleIds }) => `chunks/${name === 'src' ? packageNameOf(moduleIds) : '[name]'}-[hash].cjs`,
  codeSplitting: {
    groups: [
      // Loaded before compiled code is kept, so that it is no part of the next one.
      { name: 'start', test: /[\\/]cli[\\/]src[\\/]home\.ts$/, priority: 1 },
      // What most commands share is one file, because each file takes time to find and to load.
      { name: 'common', minShareCount: 24 },
    ],
  },
  // Names stay readable in stack traces; the rest is made small because it is read at every start.
  minify: { compress: true, mangle: false, codegen: true },
  minifyInternalExports: false,
  sourcemap: true,
  sourcemapExcludeSources: true,
  banner: ({ name }) => (name === 'plat' ? '#!/usr/bin/env node' : ''),
});
await bundle.close();

const files = new Map(output.map((file) => [file.fileName, file.type === 'chunk' ? file.code : file.source]));
// The package has modules, its bundles are scripts.
files.set('package.json', '{ "type": "commonjs" }\n');
for (const name of Object.keys(library)) {
  const { exports } = output.find(({ fileName }) => fileName === `${name}.cjs`);
  files.set(`${name}.mjs`, `import loaded from './${name}.cjs';\n\nexport const { ${exports.join(', ')} } = loaded;\n`);
}
for (const [name, content] of await page) files.set(`console/${name}`, content);
await write(files);

/** The package of the last module of a chunk, which is the one that the others are there for. */
function packageNameOf(modules) {
  const names = modules.map((path) => /[\\/]packages[\\/]([\w-]+)[\\/]src[\\/]/.exec(path)?.[1]);
  return names.findLast((name) => name !== undefined) ?? '[name]';
}

/** A server that runs from here finds the chunks that it has not loaded yet, as long as they are the same. */
async function write(files) {
  for (const folder of ['chunks', 'console/assets']) await mkdir(join(dist, folder), { recursive: true });
  const older = await readdir(dist, { recursive: true, withFileTypes: true });
  const paths = older.filter((file) => file.isFile()).map((file) => join(file.parentPath ?? file.path, file.name));
  const wanted = new Set([...files.keys()].map((name) => join(dist, name)));
  await Promise.all(paths.filter((path) => !wanted.has(path)).map((path) => rm(path)));
  await Promise.all([...files].map(([name, content]) => writeFile(join(dist, name), content)));
  await chmod(join(dist, 'plat.js'), 0o755);
}

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
