/** Finding 6: a strategic patch that puts a value of another shape where a map, a list or an object belongs. */
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
