/**
 * Writes versions with notes while the store compacts and keeps history, and prints every commit that was acknowledged, until it is
 * killed:
 *
 *   <revision> <key>=<value> <note>        a value of `-` is a deletion
 */
import { writeSync } from 'node:fs';
import type { Operation } from '../../packages/storage/src/engine.ts';
import { openLmdbEngine } from '../../packages/storage/src/engines/lmdb.ts';
import { crashRules } from './lmdb-crash-history-rules.ts';

const [dataDir, round] = process.argv.slice(2) as [string, string];
const WRITERS = 8;
const KINDS = ['whole', 'noted', 'brief', 'never'];

const engine = await openLmdbEngine({ dataDir, historyRetentionMs: 20, history: crashRules('one') });
writeSync(1, `open ${engine.revision}\n`);
await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));

async function write(writer: number): Promise<void> {
  for (let count = 0; ; count++) {
    const key = `${KINDS[count % KINDS.length]}/${writer}`;
    const note = `${round}.${writer}.${count}`;
    const value = `${note}.${'x'.repeat((count % 3) * 500)}`;
    const change: Operation = count % 11 === 10 ? { type: 'delete', key } : { type: 'put', key, value: Buffer.from(value) };
    const { revision } = await engine.commit([{ ...change, note: Buffer.from(note) }]);
    writeSync(1, `${revision} ${key}=${change.type === 'put' ? value : '-'} ${note}\n`);
    if (writer === 0 && count % 7 === 0) void engine.compact(engine.revision).catch(() => {});
  }
}
