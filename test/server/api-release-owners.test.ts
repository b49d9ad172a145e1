/** Owners of fields that were written in a version which a later release of the API has removed. */
import { afterEach, expect, test } from 'vitest';
import type { ApiRelease } from '../../packages/lib/src/version.ts';
import { startTestServer, type TestServer } from '../../packages/testing/src/index.ts';
import type { Loose } from '../support/server.ts';

let server: TestServer;
afterEach(() => server.close());

async function moveTo(release: ApiRelease): Promise<void> {
  const snapshot = await server.snapshot();
  await server.close();
  server = await snapshot.fork({ apiRelease: release });
}
const template = { metadata: { labels: { app: 'shop' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
const older = '/apis/extensions/v1beta1/namespaces/default/deployments/a';
const newer = '/apis/apps/v1/namespaces/default/deployments/a';
const spec = { template, selector: { matchLabels: { app: 'shop' } }, replicas: 2 };

async function apply(path: string, manager: string, more: Loose, query = ''): Promise<{ status: number; body: Loose }> {
  const apiVersion = path.split('/').slice(2, 4).join('/');
  const { status, body } = await server.request('PATCH', `${path}?fieldManager=${manager}${query}`, {
    body: { apiVersion, kind: 'Deployment', metadata: { name: 'a' }, spec: more },
    headers: { 'content-type': 'application/apply-patch+yaml' },
  });
  return { status, body: body as Loose };
}
const owners = (object: Loose): string[] =>
  (object.metadata.managedFields ?? []).map(({ manager, apiVersion }: Loose) => `${manager} ${apiVersion}`).sort();

test('entries of a version that is not served are dropped, as a stock server drops them; the fields stay', async () => {
  server = await startTestServer({ identity: 'kubernetes', apiRelease: '1.15' });
  expect((await apply(older, 'me', spec)).status).toBe(201);
  await moveTo('1.27');
  expect(owners((await server.request('GET', newer)).body as Loose)).toEqual(['me extensions/v1beta1']);
  const { replicas: _, ...less } = spec;
  const applied = await apply(newer, 'me', { ...less, paused: true });
  expect([applied.status, applied.body.spec.paused, applied.body.spec.replicas]).toEqual([200, true, 2]);
  expect(owners(applied.body)).toEqual(['me apps/v1']);
  // From now on the manager is known, whichever of the versions it uses.
  expect((await apply(newer, 'me', less)).body.spec.paused).toBeUndefined();
  await moveTo('1.15');
  const back = await apply(older, 'me', { ...less, paused: true });
  expect([back.status, owners(back.body)]).toEqual([200, ['me extensions/v1beta1']]);
});

test('another manager has no conflict with an owner of a version that is not served, and one with an owner of today', async () => {
  server = await startTestServer({ identity: 'kubernetes', apiRelease: '1.15' });
  expect((await apply(older, 'me', spec)).status).toBe(201);
  expect((await apply(newer, 'second', { minReadySeconds: 7 })).status).toBe(200);
  expect((await apply(newer, 'other', { replicas: 5 })).body).toMatchObject({
    code: 409,
    message: expect.stringContaining('conflict with "me": .spec.replicas'),
  });
  await moveTo('1.27');
  expect((await apply(newer, 'other', { minReadySeconds: 8 })).body).toMatchObject({
    code: 409,
    message: expect.stringContaining('conflict with "second": .spec.minReadySeconds'),
  });
  const taken = await apply(newer, 'other', { replicas: 5 });
  expect([taken.status, taken.body.spec.replicas, owners(taken.body)]).toEqual([200, 5, ['other apps/v1', 'second apps/v1']]);
});

test('an update drops what an apply drops, and patches of every type are answered', async () => {
  server = await startTestServer({ identity: 'kubernetes', apiRelease: '1.15' });
  expect((await apply(older, 'me', spec)).status).toBe(201);
  await moveTo('1.27');
  const object = (await server.request('GET', newer)).body as Loose;
  const put = await server.request('PUT', `${newer}?fieldManager=editor`, { body: { ...object, spec: { ...object.spec, replicas: 3 } } });
  expect([put.status, owners(put.body as Loose)]).toEqual([200, ['editor apps/v1']]);
  for (const type of ['merge-patch', 'strategic-merge-patch']) {
    const headers = { 'content-type': `application/${type}+json` };
    expect((await server.request('PATCH', newer, { body: { metadata: { labels: { type } } }, headers })).status).toBe(200);
  }
});
