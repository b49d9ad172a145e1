/**
 * Writes as fast as it can with many writers and prints every commit that was acknowledged, until it is killed:
 *
 *   <revision> <key>=<value> <key>=<value> …        a value of `-` is a deletion
 */
import { writeSync } from 'node:fs';
import type { Operation } from '../../packages/storage/src/engine.ts';
import { openLmdbEngine } from '../../packages/storage/src/engines/lmdb.ts';

const [dataDir, round] = process.argv.slice(2) as [string, string];
const WRITERS = 24;
/** Values differ in size so that records of one page and of several are both torn if any are. */
const PADDING = ['', 'x'.repeat(600), 'y'.repeat(9_000)];

const engine = await openLmdbEngine({ dataDir, historyRetentionMs: 3_600_000 });
writeSync(1, `open ${engine.revision}\n`);
await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));

async function write(writer: number): Promise<void> {
  for (let count = 0; ; count++) {
    const operations = operationsOf(writer, count);
    const { revision } = await engine.commit(operations);
    const said = operations.map((operation) => `${operation.key}=${operation.type === 'put' ? operation.value.toString() : '-'}`);
    writeSync(1, `${revision} ${said.join(' ')}\n`);
  }
}

function operationsOf(writer: number, count: number): Operation[] {
  const value = Buffer.from(`${round}.${writer}.${count}.${PADDING[count % PADDING.length]}`);
  const put = (key: string): Operation => ({ type: 'put', key, value });
  switch (count % 4) {
    case 0:
      return [put(`single/${writer}/${count % 40}`)];
    case 1:
    case 2:
      // Both halves always carry the same value, or are both absent.
      return [put(`pair/${writer}/left`), put(`pair/${writer}/right`), put(`last/${writer}`)];
    default:
      return [{ type: 'delete', key: `pair/${writer}/left` }, { type: 'delete', key: `pair/${writer}/right` }, put(`last/${writer}`)];
  }
}
