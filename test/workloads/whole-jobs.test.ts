/** Jobs, autoscalers and volumes with a scheduler and simulated nodes: all parts together. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer } from '../../packages/testing/src/server.ts';
import type { TestServer } from '../../packages/testing/src/test-server.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a test looks at has no type until it has looked.
type Loose = any;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', clock: '2026-01-01T00:00:00Z', workloads: true, server: { simulatedNodes: 2 } });
});
afterAll(() => server.close());

async function good(method: string, path: string, body?: unknown): Promise<Loose> {
  const answer = await server.request(method, path, { ...(body !== undefined && { body }) });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}
const core = (name: string): string => `/api/v1/namespaces/default/${name}`;
const batch = (name: string): string => `/apis/batch/v1/namespaces/default/${name}`;
const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m' } } }];
const advance = async (time: string): Promise<void> => {
  await server.clock.advance(time);
  await server.settled();
};

test('a cron job makes a job whose pods run to completion', async () => {
  const jobTemplate = { spec: { completions: 2, parallelism: 2, template: { spec: { restartPolicy: 'Never', containers } } } };
  await good('POST', batch('cronjobs'), { metadata: { name: 'often' }, spec: { schedule: '* * * * *', jobTemplate } });
  await advance('1m');
  await advance('30s');
  const { items } = await good('GET', batch('jobs'));
  expect(items.map(({ status }: Loose) => [status.succeeded, status.conditions.map(({ type }: Loose) => type)])).toEqual([
    [2, ['Complete']],
  ]);
  const pods = (await good('GET', core('pods'))).items;
  expect(pods.map(({ status }: Loose) => status.phase)).toEqual(['Succeeded', 'Succeeded']);
  const { status } = await good('GET', batch('cronjobs/often'));
  expect(status).toEqual({ lastScheduleTime: '2026-01-01T00:01:00Z', lastSuccessfulTime: items[0].status.completionTime });
  await good('DELETE', batch('cronjobs/often'));
});

test('pods of a set have claims of the default class, which are bound and attached', async () => {
  await good('POST', '/apis/apps/v1/namespaces/default/statefulsets', {
    metadata: { name: 'db' },
    spec: {
      replicas: 2,
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: {
        metadata: { labels: { app: 'db' } },
        spec: { containers: [{ ...containers[0], volumeMounts: [{ name: 'data', mountPath: '/d' }] }] },
      },
      volumeClaimTemplates: [
        { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
      ],
    },
  });
  await advance('30s');
  expect((await good('GET', '/apis/apps/v1/namespaces/default/statefulsets/db')).status.readyReplicas).toBe(2);
  const claims = (await good('GET', core('persistentvolumeclaims'))).items;
  expect(claims.map(({ spec, status }: Loose) => [spec.storageClassName, status.phase])).toEqual(Array(2).fill(['standard', 'Bound']));
  const attachments = (await good('GET', '/apis/storage.k8s.io/v1/volumeattachments')).items;
  expect(attachments.map(({ status }: Loose) => status.attached)).toEqual([true, true]);
  const attached = (await good('GET', '/api/v1/nodes')).items.flatMap(({ status }: Loose) => status.volumesAttached ?? []);
  const names = claims.map(({ spec }: Loose) => `kubernetes.io/csi/simulated.storage.k8s.io^${spec.volumeName}`);
  expect(attached.map(({ name }: Loose) => name).sort()).toEqual(names.sort());
});

test('an autoscaler follows the usage of simulated pods', async () => {
  await good('POST', '/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers } },
    },
  });
  const scalers = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
  const metrics = [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 5 } } }];
  await good('POST', scalers, {
    metadata: { name: 'web' },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 4, metrics },
  });
  await advance('2m');
  const { status } = await good('GET', `${scalers}/web`);
  expect([status.currentReplicas, status.currentMetrics.length]).toEqual([4, 1]);
  expect(status.currentMetrics[0].resource.current.averageUtilization).toBeGreaterThan(5);
  expect((await good('GET', '/apis/apps/v1/namespaces/default/deployments/web')).status.readyReplicas).toBe(4);
});
