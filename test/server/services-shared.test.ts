/** Two servers on one etcd give out addresses side by side. */
import { expect, test } from 'vitest';
import type { Loose } from '../support/server.ts';
import { onPeers } from '../support/stores.ts';

const peers = { identity: 'kubernetes', controllers: [], advertiseAddress: '192.0.2.1', second: { advertiseAddress: '192.0.2.2' } };
onPeers(peers, (one, two) => {
  const addressesOf = async (): Promise<string[]> => {
    const { subsets = [] } = await one().admin.ok('GET', '/api/v1/namespaces/default/endpoints/kubernetes');
    return subsets.flatMap(({ addresses }: Loose) => addresses.map(({ ip }: Loose) => ip)).sort();
  };

  test('no address is given out twice', async () => {
    const path = `/api/v1/namespaces/${await one().namespace()}/services`;
    const body = (name: string): Loose => ({ metadata: { name }, spec: { type: 'NodePort', ports: [{ port: 80 }] } });
    const made = await Promise.all(
      Array.from({ length: 120 }, (_, i) => (i % 2 === 0 ? one() : two()).admin.ok('POST', path, body(`s${i}`))),
    );
    expect(new Set(made.map(({ spec }) => spec.clusterIP)).size).toBe(120);
    expect(new Set(made.map(({ spec }) => spec.ports[0].nodePort)).size).toBe(120);
    const taken = made[0].spec.clusterIP;
    const refused = await two().admin.post(path, { metadata: { name: 'again' }, spec: { clusterIP: taken, ports: [{ port: 80 }] } });
    expect(refused.status).toBe(422);
  });

  test('the endpoints are those of the servers that live', async () => {
    expect(await addressesOf()).toEqual(['192.0.2.1', '192.0.2.2']);
    await two().close();
    expect(await addressesOf()).toEqual(['192.0.2.1']);
  });
});
