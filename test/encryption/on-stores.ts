/** A server on each of some stores, whose options a block of tests makes. */
import { afterAll, beforeAll, describe } from 'vitest';
import { type EtcdFixture, etcdMissing, startEtcd } from '../support/etcd.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';
import type { StoreName } from '../support/stores.ts';

export function onStoresWith(
  stores: readonly StoreName[],
  tests: (start: (options: TestServerOptions) => () => TestServer, store: StoreName) => void,
): void {
  for (const store of stores) {
    const reason = store === 'etcd' ? etcdMissing : undefined;
    describe.skipIf(reason !== undefined)(`on ${store}${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
      tests((options) => {
        let server: TestServer;
        let etcd: EtcdFixture | undefined;
        beforeAll(async () => {
          if (store === 'etcd') etcd = await startEtcd();
          server = await startTestServer({ store, ...options, ...(etcd !== undefined && { etcdServers: [etcd.endpoint] }) });
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
