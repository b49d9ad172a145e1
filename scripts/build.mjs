/**
 * Builds dist/: plat.js (the program), index.js (for embedding) and the pieces they share or load when needed.
 *
 *   node scripts/build.mjs            bundles
 *   node scripts/build.mjs --types    also writes type declarations, which only packages need
 *
 * Bundled, because reading hundreds of small files is most of a start; in pieces, because a start needs few of them: YAML,
 * gRPC and the like are loaded with the first thing that asks for them.
 */
import { spawn } from 'node:child_process';
import { chmod, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

/** Packages that cannot be bundled: lmdb loads a binary that lies beside its own files. */
const external = ['lmdb'];

/** Old CommonJS packages within a bundle ask for `require` of Node's own modules. */
const requireForCommonJs =
  "import { createRequire as $createRequire } from 'node:module'; const require = $createRequire(import.meta.url);";

async function bundle() {
  await rm(dist, { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: { plat: 'src/cli/plat.ts', index: 'src/index.ts' },
    outdir: dist,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external,
    banner: { js: requireForCommonJs },
    // Names stay readable in stack traces; the rest is made small because it is read at every start.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  });
}

function types() {
  return new Promise((done, reject) => {
    const tsc = spawn(join(root, 'node_modules', '.bin', 'tsc'), ['-p', 'scripts/tsconfig.types.json'], { cwd: root, stdio: 'inherit' });
    tsc.on('error', reject);
    tsc.on('exit', (code) => (code === 0 ? done() : reject(new Error('the type declarations could not be made'))));
  });
}

/** The compiler writes declarations of all files; packages need those that the entry leads to. */
async function prune(entry) {
  const wanted = new Set();
  const visit = async (file) => {
    if (wanted.has(file)) return;
    wanted.add(file);
    const text = await readFile(file, 'utf8');
    const imports = [...text.matchAll(/(?:from |import\()['"](\.[^'"]+)\.ts['"]/g)].map((m) => resolve(dirname(file), `${m[1]}.d.ts`));
    await Promise.all(imports.map(visit));
  };
  await visit(entry);
  const files = await readdir(dirname(entry), { recursive: true, withFileTypes: true });
  const paths = files.filter((f) => f.isFile()).map((f) => join(f.parentPath ?? f.path, f.name));
  await Promise.all(paths.filter((path) => !wanted.has(path)).map((path) => rm(path)));
}

await bundle();
await chmod(join(dist, 'plat.js'), 0o755);
if (process.argv.includes('--types')) {
  await types();
  await prune(join(dist, 'types', 'index.d.ts'));
}
