// The engines of the store, bundled from their sources, and a directory for what a bench writes, which goes when it ends.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { bundledPackages } from '../scripts/workspaces.mjs';

/** Under $BENCH_DIR (default: the system's directory): give one on the disk that matters. */
export const work = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'plat-bench-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const outfile = join(work, 'engines.mjs');
await build({
  stdin: {
    contents: `export { openMemoryEngine } from './memory.ts'; export { openLmdbEngine } from './lmdb.ts'; export { openEngine } from './index.ts';`,
    resolveDir: join(import.meta.dirname, '../packages/storage/src/engines'),
    loader: 'ts',
  },
  bundle: true,
  plugins: [bundledPackages],
  platform: 'node',
  format: 'esm',
  outfile,
  alias: { lmdb: join(import.meta.dirname, '../node_modules/lmdb/node-index.js') },
  external: ['*/node-index.js'],
  logLevel: 'error',
});
export const { openEngine, openLmdbEngine, openMemoryEngine } = await import(pathToFileURL(outfile).href);
