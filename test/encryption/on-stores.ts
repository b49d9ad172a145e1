/** A server on each of some stores, whose options a block of tests makes; as in `onStores`, requests have connections with the first. */
import { afterAll, beforeAll, describe } from 'vitest';
import { type EtcdFixture, etcdMissing, startEtcd } from '../support/etcd.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';
import type { StoreName } from '../support/stores.ts';

export function onStoresWith(
  stores: readonly StoreName[],
  tests: (start: (options: TestServerOptions) => () => TestServer, store: StoreName) => void,
): void {
  for (const [i, store] of stores.entries()) {
    const reason = store === 'etcd' ? etcdMissing : undefined;
    describe.skipIf(reason !== undefined)(`on ${store}${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
      tests((options) => {
        let server: TestServer;
        let etcd: EtcdFixture | undefined;
        beforeAll(async () => {
          if (store === 'etcd') etcd = await startEtcd();
          server = await startTestServer({ store, direct: i > 0, ...options, ...(etcd !== undefined && { etcdServers: [etcd.endpoint] }) });
        });
        afterAll(async () => {
          await server?.close();
          await etcd?.stop();
        });
        return () => server;
      }, store);
    });
  }
}
