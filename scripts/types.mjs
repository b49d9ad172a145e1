/**
 * Writes the type declarations of the package to dist/types, or to the directory that is named: those that its entries lead to, in a folder for each package of this
 * repository. They name each other by path, since none of these packages is installed with this one.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sourceOf } from './workspaces.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const types = process.argv[2] ?? join(root, 'dist', 'types');
const compiled = `${types}.new`;
const entries = ['compose/index.ts', 'testing/index.ts', ...['vitest', 'jest', 'node'].map((runner) => `testing/runners/${runner}.ts`)];

const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
execFileSync(process.execPath, [compiler, '-p', 'scripts/tsconfig.types.json', '--outDir', compiled], { cwd: root, stdio: 'inherit' });

/** `kinds/core/pod.ts` for the source packages/kinds/src/core/pod.ts. */
const placeOf = (source) => source.replace(/^packages\/([^/]+)\/src\//, '$1/');
const declarationOf = (file) => file.replace(/\.ts$/, '.d.ts');

/** The compiler writes declarations of all files; packages need those that the entries lead to. */
const written = new Set();
const write = async (file) => {
  if (written.has(file)) return;
  written.add(file);
  const imported = [];
  const text = await readFile(join(compiled, declarationOf(file.replace('/', '/src/'))), 'utf8');
  const linked = text.replace(/((?:from |import\()['"])((?:\.|@plat-dev\/)[^'"]+)(?=['"])/g, (all, before, name) => {
    const source = sourceOf(name);
    // An example in a comment names the package as users do.
    if (!name.startsWith('.') && source === undefined) return all;
    const target = source === undefined ? relative(types, resolve(types, dirname(file), name)) : placeOf(source);
    imported.push(target);
    const path = relative(dirname(file), target);
    return `${before}${path.startsWith('.') ? path : `./${path}`}`;
  });
  const to = join(compiled, 'packed', declarationOf(file));
  await mkdir(dirname(to), { recursive: true });
  await writeFile(to, linked);
  await Promise.all(imported.map(write));
};
await Promise.all(entries.map(write));
// Both kinds of modules may use declarations of scripts, which is what the bundles are.
await writeFile(join(compiled, 'packed', 'package.json'), '{ "type": "commonjs" }\n');
await rm(types, { recursive: true, force: true });
await rename(join(compiled, 'packed'), types);
await rm(compiled, { recursive: true });
