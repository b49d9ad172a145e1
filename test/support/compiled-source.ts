/**
 * The modules of src and test, compiled before a run. Workers load them as Node loads any module (source-loader.mjs), as it
 * loads the built program: vitest would transform each of them and look up every imported name whenever it is used. Left to
 * vitest are the setup files.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { build, version } from 'esbuild';

/** The variable that names the directory of the compiled modules. */
const VARIABLE = 'PLAT_TEST_COMPILED';

const root = join(import.meta.dirname, '../..');
const folders = ['src', 'test'];
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Whether the tests run once. While vitest watches the files it must know what each module imports. */
export const runsOnce: boolean = process.argv.includes('run');

/** The modules that are compiled. */
export const compiledModules: RegExp = new RegExp(`^${escaped(root)}/(?:${folders.join('|')})/.*\\.ts$`);

/** Compiled modules stay for the next run. A compiled module has the time of the file that it was made of. */
const cache = join(root, 'node_modules/.cache/plat-test', `compiled-${version}`);
const compiledOf = (file: string): string => join(cache, relative(root, file).replace(/ts$/, 'js'));
const timeOf = (file: string): number => Math.trunc(statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? -1);

/** Compiles the modules that have changed, once for all projects of a run. */
export async function compileModules(): Promise<void> {
  if (!runsOnce || process.env[VARIABLE] !== undefined) return;
  process.env[VARIABLE] = cache;
  const filesOf = (folder: string): string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(root, folder, file));
  const files = folders.flatMap(filesOf).filter((file) => compiledModules.test(file));
  const changed = new Map(files.map((file) => [compiledOf(file), timeOf(file)] as const).filter(([to, time]) => timeOf(to) !== time));
  if (changed.size === 0) return;
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: files.filter((file) => changed.has(compiledOf(file))),
    outbase: root,
    outdir: cache,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'external',
    sourcesContent: false,
    logLevel: 'error',
  });
  for (const { path, contents } of outputFiles) {
    // Another run at the same time finds each file whole.
    const own = `${path}.${process.pid}`;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(own, contents);
    const time = changed.get(path);
    if (time !== undefined) utimesSync(own, time / 1000, time / 1000);
    renameSync(own, path);
  }
}

interface Frame {
  readonly file: string;
  line: number;
  column: number;
}

/** A frame of a stack trace that is of a compiled module gets its place in the source; the lines of the first are shown. */
export function placeInSource(failure: object, frame: Frame): void {
  if (process.env[VARIABLE] === undefined || !compiledModules.test(frame.file)) return;
  const map = `${compiledOf(frame.file)}.map`;
  const entry = new SourceMap(JSON.parse(readFileSync(map, 'utf8'))).findEntry(frame.line - 1, frame.column - 1);
  if (!('originalLine' in entry)) return;
  frame.line = entry.originalLine + 1;
  frame.column = entry.originalColumn + 1;
  // Vitest prints what it finds under this name.
  const shown = failure as { codeFrame?: string };
  shown.codeFrame ??= linesAround(frame);
}

function linesAround({ file, line }: Frame): string {
  const lines = readFileSync(file, 'utf8').split('\n');
  const from = Math.max(0, line - 3);
  return lines
    .slice(from, line + 2)
    .map((text, i) => `${from + i + 1 === line ? '>' : ' '} ${String(from + i + 1).padStart(4)} | ${text}`)
    .join('\n');
}
