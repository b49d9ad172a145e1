/**
 * The modules of packages and test, compiled before a run. Workers load them as Node loads any module, as it loads the built program:
 * vitest would transform each of them and look up every imported name whenever it is used. They import each other by the names of
 * the compiled files, since a hook of Node for that takes as much processor time as the modules themselves. Left to vitest are
 * the setup files.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build, buildSync, version } from 'esbuild';
import { sourceOf as sourceOfPackage } from '../../scripts/workspaces.mjs';

/** The variable that is set once the modules of a run are compiled. */
const VARIABLE = 'PLAT_TEST_COMPILED';
/** To be raised where modules are compiled in another way. */
const FORMAT = 2;

const root = join(import.meta.dirname, '../..');
const folders = ['packages', 'test'];
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Whether the tests run once. While vitest watches the files it must know what each module imports. */
export const runsOnce: boolean = process.argv.includes('run');

/** Modules of the sources. */
const sources = new RegExp(`^${escaped(root)}/(?:packages/[\\w-]+/src|test)/.*\\.ts$`);

/**
 * Compiled modules stay for the next run. A compiled module has the time of the file that it was made of. They do not lie below
 * node_modules, whose lines vitest leaves out of stack traces.
 */
const cache = join(root, '.compiled', `tests-${FORMAT}-${version}`);
const compiledOf = (file: string): string => join(cache, relative(root, file).replace(/ts$/, 'js'));
const sourceOf = (file: string): string => join(root, relative(cache, file).replace(/js$/, 'ts'));

/** The modules that are compiled. */
export const compiledModules: RegExp = new RegExp(`^${escaped(cache)}/.*\\.js$`);

/** Leads vitest from a source to its compiled module, but for those that it loads itself. */
export const resolveCompiled = (own: RegExp): { name: string; enforce: 'pre'; resolveId(id: string): string | undefined } => ({
  name: 'compiled-source',
  enforce: 'pre',
  resolveId: (id) => (sources.test(id) && !own.test(id) ? compiledOf(id) : undefined),
});
const timeOf = (file: string): number => Math.round(statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? -1);

/** What a compiled module has instead of `import.meta`: the place of its source. */
const PLACE = '__source';
const compilerOptions = {
  absWorkingDir: root,
  outbase: root,
  outdir: cache,
  write: false,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  sourcesContent: false,
  define: { 'import.meta.url': `${PLACE}.url`, 'import.meta.dirname': `${PLACE}.dirname`, 'import.meta.filename': `${PLACE}.filename` },
  logLevel: 'error',
} satisfies BuildOptions;

/** Compiles the modules that have changed, once for all projects of a run. */
export async function compileModules(): Promise<void> {
  if (!runsOnce || process.env[VARIABLE] !== undefined) return;
  process.env[VARIABLE] = cache;
  const filesOf = (folder: string): string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(root, folder, file));
  const files = folders.flatMap(filesOf).filter((file) => sources.test(file));
  const changed = new Map(files.map((file) => [compiledOf(file), timeOf(file)] as const).filter(([to, time]) => timeOf(to) !== time));
  if (changed.size === 0) return;
  const entryPoints = files.filter((file) => changed.has(compiledOf(file)));
  // The compiler runs once over much: collecting its garbage often takes a fifth as long again.
  const { GOGC } = process.env;
  process.env.GOGC ??= '400';
  const compiling = build({ ...compilerOptions, entryPoints });
  if (GOGC === undefined) delete process.env.GOGC;
  for (const { path, text } of (await compiling).outputFiles) {
    // Another run at the same time finds each file whole.
    const own = `${path}.${process.pid}`;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(own, loadable(text, sourceOf(path)));
    const time = changed.get(path) as number;
    utimesSync(own, time / 1000, time / 1000);
    renameSync(own, path);
  }
}

/** As esbuild writes them: a statement begins a line, and so does the end of one that takes several lines. */
const importStatement = /^((?:import|export) (?:[^"'`\n]* from )?|\} from )"((?:\.{1,2}|@plat-dev)\/[^"\n]+)";$/gm;
const importCall = /\b(import\()"((?:\.{1,2}|@plat-dev)\/[^"\n]+)"\)/g;

/** The text of a compiled module, in the lines of its source map: what is added stands before the first line. */
function loadable(text: string, source: string): string {
  const linked = (name: string): string => {
    const path = name.startsWith('.') ? name : relative(dirname(source), join(root, sourceOfPackage(name) ?? name));
    // What is not compiled stays where it is.
    return JSON.stringify(path.endsWith('.ts') ? path.replace(/ts$/, 'js') : new URL(path, pathToFileURL(source)).href);
  };
  const code = text
    .replace(importStatement, (_, before: string, name: string) => `${before}${linked(name)};`)
    .replace(importCall, (_, before: string, name: string) => `${before}${linked(name)})`);
  if (!code.includes(PLACE)) return code;
  const place = { url: pathToFileURL(source).href, dirname: dirname(source), filename: source };
  return `const ${PLACE} = ${JSON.stringify(place)}; ${code}`;
}

interface Frame {
  file: string;
  line: number;
  column: number;
}

/** A frame of a stack trace that is of a compiled module gets its place in the source; the lines of the first are shown. */
export function placeInSource(failure: object, frame: Frame): void {
  if (!compiledModules.test(frame.file)) return;
  frame.file = sourceOf(frame.file);
  const entry = sourceMapOf(frame.file).findEntry(frame.line - 1, frame.column - 1);
  if (!('originalLine' in entry)) return;
  frame.line = entry.originalLine + 1;
  frame.column = entry.originalColumn + 1;
  // Vitest prints what it finds under this name.
  const shown = failure as { codeFrame?: string };
  shown.codeFrame ??= linesAround(frame);
}

const sourceMaps = new Map<string, SourceMap>();
/** Made when a test has failed: for all modules they would take as long as the modules themselves. */
function sourceMapOf(file: string): SourceMap {
  let map = sourceMaps.get(file);
  if (map === undefined) {
    const { outputFiles } = buildSync({ ...compilerOptions, entryPoints: [file], sourcemap: 'external' });
    map = new SourceMap(JSON.parse(outputFiles.find(({ path }) => path.endsWith('.map'))?.text as string));
    sourceMaps.set(file, map);
  }
  return map;
}

function linesAround({ file, line }: Frame): string {
  const lines = readFileSync(file, 'utf8').split('\n');
  const from = Math.max(0, line - 3);
  return lines
    .slice(from, line + 2)
    .map((text, i) => `${from + i + 1 === line ? '>' : ' '} ${String(from + i + 1).padStart(4)} | ${text}`)
    .join('\n');
}
