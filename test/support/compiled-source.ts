/**
 * The modules of src and test, compiled once for a whole run. Workers load them as Node loads any module (source-loader.mjs), as it
 * loads the built program: vitest would transform each of them and look up every imported name whenever it is used. Left to
 * vitest are the setup files, and all modules for tests that replace some of them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join, relative } from 'node:path';
import { build } from 'esbuild';

/** The variable that names the directory of the compiled modules. */
const VARIABLE = 'PLAT_TEST_COMPILED';

const root = join(import.meta.dirname, '../..');
const folders = ['src', 'test'];
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Whether the tests run once. While vitest watches the files it must know what each module imports. */
export const runsOnce: boolean = process.argv.includes('run');

/** The modules that are compiled. */
export const compiledModules: RegExp = new RegExp(`^${escaped(root)}/(?:${folders.join('|')})/.*\\.ts$`);

/** Compiles all modules, once for all projects of a run. */
export async function compileModules(directory: string): Promise<void> {
  if (!runsOnce || process.env[VARIABLE] !== undefined) return;
  const outdir = join(directory, 'compiled');
  process.env[VARIABLE] = outdir;
  const filesOf = (folder: string): string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(root, folder, file));
  await build({
    absWorkingDir: root,
    entryPoints: folders.flatMap(filesOf).filter((file) => compiledModules.test(file)),
    outbase: root,
    outdir,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'external',
    sourcesContent: false,
    logLevel: 'error',
  });
}

interface Frame {
  readonly file: string;
  line: number;
  column: number;
}

/** A frame of a stack trace that is of a compiled module gets its place in the source. */
export function placeInSource(frame: Frame): void {
  const compiled = process.env[VARIABLE];
  if (compiled === undefined || !compiledModules.test(frame.file)) return;
  const map = join(compiled, relative(root, frame.file).replace(/ts$/, 'js.map'));
  const entry = new SourceMap(JSON.parse(readFileSync(map, 'utf8'))).findEntry(frame.line - 1, frame.column - 1);
  if (!('originalLine' in entry)) return;
  frame.line = entry.originalLine + 1;
  frame.column = entry.originalColumn + 1;
}
