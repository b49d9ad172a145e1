/** Strategic merge patches: values of another shape where a map, a list or an object belongs, and types that are not that of the path. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let deployment: string;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes' });
  const base = `/apis/apps/v1/namespaces/${await server.namespace()}/deployments`;
  deployment = `${base}/web`;
  await server.admin.ok('POST', base, {
    metadata: { name: 'web', labels: { app: 'web' } },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'reg.example/c' }] } },
    },
  });
});
afterAll(() => server.close());

test.each([
  [{ metadata: { labels: 'invalid' } }, 'metadata.labels: cannot restore map from string'],
  [{ metadata: { labels: 5 } }, 'metadata.labels: cannot restore map from int64'],
  [{ metadata: { labels: ['a'] } }, 'metadata.labels: cannot restore map from slice'],
  [{ spec: { selector: { matchLabels: true } } }, 'spec.selector.matchLabels: cannot restore map from bool'],
  [{ spec: { template: { spec: { containers: 'none' } } } }, 'spec.template.spec.containers: cannot restore slice from string'],
  [{ spec: { template: { spec: { containers: { name: 'main' } } } } }, 'spec.template.spec.containers: cannot restore slice from map'],
  [{ spec: { template: 'none' } }, 'spec.template: cannot restore struct from: string'],
])('%j is refused', async (patch, words) => {
  const answer = await server.admin.patch(deployment, patch, 'strategic-merge-patch');
  expect(answer.status).toBe(422);
  expect(answer.json.reason).toBe('Invalid');
  expect(answer.json.message).toContain(words);
  expect(answer.json.details.causes[0]).toMatchObject({ reason: 'FieldValueInvalid', field: 'patch' });
});

test('a value of another shape in a scalar keeps its own words', async () => {
  const answer = await server.admin.patch(deployment, { spec: { replicas: 'two' } }, 'strategic-merge-patch');
  expect(answer.status).toBe(422);
  expect(answer.json.message).not.toContain('cannot restore');
});

const foreignTypes = [
  { kind: 'Deployment', apiVersion: 'apps/v1' },
  { kind: 'Scale', apiVersion: 'autoscaling/v1' },
  { kind: 'ReplicaSet', apiVersion: 'apps/v1beta1' },
  { kind: 'Nothing', apiVersion: 'v9' },
  { kind: null, apiVersion: null },
];
test.each(foreignTypes)('a patch that says it is a $kind of $apiVersion is one of the type of the path', async (type) => {
  const scaled = await server.admin.patch(`${deployment}/scale`, { ...type, spec: { replicas: 3 } }, 'strategic-merge-patch');
  expect(scaled.json).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 3 } });
  const changed = await server.admin.patch(deployment, { ...type, spec: { replicas: 2 } }, 'strategic-merge-patch');
  expect(changed.json).toMatchObject({ kind: 'Deployment', apiVersion: 'apps/v1', spec: { replicas: 2 } });
  const status = await server.admin.patch(`${deployment}/status`, { ...type, status: { replicas: 1 } }, 'strategic-merge-patch');
  expect(status.json).toMatchObject({ kind: 'Deployment', apiVersion: 'apps/v1', status: { replicas: 1 } });
});

test('the version of a patch is that of the path, even where the kind has the other one, too', async () => {
  const autoscalers = deployment
    .replace('/apis/apps/v1/', '/apis/autoscaling/v1/')
    .replace('/deployments/web', '/horizontalpodautoscalers');
  const scaleTargetRef = { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' };
  await server.admin.ok('POST', autoscalers, { metadata: { name: 'web' }, spec: { scaleTargetRef, maxReplicas: 3 } });
  const patch = { apiVersion: 'autoscaling/v2', spec: { targetCPUUtilizationPercentage: 40 } };
  const { json } = await server.admin.patch(`${autoscalers}/web`, patch, 'strategic-merge-patch');
  expect(json).toMatchObject({ apiVersion: 'autoscaling/v1', spec: { targetCPUUtilizationPercentage: 40 } });
});

test.each(['merge-patch', 'json-patch'])('a %s that makes an object of another type is refused', async (type) => {
  const merge = { kind: 'Deployment', apiVersion: 'apps/v1', spec: { replicas: 3 } };
  const operations = [{ op: 'replace', path: '/kind', value: 'Deployment' }];
  const answer = await server.admin.patch(`${deployment}/scale`, type === 'merge-patch' ? merge : operations, type);
  expect([answer.status, answer.json.reason]).toEqual([422, 'Invalid']);
});
