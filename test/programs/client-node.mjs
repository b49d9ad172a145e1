/** The JavaScript client, its newest release: what people write controllers and tools with. */
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import {
  ApiException,
  AppsV1Api,
  AuthorizationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  Exec,
  Health,
  KubeConfig,
  KubernetesObjectApi,
  Log,
  loadAllYaml,
  Metrics,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  topPods,
  VersionApi,
  Watch,
} from '@kubernetes/client-node';
import { Events, eventually, namespace, run, step } from './support.mjs';

const configFor = (context) => {
  const config = new KubeConfig();
  config.loadFromDefault();
  config.setCurrentContext(context);
  return config;
};
const config = configFor('admin');
const core = config.makeApiClient(CoreV1Api);
const apps = config.makeApiClient(AppsV1Api);
const objects = KubernetesObjectApi.makeApiClient(config);

const refused = (code, reason) => (error) => {
  assert(error instanceof ApiException);
  assert.deepEqual([error.code, JSON.parse(error.body).reason], [code, reason]);
  return true;
};
/** What a command or a log wrote. */
const collected = () => {
  const chunks = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
};

step('version and health', async () => {
  assert.match((await config.makeApiClient(VersionApi).getCode()).gitVersion, /^v1\.24/);
  const health = new Health(config);
  assert.deepEqual([await health.readyz({}), await health.livez({})], [true, true]);
});

step('create, read, replace, delete', async () => {
  const created = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'a' }, data: { k: 'v' } } });
  assert(created.metadata.creationTimestamp instanceof Date);
  const replaced = await core.replaceNamespacedConfigMap({ namespace, name: 'a', body: { ...created, data: { k: 'w' } } });
  assert.deepEqual(replaced.data, { k: 'w' });
  await assert.rejects(core.replaceNamespacedConfigMap({ namespace, name: 'a', body: created }), refused(409, 'Conflict'));
  await assert.rejects(core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'a' } } }), refused(409, 'AlreadyExists'));
  assert.equal((await core.deleteNamespacedConfigMap({ namespace, name: 'a' })).status, 'Success');
  await assert.rejects(core.readNamespacedConfigMap({ namespace, name: 'a' }), refused(404, 'NotFound'));
  await assert.rejects(core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'A' } } }), refused(422, 'Invalid'));
});

step('lists in pages, by labels and fields; a collection is deleted', async () => {
  for (const name of ['a', 'b', 'c']) await core.createNamespacedSecret({ namespace, body: { metadata: { name, labels: { page: '' } } } });
  const first = await core.listNamespacedSecret({ namespace, limit: 2 });
  assert.equal(first.metadata.remainingItemCount, 1);
  const second = await core.listNamespacedSecret({ namespace, limit: 2, _continue: first.metadata._continue });
  const names = (list) => list.items.map((item) => item.metadata.name);
  assert.deepEqual([...names(first), ...names(second)], ['a', 'b', 'c']);
  assert.deepEqual(names(await core.listNamespacedSecret({ namespace, fieldSelector: 'metadata.name=b', labelSelector: 'page' })), ['b']);
  await core.deleteCollectionNamespacedSecret({ namespace, labelSelector: 'page' });
  assert.deepEqual(names(await core.listNamespacedSecret({ namespace })), []);
});

const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'example.com/web:1', command: ['sh', '-c', 'echo started; sleep 1000'] }] },
    },
  },
};

