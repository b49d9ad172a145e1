// Long forms of tests share their code with the short ones, which is TypeScript: it is bundled and then imported.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { bundledPackages } from '../scripts/workspaces.mjs';
import { root } from './tools.mjs';

/** Imports a TypeScript module of this repository. */
export async function importTyped(file) {
  // Beside the dependencies, so that the bundle finds them.
  const directory = join(root, 'node_modules/.cache/plat-bench');
  mkdirSync(directory, { recursive: true });
  const outfile = join(directory, `${file.replaceAll('/', '-').replace(/\.ts$/, '')}-${process.pid}.mjs`);
  await build({
    entryPoints: [join(root, file)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    plugins: [bundledPackages],
    logLevel: 'error',
  });
  process.on('exit', () => rmSync(outfile, { force: true }));
  return import(pathToFileURL(outfile).href);
}

/** `--name value` of the command line, or what it is otherwise. */
export function option(name, otherwise) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1];
}
export const flag = (name) => process.argv.includes(`--${name}`);
export { row } from './figures.mjs';
