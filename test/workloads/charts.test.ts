/**
 * A chart as Helm installs, tests, upgrades and removes it: the order of its kinds, what `--wait` waits for, hooks and test pods. What
 * counts as ready is what Helm takes for it.
 */
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

const paths: Readonly<Record<string, string>> = {
  ConfigMap: '/api/v1/namespaces/default/configmaps',
  Secret: '/api/v1/namespaces/default/secrets',
  PersistentVolumeClaim: '/api/v1/namespaces/default/persistentvolumeclaims',
  Service: '/api/v1/namespaces/default/services',
  Pod: '/api/v1/namespaces/default/pods',
  Deployment: '/apis/apps/v1/namespaces/default/deployments',
  StatefulSet: '/apis/apps/v1/namespaces/default/statefulsets',
  Job: '/apis/batch/v1/namespaces/default/jobs',
};
const pathOf = ({ kind, metadata }: Loose): string => `${paths[kind]}/${metadata.name}`;

async function good(method: string, path: string, body?: unknown): Promise<Loose> {
  const type = method === 'PATCH' ? { headers: { 'content-type': 'application/strategic-merge-patch+json' } } : {};
  const answer = await server.request(method, path, { ...type, ...(body !== undefined && { body }) });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

/** By kind, as Helm decides it. */
const isReady: Readonly<Record<string, (object: Loose) => boolean>> = {
  PersistentVolumeClaim: ({ status }) => status.phase === 'Bound',
  Service: ({ spec, status }) =>
    spec.type === 'ExternalName' || (spec.clusterIP !== '' && (spec.type !== 'LoadBalancer' || status.loadBalancer.ingress !== undefined)),
  Deployment: ({ spec, status }) => status.updatedReplicas === spec.replicas && status.readyReplicas === spec.replicas,
  StatefulSet: ({ spec, status }) => status.updateRevision === status.currentRevision && status.readyReplicas === spec.replicas,
  Job: ({ status }) => status.conditions?.some((one: Loose) => one.type === 'Complete' && one.status === 'True') === true,
  Pod: ({ status }) => status.phase === 'Succeeded' || status.phase === 'Running',
};

/** Looks every two seconds, as Helm does; says what is not ready when its time is over. */
async function waitFor(objects: readonly Loose[], check = isReady, seconds = 60): Promise<void> {
  for (let waited = 0; ; waited += 2) {
    await server.settled();
    const waiting: string[] = [];
    for (const object of objects) {
      const found = await good('GET', pathOf(object));
      if (check[object.kind]?.(found) === false) waiting.push(`${object.kind}/${object.metadata.name}`);
    }
    if (waiting.length === 0) return;
    expect(waited, `${waiting.join(', ')} not ready`).toBeLessThan(seconds);
    await server.clock.advance('2s');
  }
}

const release = { 'app.kubernetes.io/managed-by': 'Helm', 'app.kubernetes.io/instance': 'shop' };
const named = (name: string, more: Loose = {}): Loose => ({ name, labels: { ...release, ...more.labels }, annotations: more.annotations });
const hook = (event: string): Loose => ({ annotations: { 'helm.sh/hook': event } });
const app = { app: 'shop' };

/** In the order in which Helm creates kinds. */
const chart = (version: string): Loose[] => [
  { kind: 'Secret', metadata: named('shop'), stringData: { password: 'secret' } },
  { kind: 'ConfigMap', metadata: named('shop'), data: { 'shop.conf': 'port=8080\n' } },
  {
    kind: 'PersistentVolumeClaim',
    metadata: named('data'),
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
  { kind: 'Service', metadata: named('db'), spec: { clusterIP: 'None', selector: { app: 'db' }, ports: [{ port: 5432 }] } },
  {
    kind: 'Service',
    metadata: named('shop'),
    spec: { type: 'LoadBalancer', selector: app, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
  },
  {
    kind: 'Deployment',
    metadata: named('shop'),
    spec: {
      replicas: 2,
      selector: { matchLabels: app },
      template: {
        metadata: { labels: app },
        spec: {
          volumes: [
            { name: 'config', configMap: { name: 'shop' } },
            { name: 'plugins', emptyDir: {} },
          ],
          initContainers: [
            // As charts fetch plug-ins: out of an image of which nothing is known.
            {
              name: 'plugins',
              image: 'example.com/plugins',
              command: ['sh', '-c', 'cp -r /plugins/. /target/ && cp /bin/tool /target/tool && test -x /target/tool'],
              volumeMounts: [{ name: 'plugins', mountPath: '/target' }],
            },
            { name: 'wait', image: 'busybox', command: ['sh', '-c', 'until nc -z db 5432; do sleep 2; done'] },
            {
              name: 'check',
              image: 'busybox',
              command: ['sh', '-c', '[ "$PASSWORD" = secret ] && cp /config/shop.conf /tmp/ && cat /tmp/shop.conf'],
              env: [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'shop', key: 'password' } } }],
              volumeMounts: [{ name: 'config', mountPath: '/config' }],
            },
          ],
          containers: [
            {
              name: 'shop',
              image: `example.com/shop:${version}`,
              ports: [{ name: 'http', containerPort: 8080 }],
              readinessProbe: { httpGet: { path: '/healthz', port: 'http' }, initialDelaySeconds: 20 },
            },
          ],
        },
      },
    },
  },
  {
    kind: 'StatefulSet',
    metadata: named('db'),
    spec: {
      replicas: 1,
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      template: { metadata: { labels: { app: 'db' } }, spec: { containers: [{ name: 'db', image: 'postgres:15' }] } },
    },
  },
];
const job = (name: string, event: string): Loose => ({
  kind: 'Job',
  metadata: named(name, hook(event)),
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'job', image: 'example.com/job', args: ['migrate'] }] } } },
});
const testPod = (name: string, container: Loose): Loose => ({
  kind: 'Pod',
  metadata: named(name, hook('test')),
  spec: { restartPolicy: 'Never', containers: [{ name: 'test', image: 'busybox', ...container }] },
});

