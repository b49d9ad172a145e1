/** Two servers on one store: exactly one runs the controllers, and when it dies the other does. */
import { afterEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { etcdMissing, startEtcd } from '../support/etcd.ts';
import { programMissing } from '../support/program.ts';
import { startTestServer } from '../support/server.ts';
import { type KilledServer, startServerChild, until } from './support.ts';

const times = { leaderElectLeaseDuration: 3000, leaderElectRenewDeadline: 2000, leaderElectRetryPeriod: 500 };
const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager';
const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Only the one that is killed has a process of its own. */
type Used = Pick<KilledServer, 'admin'>;

/** Writes that the controllers of a server made, by resource. */
async function made(server: Used, resource: string): Promise<number> {
  const metrics = (await server.admin.get('/metrics')).text;
  const lines = metrics
    .split('\n')
    .filter((line) => line.startsWith('apiserver_request_total{code="201"') && line.includes(`resource="${resource}"`));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
const leads = async (server: Used): Promise<boolean> =>
  (await server.admin.get('/metrics')).text.includes('leader_election_master_status{name="kube-controller-manager"} 1');

const missing = etcdMissing ?? programMissing;

test.skipIf(missing !== undefined)(
  `one leads, a killed leader is replaced, no work is done twice (${missing ?? 'with etcd'})`,
  async () => {
    const etcd = await startEtcd();
    cleanups.push(() => etcd.stop());
    const options = { store: 'etcd', etcdServers: [etcd.endpoint], identity: 'kubernetes', ...times } as const;
    const first = await startServerChild(temporaryDirectory('plat-controllers'), options);
    cleanups.push(() => first.kill());
    await until('the first leads', () => leads(first), 100);
    const second = await startTestServer(options);
    cleanups.push(() => second.close());

    for (let i = 0; i < 8; i++) await second.admin.ok('POST', '/api/v1/namespaces', { metadata: { name: `n${i}` } });
    await until('all have their account', async () => (await second.admin.ok('GET', '/api/v1/serviceaccounts')).items.length === 12);
    expect([await leads(first), await leads(second)]).toEqual([true, false]);
    // The second made the namespaces and nothing else: what controllers do was done by the first, and once.
    expect([await made(first, 'serviceaccounts'), await made(second, 'serviceaccounts')]).toEqual([12, 0]);

    const before = await second.admin.ok('GET', lease);
    await first.kill();
    // All metrics are made each time, and a lease lasts for seconds.
    await until('the second leads', () => leads(second), 400);
    const after = await second.admin.ok('GET', lease);
    expect(after.spec.holderIdentity).not.toBe(before.spec.holderIdentity);
    expect(after.spec.leaseTransitions).toBe(before.spec.leaseTransitions + 1);
    await second.admin.ok('POST', '/api/v1/namespaces', { metadata: { name: 'late' } });
    await until(
      'the controllers work',
      async () => (await second.admin.get('/api/v1/namespaces/late/serviceaccounts/default')).status === 200,
    );
    await second.admin.ok('DELETE', '/api/v1/namespaces/late');
    await until('the namespace is gone', async () => (await second.admin.get('/api/v1/namespaces/late')).status === 404);
  },
  120_000,
);
