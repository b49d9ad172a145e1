import { afterAll, beforeAll, describe } from 'vitest';
import { type EtcdFixture, etcdMissing, startEtcd } from '../../../test/support/etcd.ts';
import { engineSuite } from '../engine.suite.ts';
import { type EtcdOptions, openEtcd } from './etcd.ts';

describe.skipIf(etcdMissing !== undefined)(`etcd${etcdMissing === undefined ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  let etcd: EtcdFixture;
  let count = 0;
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd.stop());

  engineSuite('etcd', async () => {
    // Each test has a store of its own; nothing compacts but the tests themselves.
    const options: EtcdOptions = { endpoints: [etcd.endpoint], prefix: `/suite/${count++}`, historyRetentionMs: 0 };
    const fixture = {
      engine: await openEtcd(options),
      async reopen() {
        await fixture.engine.close();
        fixture.engine = await openEtcd(options);
        return fixture.engine;
      },
    };
    return fixture;
  });
});
