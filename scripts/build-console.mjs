/**
 * Builds the page of the console (packages/console) with Vite: files with hashes in their names, each also compressed with Brotli and
 * gzip, and the licences of what is bundled. Fails where the first view is larger than it may be.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { build } from 'vite';
import { xtermStyles } from './xterm-styles.mjs';

const root = fileURLToPath(new URL('../packages/console', import.meta.url));

/** Compressed bytes of what a browser loads before it shows the overview, a table or the login page. */
const FIRST_VIEW_BYTES = 250 * 1024;
const firstPages = ['overview', 'table', 'login'];

/** Contents by path: `index.html`, `assets/main-HASH.js`, `assets/main-HASH.js.br` and so on. */
export async function consoleFiles() {
  // With another value, such as that of a runner of tests, the page would name its sources with their paths.
  process.env.NODE_ENV = 'production';
  const { output } = await build(settings());
  const plain = new Map(output.map((file) => [file.fileName, Buffer.from(file.type === 'chunk' ? file.code : file.source)]));
  plain.set('licences.txt', Buffer.from(licenceTexts(output)));
  const files = new Map(plain);
  await Promise.all(
    [...plain].map(async ([name, content]) => {
      files.set(`${name}.br`, await brotli(content));
      files.set(`${name}.gz`, await gzip(content));
    }),
  );
  const fault = firstViewFault(firstView(output).map((name) => files.get(`${name}.br`).length));
  if (fault !== undefined) throw new Error(fault);
  return files;
}

/** What is wrong with a first view of files of so many compressed bytes; undefined: nothing. */
export function firstViewFault(sizes) {
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes <= FIRST_VIEW_BYTES) return undefined;
  return `the first view of the console has ${bytes} compressed bytes, of at most ${FIRST_VIEW_BYTES}`;
}

function settings() {
  return {
    root,
    base: '/console/',
    configFile: false,
    logLevel: 'warn',
    plugins: [xtermStyles],
    resolve: { conditions: ['source', 'module', 'browser', 'import'] },
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      write: false,
      target: 'es2023',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      // How long the build took on a busy machine is no fault of the page.
      rolldownOptions: { checks: { bundlerTimings: false } },
    },
  };
}

const brotli = (content) =>
  promisify(zlib.brotliCompress)(content, {
    params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 11, [zlib.constants.BROTLI_PARAM_SIZE_HINT]: content.length },
  });
const gzip = (content) => promisify(zlib.gzip)(content, { level: 9 });

/** The names of the files of the first view: the entry, the first pages, and what they import at once. */
export function firstView(output) {
  const chunks = new Map(output.filter(({ type }) => type === 'chunk').map((chunk) => [chunk.fileName, chunk]));
  const names = new Set(['index.html']);
  const add = (name) => {
    if (names.has(name)) return;
    names.add(name);
    const chunk = chunks.get(name);
    for (const other of [...(chunk?.imports ?? []), ...(chunk?.viteMetadata?.importedCss ?? [])]) add(other);
  };
  for (const { fileName, isEntry, facadeModuleId } of chunks.values()) {
    const page = /\/src\/pages\/([^/]+)\/index\.tsx$/.exec(facadeModuleId ?? '')?.[1];
    if (isEntry || firstPages.includes(page)) add(fileName);
  }
  return [...names];
}

/** Licences ask that their text goes along with copies. */
function licenceTexts(output) {
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  const folders = new Set(modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id.replaceAll('\\', '/')) ?? []));
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim();
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}