step('patches of every type, scale', async () => {
  await apps.createNamespacedDeployment({ namespace, body: web });
  const patch = (type, body) => apps.patchNamespacedDeployment({ namespace, name: 'web', body }, setHeaderOptions('Content-Type', type));
  assert.equal((await patch(PatchStrategy.JsonPatch, [{ op: 'replace', path: '/spec/replicas', value: 1 }])).spec.replicas, 1);
  assert.deepEqual((await patch(PatchStrategy.MergePatch, { metadata: { labels: { l: '1' } } })).metadata.labels, { l: '1' });
  const containers = [{ name: 'side', image: 'example.com/side' }];
  const strategic = await patch(PatchStrategy.StrategicMergePatch, { spec: { template: { spec: { containers } } } });
  assert.deepEqual(
    strategic.spec.template.spec.containers.map((container) => container.name),
    ['side', 'web'],
  );
  // Without the version of the object, which its controller may have changed meanwhile.
  await apps.replaceNamespacedDeploymentScale({
    namespace,
    name: 'web',
    body: { metadata: { name: 'web', namespace }, spec: { replicas: 2 } },
  });
  assert.equal((await apps.readNamespacedDeployment({ namespace, name: 'web' })).spec.replicas, 2);
});

step('objects of any kind, from YAML; apply on the server', async () => {
  const [lease, account] = loadAllYaml(`
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: { name: l, namespace: ${namespace} }
spec: { holderIdentity: me }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: s, namespace: ${namespace} }
`);
  for (const object of [lease, account]) await objects.create(object);
  assert.equal((await objects.read(lease)).spec.holderIdentity, 'me');
  const apply = (spec, manager, force) =>
    objects.patch({ ...lease, spec }, undefined, undefined, manager, force, PatchStrategy.ServerSideApply);
  const applied = await apply({ leaseDurationSeconds: 9 }, 'one');
  assert.deepEqual([applied.spec.holderIdentity, applied.spec.leaseDurationSeconds], ['me', 9]);
  await assert.rejects(apply({ leaseDurationSeconds: 8 }, 'two'), refused(409, 'Conflict'));
  assert.equal((await apply({ leaseDurationSeconds: 8 }, 'two', true)).spec.leaseDurationSeconds, 8);
  const leases = await objects.list('coordination.k8s.io/v1', 'Lease', namespace);
  assert.deepEqual(
    leases.items.map((item) => item.metadata.name),
    ['l'],
  );
  await objects.delete(lease);
  await assert.rejects(objects.read(lease), refused(404, 'NotFound'));
});

step('custom objects', async () => {
  const schema = { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } };
  await objects.create({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.client.example.com' },
    spec: {
      group: 'client.example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: schema } }],
    },
  });
  const custom = config.makeApiClient(CustomObjectsApi);
  const things = { group: 'client.example.com', version: 'v1', namespace, plural: 'things' };
  const body = { apiVersion: 'client.example.com/v1', kind: 'Thing', metadata: { name: 't' }, spec: { size: 1 } };
  await eventually(() => custom.createNamespacedCustomObject({ ...things, body }));
  const change = [{ op: 'replace', path: '/spec/size', value: 2 }];
  await custom.patchNamespacedCustomObject({ ...things, name: 't', body: change });
  assert.equal((await custom.getNamespacedCustomObject({ ...things, name: 't' })).spec.size, 2);
  const wrong = { ...body, metadata: { name: 'u' }, spec: { size: 'large' } };
  await assert.rejects(custom.createNamespacedCustomObject({ ...things, body: wrong }), refused(422, 'Invalid'));
});

step('watch', async () => {
  const created = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'w' } } });
  const events = new Events();
  const seen = [];
  const request = await new Watch(config).watch(
    `/api/v1/namespaces/${namespace}/configmaps`,
    { resourceVersion: created.metadata.resourceVersion, allowWatchBookmarks: true },
    (type, object) => {
      seen.push(`${type} ${object.metadata.name}`);
      events.tell(type);
    },
    () => {},
  );
  await core.replaceNamespacedConfigMap({ namespace, name: 'w', body: { ...created, data: { a: 'b' } } });
  await core.deleteNamespacedConfigMap({ namespace, name: 'w' });
  await events.wait((type) => type === 'DELETED');
  request.abort();
  assert.deepEqual(seen, ['MODIFIED w', 'DELETED w']);
});

