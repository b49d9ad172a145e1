/** Objects as files, taken from a server of one release of the API to one of another, and back. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { ApiRelease } from '../../packages/lib/src/version.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

const servers: TestServer[] = [];
afterAll(() => Promise.all(servers.map((server) => server.close())));
async function start(apiRelease: ApiRelease): Promise<{ server: TestServer; cli: Plat }> {
  const server = await startTestServer({ identity: 'kubernetes', apiRelease, controllers: [] });
  servers.push(server);
  return { server, cli: platFor(server) };
}

const labels = { app: 'shop' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
/** Folder, body, folder in release 1.27, and what is there of it. */
const moved: readonly (readonly [string, Loose, string, Loose])[] = [
  [
    'extensions/v1beta1/namespaces/default/deployments',
    { metadata: { name: 'a' }, spec: { template, rollbackTo: { revision: 3 } } },
    'apps/v1/namespaces/default/deployments',
    {
      metadata: { annotations: { 'deprecated.deployment.rollback.revision': '3' } },
      spec: { selector: { matchLabels: labels }, progressDeadlineSeconds: 2147483647 },
    },
  ],
  [
    'extensions/v1beta1/namespaces/default/ingresses',
    { metadata: { name: 'a' }, spec: { backend: { serviceName: 'web', servicePort: 'http' } } },
    'networking.k8s.io/v1/namespaces/default/ingresses',
    { spec: { defaultBackend: { service: { name: 'web', port: { name: 'http' } } } } },
  ],
  [
    'policy/v1beta1/namespaces/default/poddisruptionbudgets',
    { metadata: { name: 'a' }, spec: { minAvailable: 1, selector: { matchLabels: labels } } },
    'policy/v1/namespaces/default/poddisruptionbudgets',
    { spec: { minAvailable: 1, selector: { matchLabels: labels } } },
  ],
  [
    'batch/v1beta1/namespaces/default/cronjobs',
    {
      metadata: { name: 'a' },
      spec: { schedule: '@daily', jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } } },
    },
    'batch/v1/namespaces/default/cronjobs',
    { spec: { schedule: '@daily' } },
  ],
  [
    'autoscaling/v2beta1/namespaces/default/horizontalpodautoscalers',
    {
      metadata: { name: 'a' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' },
        maxReplicas: 3,
        metrics: [{ type: 'Resource', resource: { name: 'memory', targetAverageUtilization: 60 } }],
      },
    },
    'autoscaling/v2/namespaces/default/horizontalpodautoscalers',
    { spec: { metrics: [{ type: 'Resource', resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 60 } } }] } },
  ],
  [
    'apiextensions.k8s.io/v1beta1/customresourcedefinitions',
    {
      metadata: { name: 'seeds.example.com' },
      spec: {
        group: 'example.com',
        version: 'v1',
        scope: 'Cluster',
        names: { plural: 'seeds', kind: 'Seed' },
        preserveUnknownFields: false,
        validation: { openAPIV3Schema: { type: 'object' } },
      },
    },
    'apiextensions.k8s.io/v1/customresourcedefinitions',
    { spec: { versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }] } },
  ],
];

async function carry(from: Plat, to: Plat): Promise<Loose> {
  await from.ok(['store', 'export', '--to', 'objects']);
  cpSync(join(from.cwd, 'objects'), join(to.cwd, 'from-other'), { recursive: true });
  const { stdout, stderr } = await to.run(['store', 'import', '--from', 'from-other', '-o', 'json']);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

test('from 1.15 to 1.27 and back, with objects that were written in removed versions', async () => {
  const first = await start('1.15');
  const before = new Map<string, Loose>();
  for (const [folder, body] of moved) {
    await first.server.admin.ok('POST', `/apis/${folder}`, body);
    before.set(folder, (await first.server.admin.ok('GET', `/apis/${folder}/${body.metadata.name}`)).spec);
  }
  const newer = await start('1.27');
  expect((await carry(first.cli, newer.cli)).failed).toBe(0);
  for (const [, { metadata }, folder, there] of moved)
    expect(await newer.server.admin.ok('GET', `/apis/${folder}/${metadata.name}`), folder).toMatchObject(there);

  const last = await start('1.15');
  expect((await carry(newer.cli, last.cli)).failed).toBe(0);
  for (const [folder, { metadata }] of moved)
    expect((await last.server.admin.ok('GET', `/apis/${folder}/${metadata.name}`)).spec, folder).toEqual(before.get(folder));
});
