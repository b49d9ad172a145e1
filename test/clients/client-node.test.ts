/** The JavaScript client that others write controllers with, as a client of this server. */
import {
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  Watch,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let config: KubeConfig;
let core: CoreV1Api;
let namespace: string;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes' });
  config = new KubeConfig();
  config.loadFromFile(server.running.adminConfigPath);
  core = config.makeApiClient(CoreV1Api);
  namespace = await server.namespace();
});
afterAll(() => server.close());

test('create, read, list, replace, delete', async () => {
  const made = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'a' }, data: { k: 'v' } } });
  expect(made.metadata?.creationTimestamp).toBeInstanceOf(Date);
  expect((await core.readNamespacedConfigMap({ namespace, name: 'a' })).data).toEqual({ k: 'v' });
  const list = await core.listNamespacedConfigMap({ namespace, fieldSelector: 'metadata.name=a' });
  expect(list.items.map((item) => item.metadata?.uid)).toEqual([made.metadata?.uid]);
  const replaced = await core.replaceNamespacedConfigMap({ namespace, name: 'a', body: { ...made, data: { k: 'w' } } });
  expect(replaced.data).toEqual({ k: 'w' });
  await expect(core.replaceNamespacedConfigMap({ namespace, name: 'a', body: made })).rejects.toMatchObject({ code: 409 });
  expect((await core.deleteNamespacedConfigMap({ namespace, name: 'a' })).status).toBe('Success');
  await expect(core.readNamespacedConfigMap({ namespace, name: 'a' })).rejects.toMatchObject({ code: 404 });
});

test('lists in chunks', async () => {
  for (const name of ['a', 'b', 'c']) await core.createNamespacedSecret({ namespace, body: { metadata: { name } } });
  const first = await core.listNamespacedSecret({ namespace, limit: 2 });
  expect(first.metadata?.remainingItemCount).toBe(1);
  const second = await core.listNamespacedSecret({ namespace, limit: 2, _continue: first.metadata?._continue as string });
  expect([...first.items, ...second.items].map((item) => item.metadata?.name)).toEqual(['a', 'b', 'c']);
});

test('patches of every type', async () => {
  const apps = config.makeApiClient(AppsV1Api);
  const body = {
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } },
    },
  };
  await apps.createNamespacedDeployment({ namespace, body });
  const patch = (type: string, change: object) =>
    apps.patchNamespacedDeployment({ namespace, name: 'web', body: change }, setHeaderOptions('Content-Type', type));
  expect((await patch(PatchStrategy.JsonPatch, [{ op: 'replace', path: '/spec/replicas', value: 3 }])).spec?.replicas).toBe(3);
  expect((await patch(PatchStrategy.MergePatch, { metadata: { labels: { l: '1' } } })).metadata?.labels).toEqual({ l: '1' });
  const strategic = await patch(PatchStrategy.StrategicMergePatch, {
    spec: { template: { spec: { containers: [{ name: 'd', image: 'j' }] } } },
  });
  expect(strategic.spec?.template.spec?.containers.map((container) => container.name)).toEqual(['d', 'c']);
  expect((await apps.readNamespacedDeploymentScale({ namespace, name: 'web' })).spec?.replicas).toBe(3);
});

test('objects of any kind, found by discovery; server-side apply', async () => {
  const objects = KubernetesObjectApi.makeApiClient(config);
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l', namespace }, spec: { holderIdentity: 'me' } };
  await objects.create(lease);
  expect(await objects.read(lease)).toMatchObject({ spec: { holderIdentity: 'me' } });
  const applied = await objects.patch(
    { ...lease, spec: { leaseDurationSeconds: 9 } },
    undefined,
    undefined,
    'tester',
    true,
    PatchStrategy.ServerSideApply,
  );
  expect(applied).toMatchObject({ spec: { holderIdentity: 'me', leaseDurationSeconds: 9 } });
});

test('watch', async () => {
  const events: string[] = [];
  const made = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'w' } } });
  let request: AbortController | undefined;
  const done = new Promise<void>((resolve, reject) => {
    new Watch(config)
      .watch(
        `/api/v1/namespaces/${namespace}/configmaps`,
        { resourceVersion: made.metadata?.resourceVersion, allowWatchBookmarks: true },
        (type: string, object: V1ConfigMap) => {
          events.push(`${type} ${object.metadata?.name}`);
          if (type === 'DELETED') resolve();
        },
        (error) => (error === null || error?.name === 'AbortError' ? undefined : reject(error)),
      )
      .then((controller) => {
        request = controller;
        return core.replaceNamespacedConfigMap({ namespace, name: 'w', body: { ...made, data: { a: 'b' } } });
      })
      .then(() => core.deleteNamespacedConfigMap({ namespace, name: 'w' }))
      .catch(reject);
  });
  await done;
  request?.abort();
  expect(events).toEqual(['MODIFIED w', 'DELETED w']);
});

test('an informer holds what the server holds', async () => {
  const informed = await server.namespace();
  const informer = makeInformer(config, `/api/v1/namespaces/${informed}/pods`, () => core.listNamespacedPod({ namespace: informed }));
  const seen: string[] = [];
  let wake: () => void = () => {};
  const record = (what: string) => (object: { metadata?: { name?: string } }) => {
    seen.push(`${what} ${object.metadata?.name}`);
    wake();
  };
  informer.on('add', record('add'));
  informer.on('update', record('update'));
  informer.on('delete', record('delete'));
  const until = async (text: string): Promise<void> => {
    while (!seen.includes(text))
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  };
  const pod = (name: string) => ({ namespace: informed, body: { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } } });
  await core.createNamespacedPod(pod('before'));
  await informer.start();
  await until('add before');
  await core.createNamespacedPod(pod('after'));
  await until('add after');
  await core.patchNamespacedPod(
    { namespace: informed, name: 'after', body: { metadata: { labels: { l: '1' } } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  );
  await until('update after');
  expect(informer.get('after', informed)?.metadata?.labels).toEqual({ l: '1' });
  await core.deleteNamespacedPod({ namespace: informed, name: 'before' });
  await until('delete before');
  expect(informer.list(informed).map((object) => object.metadata?.name)).toEqual(['after']);
  await informer.stop();
});
