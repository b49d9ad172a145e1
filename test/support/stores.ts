/** The same server on every kind of store. */
import { afterAll, beforeAll, describe } from 'vitest';
import { type EtcdFixture, etcdMissing, startEtcd } from './etcd.ts';
import { startTestServer, type TestServer, type TestServerOptions } from './server.ts';

export type StoreName = 'memory' | 'lmdb' | 'etcd';

/**
 * Runs a block of tests once for each store, with a server of its own each time. With the first store requests come over connections;
 * what these bring is the same whatever the store, so that they come without one with the others, unless options say otherwise.
 */
export function onStores(stores: readonly StoreName[], options: TestServerOptions, tests: (server: () => TestServer) => void): void {
  for (const [i, store] of stores.entries()) {
    const reason = store === 'etcd' ? etcdMissing : undefined;
    describe.skipIf(reason !== undefined)(`on ${store}${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
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
      tests(() => server);
    });
  }
}

/** The second of two servers may differ from the first in some options. */
export interface PeerOptions extends TestServerOptions {
  readonly second?: TestServerOptions;
}

/** Runs a block of tests with two servers on one etcd. */
export function onPeers(
  { second, ...first }: PeerOptions,
  tests: (one: () => TestServer, two: () => TestServer, etcd: () => EtcdFixture) => void,
): void {
  describe.skipIf(etcdMissing !== undefined)(
    `two servers on one etcd${etcdMissing === undefined ? '' : ` (skipped: ${etcdMissing})`}`,
    () => {
      let etcd: EtcdFixture;
      let one: TestServer;
      let two: TestServer;
      beforeAll(async () => {
        etcd = await startEtcd();
        one = await startTestServer({ ...first, store: 'etcd', etcdServers: [etcd.endpoint] });
        two = await one.peer(second);
      });
      afterAll(async () => {
        await two?.close();
        await one?.close();
        await etcd?.stop();
      });
      tests(
        () => one,
        () => two,
        () => etcd,
      );
    },
  );
}
