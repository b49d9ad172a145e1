/** The state of a server: the store, with encryption if configured, the cache in front of it and the kinds it serves. */
import { type KindEnv, releaseEnv } from '@plat-dev/kinds/kind';
import type { LiveSource } from '@plat-dev/kinds/live-view';
import type { Log } from '@plat-dev/lib/log';
import { withDescriptors } from '@plat-dev/server/connections/descriptors';
import { measured } from '@plat-dev/server/endpoints/measured-engine';
import { Catalog } from '@plat-dev/server/registry/catalog';
import { liveSource } from '@plat-dev/server/registry/live-views';
import { Cache } from '@plat-dev/storage/cache';
import type { Engine } from '@plat-dev/storage/engine';
import type { openEngine } from '@plat-dev/storage/engines/index';
import type { HistoryPolicy } from '@plat-dev/storage/history';
import { logUnreadable } from '@plat-dev/storage/unreadable';
import { type Allocations, declareAllocations, declareServerEndpoints } from './allocation.ts';
import { isServed, servesHistory } from './api-release.ts';
import type { Base } from './base.ts';
import type { Encryption } from './store/encryption.ts';
import { historyOf, watchWindow } from './store/history.ts';
import { prepareStore, restoreDirectoryFirst, storeOwner } from './store/store.ts';

export type OpenStore = typeof openEngine;

export interface State {
  /** The store as it was opened. */
  readonly engine: Engine;
  /** Which versions are kept; undefined: none beyond the window of watches. */
  readonly history: HistoryPolicy | undefined;
  readonly encryption: Encryption | undefined;
  readonly cache: Cache;
  readonly catalog: Catalog;
  readonly live: LiveSource;
  readonly env: KindEnv;
  readonly allocations: Allocations;
  readonly serverEndpoints: ReturnType<typeof declareServerEndpoints>;
}

/** Opens the store, and loads what it holds. */
export async function composeState(base: Base, openStore: OpenStore): Promise<State> {
  const { options, identity, clock, objectClock, log, metrics, parts } = base;
  const policy = historyOf(base);
  const engine = await parts.start(
    'store',
    () => open(base, openStore, policy),
    (store) => store.close(),
  );
  await parts.start('restore', () => prepareStore(engine, options, base));
  const store = measured(engine, metrics, () => clock.monotonic());
  const encryption = await parts.start(
    'encryption',
    () => encryptionOf(base, store),
    (encrypted) => encrypted?.close(),
  );
  const env: KindEnv = {
    ...releaseEnv(options.apiRelease),
    identity,
    now: () => objectClock.now(),
    feature: (name) => options.features.isOn(name),
    allowPrivileged: options.allowPrivileged,
    eventTtlSeconds: Math.max(1, options.eventTtl / 1000 / options.timeFactor),
  };
  const { cache, ...declared } = await parts.start(
    'cache',
    async () => {
      const newCache = new Cache(
        encryption?.engine ?? store,
        clock,
        (error) => base.fail('cannot follow the store', error),
        logUnreadable(log),
        (prefix, error) => logLoading(log, prefix, error),
      );
      const catalog = new Catalog(identity, newCache, env.feature, options.apiRelease);
      catalog.declare(base.kinds, isServed(options));
      const allocations = declareAllocations(base, newCache, catalog);
      const serverEndpoints = declareServerEndpoints(base, newCache);
      try {
        await newCache.start(base.from?.cache);
      } catch (error) {
        newCache.close();
        throw error;
      }
      return { cache: newCache, catalog, allocations, serverEndpoints };
    },
    (state) => state.cache.close(),
  );
  await parts.start('encryption reload', () => encryption?.follow(cache));
  const history = servesHistory(options, identity) ? policy : undefined;
  return { engine, history, encryption, cache, live: liveSource(declared.catalog), env, ...declared };
}

function logLoading(log: Log, collection: string, error: unknown): void {
  if (error === undefined) log.info('objects are loaded after failures', { collection });
  else log.error('cannot load objects from the store, retrying', { collection, error });
}

async function open(base: Base, openStore: OpenStore, history: HistoryPolicy): Promise<Engine> {
  const { options, identity, clock, random, log } = base;
  await restoreDirectoryFirst(options, base);
  const exhausted = (error: unknown): void => log.warn('no file descriptors are free, waiting', { error: String(error) });
  return withDescriptors(
    () =>
      openStore({
        store: options.store,
        dataDir: options.dataDir,
        historyRetentionMs: watchWindow(options),
        history,
        clock,
        random,
        owner: storeOwner(identity),
        notice: (problem) => log.warn('store problem', { problem }),
        checked: (result) => log.info('store file pages checked', { ...result }),
        etcd: {
          servers: options.etcdServers,
          prefix: options.etcdPrefix,
          caFile: options.etcdCafile,
          certFile: options.etcdCertfile,
          keyFile: options.etcdKeyfile,
          username: options.etcdUsername,
          passwordFile: options.etcdPasswordFile,
        },
      }),
    exhausted,
    clock,
  );
}

/** Undefined where nothing is encrypted: the store is then used as it is. */
async function encryptionOf({ options, identity, metrics, log, clock, random }: Base, engine: Engine): Promise<Encryption | undefined> {
  const { encryptionProviderConfig: file, encryptionProviderConfigAutomaticReload: reload } = options;
  if (file === undefined) return undefined;
  const { composeEncryption } = await import('./store/encryption.ts');
  return composeEncryption({ file, reload, identity, engine, metrics, log, clock, random });
}
