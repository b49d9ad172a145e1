/** Restores a backup into a data directory of the embedded store, atomically. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineOptions } from '../engines/index.ts';
import { openEngine } from '../engines/index.ts';
import { lockDirectory } from '../engines/lmdb/lock.ts';
import { finishReplacing, hasStore, isReplacing, removePartialStores, replaceStore } from '../engines/lmdb/replace.ts';
import { prepareDirectory } from '../engines/lmdb/tables.ts';
import { KEEP_ALL_HISTORY } from '../history.ts';
import { BackupError } from './format.ts';
import { type OpenBackup, type Restored, type RestoreOptions, restoreInto } from './restore.ts';

export interface DirectoryRestore extends RestoreOptions {
  readonly dataDir: string;
  /** Options of the new store. */
  readonly store: Omit<EngineOptions, 'store' | 'dataDir'>;
  /** Whether an existing store may be moved aside. */
  readonly force: boolean;
}
export interface RestoredDirectory extends Restored {
  /** Directory that the previous store was moved to. */
  readonly movedTo: string | undefined;
}

export async function restoreDirectory(open: OpenBackup, options: DirectoryRestore): Promise<RestoredDirectory> {
  const { dataDir, store, force } = options;
  prepareDirectory(dataDir);
  const lock = await lockDirectory(dataDir);
  try {
    // An older release recorded only that there was a replacement: its files are replaced unconditionally.
    if (force) attempt(() => finishReplacing(dataDir));
    else finishReplacing(dataDir);
    if (!force && hasStore(dataDir)) {
      throw new BackupError(`${dataDir} has a store: choose another directory, or move that store aside with --force`);
    }
    removePartialStores(dataDir);
    const name = `store.restoring-${process.pid}`;
    const partial = join(dataDir, name);
    try {
      // The server that opens the directory applies its own rules.
      const engine = await openEngine({ ...store, store: 'lmdb', dataDir: partial, history: KEEP_ALL_HISTORY });
      let restored: Restored;
      try {
        restored = await restoreInto(engine, open, options);
      } finally {
        await engine.close();
      }
      const label = new Date(options.clock.now()).toISOString().replaceAll(/[:.]/g, '-');
      return { ...restored, movedTo: replaceStore(dataDir, name, `store.replaced-${label}`) };
    } finally {
      // An interrupted replacement is finished by the next start, and needs this directory.
      if (!isReplacing(dataDir)) rmSync(partial, { recursive: true, force: true });
    }
  } finally {
    await lock.release();
  }
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // A replacement that cannot be finished is replaced.
  }
}
