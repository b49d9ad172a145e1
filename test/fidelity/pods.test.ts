/** Probes and containers that are added later, bindings, bound tokens, grace periods: which code, reason and field. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';
import { answers, type Row } from './table.ts';

let server: TestServer;
let namespace: string;
let pods: string;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', direct: true });
  namespace = await server.namespace();
  pods = `/api/v1/namespaces/${namespace}/pods`;
  await answers(server.admin, [
    ['POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'one' } }, 201],
    ['POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'other' } }, 201],
  ]);
});
afterAll(() => server.close());

let serial = 0;
const fresh = (): string => `p${++serial}`;
const pod = (name: string, spec: Loose = {}): Loose => ({
  metadata: { name },
  spec: { serviceAccountName: 'one', containers: [{ name: 'c', image: 'i' }], ...spec },
});
const get = { httpGet: { port: 80 } };

const startup = 'spec.containers[0].startupProbe';
const probes: readonly (readonly [string, Loose, string[]])[] = [
  ['no handler', { startupProbe: {} }, [`${startup} Required`, `${startup} Required`]],
  ['a threshold', { startupProbe: { ...get, successThreshold: 2 } }, [`${startup}.successThreshold Invalid`]],
  [
    'one after another',
    { name: 'C', livenessProbe: {}, readinessProbe: { ...get, terminationGracePeriodSeconds: 1 }, ports: [{ containerPort: 0 }] },
    [
      'spec.containers[0].name Invalid',
      'spec.containers[0].livenessProbe Required',
      'spec.containers[0].readinessProbe.terminationGracePeriodSeconds Invalid',
      'spec.containers[0].ports[0].containerPort Required',
    ],
  ],
  [
    'two handlers',
    { readinessProbe: { ...get, grpc: { port: 1 } }, lifecycle: { preStop: {} } },
    ['spec.containers[0].lifecycle.preStop Required', 'spec.containers[0].readinessProbe.grpc Forbidden'],
  ],
];
test.each(probes)('probes: %s', async (_name, container, causes) => {
  const containers = [{ name: 'c', image: 'i', ...container }];
  await answers(server.admin, [['POST', `${pods}?dryRun=All`, pod('x', { containers }), 422, causes]]);
});

test('containers that run first have no probes, and those they have are checked', async () => {
  const initContainers = [{ name: 'i', image: 'i', livenessProbe: {}, lifecycle: {} }];
  const at = 'spec.initContainers[0]';
  const causes = [`${at}.livenessProbe Required`, `${at}.lifecycle Invalid`, `${at}.livenessProbe Invalid`];
  await answers(server.admin, [['POST', `${pods}?dryRun=All`, pod('x', { initContainers }), 422, causes]]);
});

test('containers that are added later', async () => {
  const name = fresh();
  await server.admin.ok('POST', pods, pod(name));
  const at = 'spec.ephemeralContainers[0]';
  const row = (container: Loose, causes: string[]): Row => [
    'STRATEGIC',
    `${pods}/${name}/ephemeralcontainers?dryRun=All`,
    { spec: { ephemeralContainers: [container] } },
    422,
    causes,
  ];
  await answers(server.admin, [
    row({ image: 'i' }, [`${at} Required`]),
    row({ name: 'e' }, [`${at}[0].image Required`]),
    row({ name: 'E', image: 'i' }, [`${at}[0].name Invalid`]),
    row({ name: 'c', image: 'i' }, [`${at}.name Duplicate`]),
    row({ name: 'e', image: 'i', livenessProbe: get }, [`${at}.livenessProbe Forbidden`]),
    row({ name: 'e', image: 'i', livenessProbe: {} }, [`${at}[0].livenessProbe Required`, `${at}.livenessProbe Forbidden`]),
    row({ name: 'e', image: ' i', targetContainerName: 'z' }, [`${at}.targetContainerName NotFound`, `${at}[0].image Invalid`]),
    row({ name: 'e', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v' }] }, [`${at}[0].volumeMounts[0].name NotFound`]),
    [
      'POST',
      `${pods}?dryRun=All`,
      pod('y', { ephemeralContainers: [{ name: 'e', image: 'i' }] }),
      422,
      ['spec.ephemeralContainers Forbidden'],
    ],
  ]);
});

test('bindings that are refused', async () => {
  const name = fresh();
  await server.admin.ok('POST', pods, pod(name));
  const bind = (metadata: Loose = {}): Loose => ({ metadata: { name, ...metadata }, target: { kind: 'Node', name: 'n' } });
  const at = `${pods}/${name}/binding`;
  await answers(server.admin, [
    ['POST', at, bind({ uid: 'another' }), 409, { reason: 'Conflict', details: { name, kind: 'pods' } }],
    ['POST', at, bind({ resourceVersion: '1' }), 409, { reason: 'Conflict', details: { name, kind: 'pods' } }],
    ['POST', at, bind({ name: 'another' }), 400, 'BadRequest'],
    ['POST', `${pods}/missing/binding`, bind({ name: 'missing' }), 404, { details: { name: 'missing', kind: 'pods' } }],
    ['POST', at, bind(), 201, { status: 'Success', code: 201 }],
    ['POST', at, bind(), 409, { reason: 'Conflict', details: { name, kind: 'pods/binding' } }],
  ]);
});

test('tokens for objects that are gone or never were', async () => {
  const at = `/api/v1/namespaces/${namespace}/serviceaccounts/one/token`;
  const ask = (boundObjectRef: Loose): Loose => ({ spec: { audiences: [], boundObjectRef } });
  const name = fresh();
  const other = fresh();
  await server.admin.ok('POST', pods, pod(name));
  await server.admin.ok('POST', pods, pod(other, { serviceAccountName: 'other' }));
  await answers(server.admin, [
    ['POST', at, ask({ kind: 'Pod', apiVersion: 'v1', name: 'missing' }), 404, { details: { name: 'missing', kind: 'pods' } }],
    ['POST', at, ask({ kind: 'Secret', apiVersion: 'v1', name: 'missing' }), 404, { details: { name: 'missing', kind: 'secrets' } }],
    ['POST', at, ask({ kind: 'Pod', apiVersion: 'v9', name: 'missing' }), 404, { details: { name: 'missing', kind: 'pods' } }],
    ['POST', at, ask({ kind: 'Pod', apiVersion: 'v1' }), 400, 'BadRequest'],
    ['POST', at, ask({ kind: 'Pod', apiVersion: 'apps/v1', name }), 400, 'BadRequest'],
    ['POST', at, ask({ kind: 'Node', apiVersion: 'v1', name }), 400, 'BadRequest'],
    ['POST', at, ask({ kind: 'Pod', apiVersion: 'v1', name: other }), 400, 'BadRequest'],
    ['POST', at, ask({ kind: 'Pod', apiVersion: 'v1', name, uid: 'x' }), 409, { reason: 'Conflict', details: { name, kind: 'Pod' } }],
    ['POST', at.replace('/one/', '/missing/'), ask({}), 404, { details: { name: 'missing', kind: 'serviceaccounts' } }],
  ]);
  const { status } = await answers(server.admin, [['POST', at, ask({ kind: 'Pod', apiVersion: 'v1', name }), 201]]);
  const review: Row = ['POST', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: status.token } }, 201];
  expect((await answers(server.admin, [review])).status.authenticated).toBe(true);
  await server.admin.ok('DELETE', `${pods}/${name}`, { gracePeriodSeconds: 0 });
  expect((await answers(server.admin, [review])).status).toMatchObject({ user: {}, error: expect.any(String) });
});

test('grace periods are at least a second, and are only cut short', async () => {
  const name = fresh();
  await server.admin.ok('POST', pods, pod(name, { nodeName: 'n', terminationGracePeriodSeconds: -3 }));
  const at = `${pods}/${name}`;
  const left = (seconds: number): object => ({ metadata: { deletionGracePeriodSeconds: seconds } });
  await answers(server.admin, [
    ['GET', at, undefined, 200, { spec: { terminationGracePeriodSeconds: -3 } }],
    ['DELETE', `${at}?gracePeriodSeconds=100`, undefined, 200, left(100)],
    ['DELETE', at, { gracePeriodSeconds: 200 }, 200, left(100)],
    ['DELETE', at, { gracePeriodSeconds: 50 }, 200, left(50)],
    ['DELETE', at, undefined, 200, left(50)],
    ['DELETE', at, { gracePeriodSeconds: -1 }, 200, left(1)],
    ['DELETE', at, { gracePeriodSeconds: 0 }, 200, left(0)],
    ['GET', at, undefined, 404],
  ]);
});