step('an informer holds what the server holds', async () => {
  const body = (name, labels) => ({ metadata: { name, labels } });
  await core.createNamespacedService({ namespace, body: { ...body('s0'), spec: { ports: [{ port: 80 }] } } });
  const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/services`, () => core.listNamespacedService({ namespace }));
  const events = new Events();
  for (const verb of ['add', 'update', 'delete']) informer.on(verb, (object) => events.tell(`${verb} ${object.metadata.name}`));
  const seen = (text) => events.wait((event) => event === text);
  await informer.start();
  await seen('add s0');
  await core.createNamespacedService({ namespace, body: { ...body('s1'), spec: { ports: [{ port: 80 }] } } });
  await seen('add s1');
  const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
  await core.patchNamespacedService({ namespace, name: 's1', body: body('s1', { l: '1' }) }, merge);
  await seen('update s1');
  await core.deleteNamespacedService({ namespace, name: 's0' });
  await seen('delete s0');
  assert.deepEqual(informer.get('s1', namespace).metadata.labels, { l: '1' });
  assert.deepEqual(
    informer.list(namespace).map((object) => object.metadata.name),
    ['s1'],
  );
  await informer.stop();
});

const readyPod = () =>
  eventually(async () => {
    const { items } = await core.listNamespacedPod({ namespace, labelSelector: 'app=web' });
    return items.find(
      ({ status, metadata }) =>
        metadata.deletionTimestamp === undefined && status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
    )?.metadata.name;
  });

step('logs of a pod, and commands in it', async () => {
  const pod = await readyPod();
  const log = collected();
  await new Log(config).log(namespace, pod, 'web', log.stream, { tailLines: 1 });
  await eventually(() => (log.text() === '' ? undefined : true));
  assert.equal(log.text(), 'started\n');
  const command = async (...args) => {
    const [output, errors] = [collected(), collected()];
    const status = await new Promise((resolve, reject) => {
      new Exec(config).exec(namespace, pod, 'web', args, output.stream, errors.stream, null, false, resolve).catch(reject);
    });
    return { status: status.status, output: output.text(), reason: status.reason, code: status.details?.causes?.[0].message };
  };
  assert.deepEqual(await command('echo', 'hello'), { status: 'Success', output: 'hello\n', reason: undefined, code: undefined });
  assert.deepEqual(await command('sh', '-c', 'exit 3'), { status: 'Failure', output: '', reason: 'NonZeroExitCode', code: '3' });
});

step('metrics', async () => {
  const pod = await readyPod();
  const metrics = new Metrics(config);
  assert((await metrics.getNodeMetrics()).items.length > 0);
  const usage = await eventually(async () => (await topPods(core, metrics, namespace)).find(({ Pod }) => Pod.metadata.name === pod));
  assert.deepEqual(
    usage.Containers.map(({ Container }) => Container),
    ['side', 'web'],
  );
});

step('credential plug-ins, and what their users may do', async () => {
  const alice = configFor('plugin').makeApiClient(CoreV1Api);
  await alice.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'alices' } } });
  await assert.rejects(alice.listNode(), refused(403, 'Forbidden'));
  const carol = configFor('plugin-certificate');
  assert.equal((await carol.makeApiClient(CoreV1Api).readNamespacedConfigMap({ namespace, name: 'alices' })).metadata.name, 'alices');
  const review = { spec: { resourceAttributes: { namespace, verb: 'delete', resource: 'configmaps' } } };
  assert.equal((await carol.makeApiClient(AuthorizationV1Api).createSelfSubjectAccessReview({ body: review })).status.allowed, false);
});

step('the token of a service account', async () => {
  const request = { namespace, name: 's', body: { spec: { audiences: [], expirationSeconds: 600 } } };
  const { status } = await core.createNamespacedServiceAccountToken(request);
  const account = new KubeConfig();
  account.loadFromClusterAndUser(config.getCurrentCluster(), { name: 's', token: status.token });
  await assert.rejects(account.makeApiClient(CoreV1Api).listNamespacedPod({ namespace }), (error) => {
    assert.match(JSON.parse(error.body).message, new RegExp(`User "system:serviceaccount:${namespace}:s" cannot list resource "pods"`));
    return true;
  });
});

await run();
