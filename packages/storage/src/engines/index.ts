/** The engines, each loaded only when it is the one in use. */

import type { Clock } from '@plat-dev/lib/clock';
import { setOwn } from '@plat-dev/lib/own';
import type { Random } from '@plat-dev/lib/random';
import type { Engine } from '../engine.ts';
import type { HistoryPolicy } from '../history.ts';
import type { StoreOwner } from '../store-mark.ts';
import type { PageCheck } from './lmdb/pages/page-look.ts';

type StoreName = 'memory' | 'lmdb' | 'etcd';

export interface EngineOptions {
  readonly store: StoreName;
  /** Directory of the store file (lmdb). */
  readonly dataDir: string;
  /** How long superseded versions stay readable. */
  readonly historyRetentionMs?: number | undefined;
  /** Which superseded versions outlast that; undefined: none. */
  readonly history?: HistoryPolicy | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  /** Connection options of etcd. Empty text counts as not given. */
  readonly etcd?: EtcdAccess | undefined;
  /** Free bytes of the disk that holds a directory (lmdb); for tests. */
  readonly freeBytes?: ((directory: string) => number) | undefined;
  /** The required identity of the store; undefined for tools, which open any. */
  readonly owner?: StoreOwner | undefined;
  /** Called with problems outside of requests, such as lost connections and damage, for the log. */
  readonly notice?: ((message: string) => void) | undefined;
  /** Called when all pages of the store file were checked while the server runs (lmdb), for the log. */
  readonly checked?: ((result: PageCheck) => void) | undefined;
}
export interface EtcdAccess {
  readonly servers: readonly string[];
  readonly prefix?: string | undefined;
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly username?: string | undefined;
  readonly passwordFile?: string | undefined;
}

/** Throws an error that says what to do when the store cannot be opened. */
export async function openEngine({
  store,
  dataDir,
  historyRetentionMs,
  history,
  clock,
  random,
  etcd,
  owner,
  freeBytes,
  notice,
  checked,
}: EngineOptions): Promise<Engine> {
  const common = withoutEmptyValues({ historyRetentionMs, history, clock });
  switch (store) {
    case 'memory': {
      const { openMemoryEngine } = await import('./memory.ts');
      return openMemoryEngine(common);
    }
    case 'lmdb': {
      const { openLmdbEngine } = await import('./lmdb.ts');
      return openLmdbEngine({ ...common, ...withoutEmptyValues({ freeBytes, notice, checked, random }), dataDir, owner });
    }
    case 'etcd': {
      const { openEtcd } = await import('./etcd.ts');
      const { servers = [], ...files } = etcd ?? {};
      return openEtcd({ ...common, ...withoutEmptyValues({ ...files, notice, random }), endpoints: servers, owner });
    }
  }
}

/** The same object without undefined and empty values. */
function withoutEmptyValues<T extends object>(options: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) if (value !== undefined && value !== '') setOwn(result, name, value);
  return result as { [Name in keyof T]?: Exclude<T[Name], undefined> };
}
