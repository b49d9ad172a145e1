/**
 * Encrypts every object of the encrypted resources with the current write key. Each is written in place,
 * with its revision as precondition, so that servers which share the store may go on. Objects with the current key are
 * skipped: an interrupted run can simply be repeated.
 */

import { type Clock, systemClock } from '@plat-dev/lib/clock';
import { systemRandom } from '@plat-dev/lib/random';
import type { Identity } from '@plat-dev/meta/identity';
import { EncryptedEngine } from '@plat-dev/storage/encryption/encrypted';
import { EncryptionRules } from '@plat-dev/storage/encryption/encryption-rules';
import { type CollectionState, encryptionState } from '@plat-dev/storage/encryption/state';
import { isRefused, type Transformer } from '@plat-dev/storage/encryption/transformer';
import { CommitConflict, type Engine, type Entry, type Operation } from '@plat-dev/storage/engine';
import { loadEncryptionConfig, socketConnector } from './encryption.ts';

/** Maximum objects and bytes of one commit. */
const BATCH = 50;
const BATCH_BYTES = 512 * 1024;
const PAGE = 200;
/** How often objects are retried that were written by others meanwhile. */
const PASSES = 5;

export interface ReencryptOptions {
  readonly file: string;
  readonly identity: Identity;
  /** Only counts. */
  readonly check: boolean;
  readonly clock?: Clock;
}
export interface ReencryptResult {
  readonly rewritten: number;
  /** As it is afterwards. */
  readonly collections: readonly CollectionState[];
}

export async function reencryptStore(
  engine: Engine,
  { file, identity, check, clock = systemClock }: ReencryptOptions,
): Promise<ReencryptResult> {
  const { rules: config } = await loadEncryptionConfig(file, identity).catch((error: unknown) => {
    throw new Error(`--encryption-provider-config ${file}: ${(error as Error).message}`, { cause: error });
  });
  const observer = { transformed: nothing, cacheMiss: nothing, cacheFill: nothing, keyGenerated: nothing };
  const rules = new EncryptionRules(config, {
    identity,
    clock,
    random: systemRandom,
    observer,
    connect: socketConnector(clock, systemRandom),
  });
  const encrypted = new EncryptedEngine(engine, rules);
  try {
    let rewritten = 0;
    await rules.see(encrypted.sealed);
    for (let pass = 0; !check && pass < PASSES; pass++) {
      let overtaken = 0;
      for (const collection of rules.collections) {
        const done = await rewrite(encrypted, rules.ofCollection(collection) as Transformer, clock);
        rewritten += done.rewritten;
        overtaken += done.overtaken;
      }
      if (overtaken === 0) break;
    }
    // The history is encrypted with the old keys. Other servers on a shared store compact on their own.
    if (rewritten > 0 && engine.exclusive) await engine.compact(engine.revision);
    return { rewritten, collections: await encryptionState(encrypted, identity) };
  } finally {
    rules.close();
  }
}
const nothing = (): void => {};

async function rewrite(engine: EncryptedEngine, transformer: Transformer, clock: Clock): Promise<{ rewritten: number; overtaken: number }> {
  let [rewritten, overtaken] = [0, 0];
  let from: string | undefined;
  for (;;) {
    const page = await engine.sealed.range({
      prefix: transformer.collection,
      limit: PAGE,
      uncounted: true,
      expiries: true,
      ...(from !== undefined && { from }),
    });
    for (const batch of await batches(page.entries, transformer, clock)) {
      try {
        await engine.commit(batch);
        rewritten += batch.length;
      } catch (error) {
        if (!(error instanceof CommitConflict)) throw error;
        for (const operation of batch) {
          if (await committed(engine, operation)) rewritten++;
          else overtaken++;
        }
      }
    }
    const last = page.entries.at(-1);
    if (!page.more || last === undefined) return { rewritten, overtaken };
    from = `${last.key}\u0000`;
  }
}

async function committed(engine: Engine, operation: Operation): Promise<boolean> {
  try {
    await engine.commit([operation]);
    return true;
  } catch (error) {
    if (error instanceof CommitConflict) return false;
    throw error;
  }
}

/** Writes of objects without the current key, in commits of a bounded size. */
async function batches(entries: readonly Entry[], transformer: Transformer, clock: Clock): Promise<Operation[][]> {
  const all: Operation[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const { key, value, revision, expires, unreadable } of entries) {
    if (unreadable !== undefined || (await transformer.isCurrent(value, key))) continue;
    const plain = await transformer.open(value, key);
    if (isRefused(plain)) continue;
    const batch = all.at(-1);
    bytes += plain.length;
    // An object with a TTL keeps its remaining time, and at least a second of it.
    const ttl = expires === undefined ? {} : { ttlSeconds: Math.max(1, (expires - clock.now()) / 1000) };
    const operation: Operation = { type: 'put', key, value: plain, expect: revision, ...ttl };
    if (batch === undefined || batch.length >= BATCH || bytes > BATCH_BYTES) {
      all.push([operation]);
      bytes = plain.length;
    } else batch.push(operation);
  }
  return all;
}
