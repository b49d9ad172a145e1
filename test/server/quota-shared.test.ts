/** Two servers on one etcd charge the same quota side by side. */
import { expect, test } from 'vitest';
import { onPeers } from '../support/stores.ts';

onPeers({ identity: 'kubernetes', controllers: [] }, (one, two) => {
  test('neither lets more through than is left', async () => {
    const ns = await one().namespace();
    const quotas = `/api/v1/namespaces/${ns}/resourcequotas`;
    await one().admin.ok('POST', quotas, { metadata: { name: 'q' }, spec: { hard: { secrets: '30' } } });
    const status = { hard: { secrets: '30' }, used: { secrets: '0' } };
    expect((await one().admin.patch(`${quotas}/q/status`, { status })).status).toBe(200);
    // Whatever the second server has not seen yet, it would not be held to.
    while ((await two().admin.get(`${quotas}/q`)).json.status?.used === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
    const create = (i: number) =>
      (i % 2 === 0 ? one() : two()).admin.post(`/api/v1/namespaces/${ns}/secrets`, { metadata: { name: `s${i}` } });
    const answers = await Promise.all(Array.from({ length: 80 }, (_, i) => create(i)));
    const codes = answers.map(({ status }) => status).sort();
    expect(codes).toEqual([...Array.from({ length: 30 }, () => 201), ...Array.from({ length: 50 }, () => 403)]);
    expect((await two().admin.get(`/api/v1/namespaces/${ns}/secrets`)).json.items).toHaveLength(30);
    expect((await two().admin.get(`${quotas}/q`)).json.status.used).toEqual({ secrets: '30' });
  });
});
