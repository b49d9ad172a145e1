/** Leases: what a deletion of many chooses, refuses and answers, and what a lease may say. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';
import { answers } from './table.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ direct: true, identity: 'kubernetes', controllers: ['-*'] });
});
afterAll(() => server.close());

/** Leases a, b and c; the last has another label. */
async function place(): Promise<string> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${await server.namespace()}/leases`;
  for (const name of ['a', 'b', 'c'])
    await server.admin.ok('POST', path, { metadata: { name, labels: { x: name === 'c' ? '2' : '1' } }, spec: { holderIdentity: name } });
  return path;
}
const names = ({ items }: Loose): string[] => items.map(({ metadata }: Loose) => metadata.name);
const left = async (path: string): Promise<string[]> => names((await server.admin.get(path)).json);

test.each<[string, string[], string[]]>([
  ['', ['a', 'b', 'c'], []],
  ['?labelSelector=x%3D1', ['a', 'b'], ['c']],
  ['?fieldSelector=metadata.name%3Db', ['b'], ['a', 'c']],
  ['?labelSelector=x%3D1&fieldSelector=metadata.name%21%3Da', ['b'], ['a', 'c']],
  ['?limit=2', ['a', 'b'], ['c']],
  ['?labelSelector=none', [], ['a', 'b', 'c']],
  ['?dryRun=All', ['a', 'b', 'c'], ['a', 'b', 'c']],
  ['?watch=true', ['a', 'b', 'c'], []],
])('DELETE leases%s answers with the list as it was', async (query, deleted, stay) => {
  const path = await place();
  const answer = await answers(server.admin, [
    ['DELETE', `${path}${query}`, undefined, 200, { kind: 'LeaseList', apiVersion: 'coordination.k8s.io/v1' }],
  ]);
  expect(names(answer)).toEqual(deleted);
  for (const { metadata } of answer.items) expect(metadata.deletionTimestamp).toBeUndefined();
  expect(answer.metadata.remainingItemCount).toBe(query === '?limit=2' ? 1 : undefined);
  expect(await left(path)).toEqual(stay);
});

test('what a finalizer holds is marked, and stays', async () => {
  const path = await place();
  await answers(server.admin, [
    ['PATCH', `${path}/b`, { metadata: { finalizers: ['example.com/hold'] } }, 200],
    ['DELETE', path, undefined, 200],
    ['GET', `${path}/b`, undefined, 200, { metadata: { deletionTimestamp: expect.any(String), deletionGracePeriodSeconds: 0 } }],
  ]);
  expect(await left(path)).toEqual(['b']);
});

test('conditions, options and selectors that do not hold delete nothing', async () => {
  const path = await place();
  await answers(server.admin, [
    ['DELETE', path, { preconditions: { uid: '11111111-2222-3333-4444-555555555555' } }, 409, 'Conflict'],
    ['DELETE', path, { preconditions: { resourceVersion: '1' } }, 409, 'Conflict'],
    // Without a body the query is read as options, too.
    ['DELETE', `${path}?resourceVersion=0`, undefined, 409, 'Conflict'],
    ['DELETE', path, { propagationPolicy: 'Odd' }, 422, ['propagationPolicy NotSupported']],
    ['DELETE', path, { dryRun: ['Some'] }, 422, ['dryRun NotSupported']],
    ['DELETE', `${path}?fieldSelector=spec.holderIdentity%3Da`, undefined, 400, 'BadRequest'],
    ['DELETE', `${path}?labelSelector=%21%21`, undefined, 400, 'BadRequest'],
    ['DELETE', '/apis/coordination.k8s.io/v1/leases', undefined, 405, 'MethodNotAllowed'],
    ['DELETE', '/apis/coordination.k8s.io/v1/namespaces/nowhere/leases', undefined, 200, { items: [] }],
  ]);
  expect(await left(path)).toEqual(['a', 'b', 'c']);
});

test('watchers see each lease go', async () => {
  const path = await place();
  const { metadata } = (await server.admin.get(path)).json;
  await answers(server.admin, [['DELETE', `${path}?labelSelector=x%3D1`, undefined, 200]]);
  const watch = await server.admin.watch(`${path}?watch=1&resourceVersion=${metadata.resourceVersion}`);
  const events = [await watch.next(), await watch.next()].map(({ type, object }: Loose) => `${type} ${object.metadata.name}`);
  watch.close();
  expect(events.sort()).toEqual(['DELETED a', 'DELETED b']);
});

test('what a lease may say', async () => {
  const path = await place();
  const dry = `${path}?dryRun=All`;
  const lease = (spec: Loose): Loose => ({ metadata: { name: 'x' }, spec });
  await answers(server.admin, [
    [
      'POST',
      dry,
      lease({ leaseDurationSeconds: 0, leaseTransitions: -1 }),
      422,
      ['spec.leaseDurationSeconds Invalid', 'spec.leaseTransitions Invalid'],
    ],
    ['POST', dry, lease({ leaseTransitions: 0, holderIdentity: '' }), 201, { spec: { leaseTransitions: 0, holderIdentity: '' } }],
    ['POST', dry, lease({ renewTime: '2020-01-01T00:00:00.000001Z' }), 201, { spec: { renewTime: '2020-01-01T00:00:00.000001Z' } }],
    // Times have six digits behind the second, no more and no fewer.
    ['POST', dry, lease({ renewTime: '2020-01-01T00:00:00Z' }), 400, 'BadRequest'],
    ['POST', dry, lease({ renewTime: '2020-01-01T00:00:00.123456789Z' }), 400, 'BadRequest'],
    ['PUT', `${path}/new`, { metadata: { name: 'new' }, spec: {} }, 201],
    ['PUT', `${path}/new`, { metadata: { name: 'new' }, spec: {} }, 422, ['metadata.resourceVersion Invalid']],
  ]);
});
