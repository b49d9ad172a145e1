/**
 * Bundles sources of this repository to scripts, for `dist/` and for the executables.
 *
 * All entries are bundled in one graph and share its chunks, so that each class exists once in a process, however it was loaded. A
 * dynamic import is loaded when it is reached: a command loads itself and what it imports. Chunks are scripts, which start sooner than
 * modules, and which `require` can load in every release of Node.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Problems of the code of others that are known and do no harm, and dynamic imports of what is loaded anyway. */
const harmless = new Set(['INEFFECTIVE_DYNAMIC_IMPORT', 'EVAL']);

/** `alias` names modules that take the place of others. Chunks are named `chunks/NAME-HASH.cjs`. */
export async function bundledScripts({ input, external, alias = {}, sourcemap = true }) {
  const bundle = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    external,
    resolve: { conditionNames: ['source', 'import', 'node'], alias },
    transform: { target: 'node20', define: { PLAT_BUILT_FROM: JSON.stringify(builtFrom()) ?? 'undefined' } },
    onLog: (level, log, report) => harmless.has(log.code) || report(level, log),
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
    sourcemap,
    sourcemapExcludeSources: true,
    banner: ({ name }) => (name === 'plat' ? '#!/usr/bin/env node' : ''),
  });
  await bundle.close();
  return output;
}

/** The package of the last module of a chunk, which is the one that the others are there for. */
function packageNameOf(modules) {
  const names = modules.map((path) => /[\\/]packages[\\/]([\w-]+)[\\/]src[\\/]/.exec(path)?.[1]);
  return names.findLast((name) => name !== undefined) ?? '[name]';
}

/** Nothing is known of sources that are not a git checkout, such as those of an archive. */
function builtFrom() {
  const git = (...args) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    if (!existsSync(join(root, '.git'))) return undefined;
    const [commit, seconds] = git('log', '-1', '--format=%H %ct').split(' ');
    const treeState = git('status', '--porcelain', '--untracked-files=no') === '' ? 'clean' : 'dirty';
    return {
      commit,
      treeState,
      date: new Date(Number(process.env.SOURCE_DATE_EPOCH ?? seconds) * 1000).toISOString().replace('.000Z', 'Z'),
    };
  } catch {
    return undefined;
  }
}