const create = async (objects: readonly Loose[]): Promise<void> => {
  for (const object of objects) await good('POST', paths[object.kind] as string, object);
};
/** A hook is waited for before the release goes on. */
const runHook = async (object: Loose): Promise<void> => {
  await create([object]);
  await waitFor([object]);
};

test('helm install --wait, test, upgrade --wait and uninstall end', async () => {
  await runHook(job('before', 'pre-install'));
  await create(chart('1'));
  await waitFor(chart('1'));
  await runHook(job('after', 'post-install'));
  expect((await good('GET', `${paths.Service}/shop`)).status.loadBalancer.ingress).toEqual([{ ip: '198.18.0.1' }]);

  const isOver = { Pod: ({ status }: Loose) => ['Succeeded', 'Failed'].includes(status.phase) };
  const tests = [
    testPod('wget', { command: ['wget'], args: ['-qO-', 'shop:80'] }),
    testPod('curl', { image: 'curlimages/curl', args: ['-f', 'http://shop'] }),
    testPod('script', { command: ['sh', '-c', 'nslookup shop && curl -f http://shop && echo ok'] }),
    testPod('failing', { command: ['sh', '-c', 'echo broken; exit 1'] }),
  ];
  await create(tests);
  await waitFor(tests, isOver);
  const phases: string[] = [];
  for (const pod of tests) phases.push((await good('GET', pathOf(pod))).status.phase);
  expect(phases).toEqual(['Succeeded', 'Succeeded', 'Succeeded', 'Failed']);

  const [deployment] = chart('2').filter(({ kind }) => kind === 'Deployment');
  await good('PATCH', pathOf(deployment), deployment);
  await waitFor(chart('2'));
  await server.clock.advance('1m');
  await server.settled();
  const pods = (await good('GET', `${paths.Pod}?labelSelector=app%3Dshop`)).items;
  expect(pods.map(({ spec }: Loose) => spec.containers[0].image)).toEqual(['example.com/shop:2', 'example.com/shop:2']);

  for (const object of [...chart('2'), ...tests]) await good('DELETE', pathOf(object));
  await server.clock.advance('1m');
  await server.settled();
  const left: string[] = [];
  for (const object of [...chart('2'), ...tests]) {
    const { status } = await server.request('GET', pathOf(object));
    if (status !== 404) left.push(`${object.kind}/${object.metadata.name}`);
  }
  expect(left).toEqual([]);
});
