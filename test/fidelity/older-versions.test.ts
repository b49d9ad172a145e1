/** Budgets, endpoint slices and jobs: what older versions say otherwise, and what is generated. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';
import { answers } from './table.ts';

let server: TestServer;
let namespace: string;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', direct: true });
  namespace = await server.namespace();
});
afterAll(() => server.close());
let serial = 0;
const fresh = (): string => `x${++serial}`;

// ---- budgets -----------------------------------------------------------------------------------------------------

const key = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';
const exists = { key, operator: 'Exists' };
const absent = { key, operator: 'DoesNotExist' };
const other = { key: 'app', operator: 'Exists' };
const selectors: readonly (readonly [string, Loose, Loose, Loose])[] = [
  // sent in, selector, as version 1 shows it, as version 1beta1 shows it
  ['v1', undefined, undefined, undefined],
  ['v1', {}, {}, { matchExpressions: [absent] }],
  ['v1', { matchExpressions: [exists] }, { matchExpressions: [exists] }, {}],
  ['v1', { matchExpressions: [absent] }, {}, { matchExpressions: [absent] }],
  ['v1', { matchExpressions: [exists, other] }, { matchExpressions: [other] }, { matchExpressions: [other] }],
  ['v1', { matchLabels: { a: 'b' }, matchExpressions: [exists] }, { matchLabels: { a: 'b' } }, { matchLabels: { a: 'b' } }],
  ['v1beta1', {}, { matchExpressions: [exists] }, {}],
  ['v1beta1', { matchExpressions: [absent] }, {}, { matchExpressions: [absent] }],
  ['v1beta1', { matchExpressions: [exists] }, {}, { matchExpressions: [absent] }],
  ['v1beta1', { matchExpressions: [absent, other] }, { matchExpressions: [other] }, { matchExpressions: [other] }],
];
test.each(selectors)('a budget sent as %s with selector %j', async (version, selector, one, beta) => {
  const name = fresh();
  const at = (v: string): string => `/apis/policy/${v}/namespaces/${namespace}/poddisruptionbudgets`;
  const made = await server.admin.ok('POST', at(version), { metadata: { name }, spec: { minAvailable: 1, ...(selector && { selector }) } });
  expect(made.spec.selector).toEqual(version === 'v1' ? one : beta);
  expect((await server.admin.get(`${at('v1')}/${name}`)).json.spec.selector).toEqual(one);
  expect((await server.admin.get(`${at('v1beta1')}/${name}`)).json.spec.selector).toEqual(beta);
});

test('counts of a budget are checked in version 1 only', async () => {
  const name = fresh();
  const at = (v: string): string => `/apis/policy/${v}/namespaces/${namespace}/poddisruptionbudgets/${name}`;
  await server.admin.ok('POST', at('v1').slice(0, -name.length - 1), { metadata: { name }, spec: { minAvailable: 1, selector: {} } });
  await answers(server.admin, [
    ['PATCH', `${at('v1')}/status`, { status: { expectedPods: -1 } }, 422, ['status.expectedPods Invalid']],
    ['PATCH', `${at('v1beta1')}/status`, { status: { expectedPods: -1 } }, 200],
  ]);
});

// ---- endpoint slices ---------------------------------------------------------------------------------------------

const zone = 'topology.kubernetes.io/zone';
const host = 'kubernetes.io/hostname';
const endpoints: readonly (readonly [Loose, Loose, Loose])[] = [
  // sent as version 1beta1, as version 1 shows it, as version 1beta1 shows it
  [{ topology: { [zone]: 'z' } }, { zone: 'z' }, { topology: { [zone]: 'z' } }],
  [{ topology: { [host]: 'h' } }, { deprecatedTopology: { [host]: 'h' } }, { topology: { [host]: 'h' } }],
  [{ nodeName: 'h', topology: { [host]: 'h' } }, { nodeName: 'h' }, { nodeName: 'h', topology: { [host]: 'h' } }],
  [
    { nodeName: 'n', topology: { [host]: 'h', rack: 'r' } },
    { nodeName: 'n', deprecatedTopology: { [host]: 'h', rack: 'r' } },
    { nodeName: 'n', topology: { [host]: 'h', rack: 'r' } },
  ],
  [{ nodeName: 'n' }, { nodeName: 'n' }, { nodeName: 'n', topology: { [host]: 'n' } }],
  [{}, {}, {}],
];
test.each(endpoints)('an endpoint of version 1beta1 %j', async (sent, one, beta) => {
  const name = fresh();
  const at = (v: string): string => `/apis/discovery.k8s.io/${v}/namespaces/${namespace}/endpointslices`;
  const addresses = ['10.1.1.1'];
  const made = await server.admin.ok('POST', at('v1beta1'), {
    metadata: { name },
    addressType: 'IPv4',
    endpoints: [{ addresses, ...sent }],
  });
  expect(made.endpoints).toEqual([{ addresses, conditions: {}, ...beta }]);
  const shown = (await server.admin.get(`${at('v1')}/${name}`)).json;
  expect(shown.endpoints).toEqual([{ addresses, conditions: {}, ...one }]);
  // What version 1 sends back unchanged stays; with a change, the old labels go.
  const same = await server.admin.ok('PUT', `${at('v1')}/${name}`, shown);
  expect(same.endpoints).toEqual(shown.endpoints);
  const more = await server.admin.ok('PUT', `${at('v1')}/${name}`, {
    ...same,
    endpoints: [...same.endpoints, { addresses: ['10.1.1.2'] }],
  });
  const { deprecatedTopology, ...rest } = one;
  const node = one.nodeName === undefined && deprecatedTopology?.[host] !== undefined ? { nodeName: deprecatedTopology[host] } : {};
  expect(more.endpoints[0]).toEqual({ addresses, conditions: {}, ...rest, ...node });
});

// ---- jobs --------------------------------------------------------------------------------------------------------

test('labels and selector of a job', async () => {
  const path = `/apis/batch/v1/namespaces/${namespace}/jobs`;
  const job = (labels: Loose, spec: Loose = {}, own?: Loose): Loose => ({
    metadata: { name: fresh(), ...(own && { labels: own }) },
    spec: { template: { metadata: { labels }, spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }, ...spec },
  });
  const at = 'spec.template.metadata.labels';
  await answers(server.admin, [
    ['POST', path, job({ 'job-name': 'other' }), 422, [`${at}[job-name] Invalid`]],
    ['POST', path, job({ 'controller-uid': 'other' }), 422, [`${at}[controller-uid] Invalid`, `${at} Invalid`]],
    ['POST', path, job({ a: 'b' }, { selector: { matchLabels: { a: 'b' } } }), 422, ['spec.selector Invalid']],
    [
      'POST',
      path,
      job({ a: 'b' }, { selector: { matchLabels: { 'controller-uid': 'x' } } }),
      422,
      ['spec.selector Invalid', `${at} Invalid`],
    ],
    ['POST', path, job({ a: 'b' }, { manualSelector: true }), 422, ['spec.selector Required', `${at} Invalid`]],
    ['POST', path, job({ a: 'b' }, { manualSelector: true, selector: { matchLabels: { c: 'd' } } }), 422, [`${at} Invalid`]],
  ]);
  for (const [labels, own, wanted] of [
    [undefined, undefined, {}],
    [{ a: 'b' }, undefined, { a: 'b' }],
  ]) {
    const made = await server.admin.ok('POST', path, job(labels, {}, own));
    const generated = { 'controller-uid': made.metadata.uid, 'job-name': made.metadata.name };
    expect(made.spec.template.metadata.labels).toEqual({ ...wanted, ...generated });
    expect(made.metadata.labels).toEqual({ ...wanted, ...generated });
    expect(made.spec.selector).toEqual({ matchLabels: { 'controller-uid': made.metadata.uid } });
    expect((await server.admin.get(`${path}/${made.metadata.name}`)).json.metadata.labels).toEqual({ ...wanted, ...generated });
  }
  const own = await server.admin.ok('POST', path, job({ a: 'b' }, {}, { a: 'b' }));
  expect(own.metadata.labels).toEqual({ a: 'b' });
  const manual = await server.admin.ok('POST', path, job({ a: 'b' }, { manualSelector: true, selector: { matchLabels: { a: 'b' } } }));
  expect(manual.metadata.labels).toEqual({ a: 'b' });
  expect(manual.spec.template.metadata.labels).toEqual({ a: 'b' });
});
