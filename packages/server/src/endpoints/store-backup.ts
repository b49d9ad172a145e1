/**
 * `GET /store/backup`: the current store, as a backup file, while writes go on. It contains all secrets, so
 * that it is a path of its own, which only the role of the cluster administrator allows.
 *
 * The revision is held, so that compaction does not overtake a slow client; a client that reads nothing for a while, or
 * takes too long in all, is disconnected, so that history is not held forever. Memory holds a page and a block of each backup.
 */
import type { Clock } from '@plat-dev/lib/clock';
import type { Log } from '@plat-dev/lib/log';
import { nextTurn } from '@plat-dev/lib/next-turn';
import { tooManyRequests } from '@plat-dev/meta/errors';
import type { BackupHeader } from '@plat-dev/storage/backup/format';
import { historyPages, snapshotPages } from '@plat-dev/storage/backup/snapshot';
import { backupChunks } from '@plat-dev/storage/backup/write';
import type { Engine } from '@plat-dev/storage/engine';
import type { Context } from '../context.ts';
import { head } from '../response/respond.ts';
import { type Endpoint, readOnly } from './endpoint.ts';

export const BACKUP_PATH = '/store/backup';
/** Maximum concurrent backups; more get 429. */
export const MOST_BACKUPS = 2;
/** A client that reads nothing for so long is disconnected. */
export const STALL_MS = 30_000;
/** Maximum duration of a backup. */
export const LONGEST_MS: number = 30 * 60_000;
const RETRY_SECONDS = 30;

export interface BackupOptions {
  /** The store itself: values are sent as stored. */
  readonly engine: Engine;
  readonly facts: () => Pick<BackupHeader, 'productVersion' | 'identity' | 'storeId'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info'>;
}

export function backupEndpoint(options: BackupOptions): Endpoint {
  let running = 0;
  return readOnly(async (ctx) => {
    if (running >= MOST_BACKUPS) throw tooManyRequests('Too many backups are in progress, please try again later.', RETRY_SECONDS);
    running++;
    try {
      await sendBackup(ctx, options);
    } finally {
      running--;
    }
  });
}

async function sendBackup(ctx: Context, { engine, facts, clock, log }: BackupOptions): Promise<void> {
  const hold = await engine.hold(LONGEST_MS);
  try {
    const header: BackupHeader = {
      ...facts(),
      engine: engine.name,
      revision: hold.revision,
      compacted: engine.compacted,
      createdAt: new Date(clock.now()).toISOString(),
    };
    ctx.longRunning = true;
    if (ctx.audit?.wantsResponse === true) ctx.audit.truncated();
    head(ctx, 200, ['Content-Type', 'application/octet-stream', 'X-Content-Type-Options', 'nosniff']);
    const cancelTimeout = clock.after(LONGEST_MS, () => giveUp(ctx, log, 'it took too long'));
    try {
      const { revision } = hold;
      for await (const chunk of backupChunks(header, snapshotPages(engine, revision), historyPages(engine, revision))) {
        if (ctx.res.destroyed) return;
        await put(ctx, chunk, clock, log);
      }
      ctx.res.end();
    } catch (error) {
      // The head is sent: the client sees that the end is missing.
      giveUp(ctx, log, String(error));
    } finally {
      cancelTimeout();
    }
  } finally {
    // The hold expires if it cannot be released.
    await hold.release().catch((error: unknown) => log.info('cannot release the held revision', { error: String(error) }));
  }
}

function giveUp(ctx: Context, log: Pick<Log, 'info'>, reason: string): void {
  if (ctx.res.destroyed) return;
  log.info('backup interrupted', { reason, audit: ctx.auditId });
  ctx.res.destroy();
}

/** Resolves when the client may get more, or has disconnected. */
function put(ctx: Context, bytes: Buffer, clock: Clock, log: Pick<Log, 'info'>): Promise<void> {
  const { res } = ctx;
  return new Promise((resolve) => {
    ctx.responseBytes += bytes.length;
    // Even for a client that reads everything at once other work runs between blocks.
    if (res.write(bytes)) return resolve(nextTurn());
    const stalled = clock.after(STALL_MS, () => giveUp(ctx, log, 'the client takes nothing'));
    const go = (): void => {
      stalled();
      res.off('drain', go);
      res.off('close', go);
      resolve(nextTurn());
    };
    res.once('drain', go);
    res.once('close', go);
  });
}
