/** The flags of workloads that are not about one of their parts. */
import { expect, test } from 'vitest';
import { FakeClock } from '../../packages/lib/src/clock.ts';
import { type Loose, startTestServer } from '../support/server.ts';

test('--time-factor: objects and their controllers live faster than requests', async () => {
  const clock = new FakeClock(Date.UTC(2024, 0, 1));
  const server = await startTestServer({ store: 'memory', timeFactor: 3600, clock });
  try {
    const create = async (name: string): Promise<unknown> =>
      (await server.admin.ok('POST', '/api/v1/namespaces', { metadata: { name } })).metadata.creationTimestamp;
    expect(await create('first')).toBe('2024-01-01T00:00:00Z');
    await clock.advance(2000);
    expect(await create('second')).toBe('2024-01-01T02:00:00Z');
    const table = await server.admin.get('/api/v1/namespaces/first', { accept: 'application/json;as=Table;v=v1;g=meta.plat.dev' });
    expect(table.json.rows[0].cells).toEqual(['first', 'Active', '120m']);
  } finally {
    await server.close();
  }
});

test('--simulated-nodes: so many nodes are ready', async () => {
  const server = await startTestServer({ identity: 'kubernetes', store: 'memory', workloads: ['nodes'], simulatedNodes: 5 });
  try {
    const ready = async (): Promise<number> => {
      const { items } = await server.admin.ok('GET', '/api/v1/nodes');
      return items.filter(({ status }: Loose) => status?.conditions?.some((one: Loose) => one.type === 'Ready' && one.status === 'True'))
        .length;
    };
    await expect.poll(ready).toBe(5);
  } finally {
    await server.close();
  }
});

test.each([
  ['plat', 'service.plat.dev/load-balancer-cleanup'],
  ['kubernetes', 'service.kubernetes.io/load-balancer-cleanup'],
])('--load-balancer-range, %s: a service has an address of it until it is deleted', async (identity, finalizer) => {
  const server = await startTestServer({ identity, store: 'memory', workloads: ['nodes'], loadBalancerRange: ['192.0.2.0/24'] });
  try {
    const path = '/api/v1/namespaces/default/services';
    await server.admin.ok('POST', path, { metadata: { name: 'web' }, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } });
    const found = (): Promise<Loose> => server.admin.get(`${path}/web`);
    await expect.poll(async () => (await found()).json.status.loadBalancer).toEqual({ ingress: [{ ip: '192.0.2.1' }] });
    expect((await found()).json.metadata.finalizers).toEqual([finalizer]);
    await server.admin.ok('DELETE', `${path}/web`);
    await expect.poll(async () => (await found()).status).toBe(404);
    expect(server.errors).toEqual([]);
  } finally {
    await server.close();
  }
});

test.each(['plat', 'kubernetes'])('%s: the kinds of the simulation are served when the server is ready', async (identity) => {
  const server = await startTestServer({ identity, store: 'memory', workloads: ['nodes'], clock: new FakeClock(), direct: true });
  try {
    const group = `simulation.${identity === 'plat' ? 'plat.dev' : 'k8s.io'}`;
    for (const plural of ['nodepools', 'podlifecycles']) {
      const list = await server.admin.get(`/apis/${group}/v1alpha1/${plural}`);
      expect([plural, list.status]).toEqual([plural, 200]);
    }
  } finally {
    await server.close();
  }
});
