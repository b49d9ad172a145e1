/** Backups in memory, for tests. */
import type { Engine } from '../engine.ts';
import type { BackupEntry, BackupHeader } from './format.ts';
import { readBackup } from './read.ts';
import { historyPages, snapshotPages } from './snapshot.ts';
import { backupChunks } from './write.ts';

export const testHeader = (engine: Pick<Engine, 'revision' | 'compacted' | 'name'>): BackupHeader => ({
  productVersion: '1.2.3',
  identity: 'plat',
  storeId: 'a-store',
  engine: engine.name,
  revision: engine.revision,
  compacted: engine.compacted,
  createdAt: '2026-01-01T00:00:00Z',
});

export async function backupOf(engine: Engine): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const { revision } = engine;
  for await (const chunk of backupChunks(testHeader(engine), snapshotPages(engine, revision), historyPages(engine, revision)))
    chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The bytes in chunks of a size. */
export async function* inChunks(bytes: Buffer, size = bytes.length): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export async function entriesOfBackup(bytes: Buffer, chunk?: number): Promise<BackupEntry[]> {
  const found: BackupEntry[] = [];
  for await (const part of readBackup(inChunks(bytes, chunk))) if (part.type === 'entries') found.push(...part.entries);
  return found;
}
