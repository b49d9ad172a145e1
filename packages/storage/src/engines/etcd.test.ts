import { systemClock } from '@plat-dev/lib/clock';
import { afterAll, beforeAll, describe } from 'vitest';
import { type EtcdFixture, etcdMissing, startEtcd } from '../../../../test/support/etcd.ts';
import { type EngineFixture, engineSuite } from '../engine.suite.ts';
import { LONG_GRACE_MS } from './etcd/feed.ts';
import { type ShiftedClock, shiftedClock } from './etcd/shifted-clock.testing.ts';
import { type EtcdOptions, openEtcd } from './etcd.ts';

/**
 * A change that does not come soon is asked for by a write, which uses a revision. The suite counts revisions, and on a busy machine
 * changes may come late: here they have time.
 */
function patientClock(): ShiftedClock {
  const clock = shiftedClock();
  return {
    ...clock,
    after: (millis, call, keepAlive) => clock.after(millis === LONG_GRACE_MS ? 20 * millis : millis, call, keepAlive),
  };
}

describe.skipIf(etcdMissing !== undefined)(`etcd${etcdMissing === undefined ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  let etcd: EtcdFixture;
  let count = 0;
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd.stop());

  engineSuite('etcd', async ({ history }) => {
    const clock = patientClock();
    // Each test has a store of its own; nothing compacts but the tests themselves.
    const options: EtcdOptions = {
      endpoints: [etcd.endpoint],
      prefix: `/suite/${count++}`,
      historyRetentionMs: 0,
      ...(history !== undefined && { history }),
      historySweepMs: 500,
      clock,
    };
    const fixture: EngineFixture = {
      engine: await openEtcd(options),
      async reopen() {
        await fixture.engine.close();
        fixture.engine = await openEtcd(options);
        return fixture.engine;
      },
      // Leases of etcd end by the time of the machine.
      advance: async (milliseconds) => {
        clock.shift(milliseconds);
        await systemClock.sleep(Math.min(milliseconds, 1_100));
      },
      hasSeparateHistory: true,
    };
    return fixture;
  });
});
