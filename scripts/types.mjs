/** Writes the type declarations of the package to dist/types: those that its entries lead to. */
import { execFileSync } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const types = join(root, 'dist', 'types');
const entries = ['index.d.ts', 'testing/index.d.ts', ...['vitest', 'jest', 'node'].map((runner) => `testing/runners/${runner}.d.ts`)];

const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
execFileSync(process.execPath, [compiler, '-p', 'scripts/tsconfig.types.json'], { cwd: root, stdio: 'inherit' });

/** The compiler writes declarations of all files; packages need those that the entries lead to. */
const wanted = new Set();
const visit = async (file) => {
  if (wanted.has(file)) return;
  wanted.add(file);
  const text = await readFile(file, 'utf8');
  const imports = [...text.matchAll(/(?:from |import\()['"](\.[^'"]+)\.ts['"]/g)].map((m) => resolve(dirname(file), `${m[1]}.d.ts`));
  await Promise.all(imports.map(visit));
};
await Promise.all(entries.map((entry) => visit(join(types, entry))));
const files = (await readdir(types, { recursive: true, withFileTypes: true })).filter((file) => file.isFile());
const paths = files.map((file) => join(file.parentPath ?? file.path, file.name));
await Promise.all(paths.filter((path) => !wanted.has(path)).map((path) => rm(path)));
// Both kinds of modules may use declarations of scripts, which is what the bundles are.
await writeFile(join(types, 'package.json'), '{ "type": "commonjs" }\n');
