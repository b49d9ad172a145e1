/** A full disk: writes are refused with the reason, reads go on, and the server recovers by itself. */
import { expect, test } from 'vitest';
import { startTestServer } from '../support/server.ts';

test.each(['plat', 'kubernetes'] as const)('writes wait for room, reads do not, readiness tells (%s)', async (identity) => {
  let free = 2 ** 40;
  const server = await startTestServer({ store: 'lmdb', identity, freeBytes: () => free });
  const { admin } = server;
  const path = '/api/v1/namespaces/default/configmaps';
  await admin.ok('POST', path, { metadata: { name: 'a' } });
  free = 3 * 2 ** 20;
  const refused = await admin.send('POST', path, { body: { metadata: { name: 'b' } } });
  expect(refused.status).toBe(503);
  expect(refused.headers['retry-after']).toBe('10');
  expect(refused.json).toMatchObject({
    kind: 'Status',
    reason: 'ServiceUnavailable',
    message: expect.stringMatching(/^the disk of .* is full \(3 MiB free, 17 MiB needed\); nothing can be written until there is room$/),
    details: { retryAfterSeconds: 10, causes: [{ reason: 'StoreFull' }] },
  });
  for (const [method, body] of [
    ['PUT', { metadata: { name: 'a' }, data: { x: '1' } }],
    ['DELETE', undefined],
  ] as const)
    expect((await admin.send(method, `${path}/a`, { body })).status).toBe(503);
  expect((await admin.get(`${path}/a`)).status).toBe(200);
  expect((await admin.get(path)).status).toBe(200);
  expect((await admin.get('/readyz')).status).toBe(500);
  expect((await admin.get('/readyz/etcd')).text).toMatch(/is full \(3 MiB free/);
  for (const page of ['livez', 'healthz']) expect((await admin.get(`/${page}`)).status).toBe(200);

  free = 2 ** 40;
  expect((await admin.get('/readyz')).status).toBe(200);
  await admin.ok('POST', path, { metadata: { name: 'b' } });
  expect((await admin.get(`${path}/a`)).json.data).toBeUndefined();
  await server.close();
});
