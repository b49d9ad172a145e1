/** kubernetes-fluent-client: the client of Pepr, also used alone. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { GenericKind, K8s, kind, RegisterKind } from 'kubernetes-fluent-client';
import { Events, eventually, namespace, run, step } from './support.mjs';

const names = (list) => list.items.map((item) => item.metadata.name);
const status = (code) => (error) => {
  assert.equal(error.status, code);
  return true;
};

step('create, get, list by labels and fields, delete', async () => {
  for (const name of ['a', 'b'])
    await K8s(kind.ConfigMap).Create({ metadata: { name, namespace, labels: { fluent: '' } }, data: { name } });
  assert.deepEqual((await K8s(kind.ConfigMap).InNamespace(namespace).Get('a')).data, { name: 'a' });
  assert.deepEqual(names(await K8s(kind.ConfigMap).InNamespace(namespace).WithLabel('fluent').Get()), ['a', 'b']);
  assert.deepEqual(names(await K8s(kind.ConfigMap).InNamespace(namespace).WithField('metadata.name', 'b').Get()), ['b']);
  await K8s(kind.ConfigMap).InNamespace(namespace).Delete('a');
  await assert.rejects(K8s(kind.ConfigMap).InNamespace(namespace).Get('a'), status(404));
  // What is gone already is no error for this client.
  await K8s(kind.ConfigMap).InNamespace(namespace).Delete('a');
});

step('apply, and its conflicts', async () => {
  const config = (data) => ({ metadata: { name: 'applied', namespace }, data });
  assert.deepEqual((await K8s(kind.ConfigMap).Apply(config({ a: '1', b: '1' }))).data, { a: '1', b: '1' });
  assert.deepEqual((await K8s(kind.ConfigMap).Apply(config({ a: '2' }))).data, { a: '2' });
  const patched = await K8s(kind.ConfigMap, { namespace, name: 'applied' }).Patch([{ op: 'replace', path: '/data/a', value: '3' }]);
  assert.deepEqual(patched.data, { a: '3' });
  await assert.rejects(K8s(kind.ConfigMap).Apply(config({ a: '4' })), status(409));
  assert.deepEqual((await K8s(kind.ConfigMap).Apply(config({ a: '4' }), { force: true })).data, { a: '4' });
});

step('watch', async () => {
  const events = new Events();
  const watcher = K8s(kind.Secret)
    .InNamespace(namespace)
    .Watch((secret, phase) => events.tell(`${phase} ${secret.metadata.name}`));
  const seen = (text) => events.wait((event) => event === text);
  await K8s(kind.Secret).Create({ metadata: { name: 'first', namespace } });
  await watcher.start();
  await seen('ADDED first');
  await K8s(kind.Secret).Create({ metadata: { name: 'second', namespace } });
  await seen('ADDED second');
  await K8s(kind.Secret).Apply({ metadata: { name: 'second', namespace }, stringData: { k: 'v' } });
  await seen('MODIFIED second');
  await K8s(kind.Secret).InNamespace(namespace).Delete('first');
  await seen('DELETED first');
  watcher.close();
});

step('finalizers', async () => {
  const config = { metadata: { name: 'finalized', namespace } };
  await K8s(kind.ConfigMap).Create(config);
  await K8s(kind.ConfigMap).InNamespace(namespace).Finalize('add', 'example.com/guard', 'finalized');
  await K8s(kind.ConfigMap).InNamespace(namespace).Delete('finalized');
  const deleted = await K8s(kind.ConfigMap).InNamespace(namespace).Get('finalized');
  assert.deepEqual(deleted.metadata.finalizers, ['example.com/guard']);
  assert(deleted.metadata.deletionTimestamp !== undefined);
  await K8s(kind.ConfigMap).InNamespace(namespace).Finalize('remove', 'example.com/guard', 'finalized');
  await assert.rejects(K8s(kind.ConfigMap).InNamespace(namespace).Get('finalized'), status(404));
});

step('a custom kind: types from its definition, status', async () => {
  const size = { type: 'object', properties: { size: { type: 'integer' } } };
  const ready = { type: 'object', properties: { ready: { type: 'boolean' } } };
  await K8s(kind.CustomResourceDefinition).Apply({
    metadata: { name: 'things.fluent.example.com' },
    spec: {
      group: 'fluent.example.com',
      scope: 'Namespaced',
      names: { plural: 'things', singular: 'thing', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: size, status: ready } } },
        },
      ],
    },
  });
  await promisify(execFile)('kubernetes-fluent-client', ['crd', 'things.fluent.example.com', 'types']);
  assert.match(readFileSync('types/thing-v1.ts', 'utf8'), /class Thing extends GenericKind[\s\S]*size\?: number/);
  class Thing extends GenericKind {}
  RegisterKind(Thing, { group: 'fluent.example.com', version: 'v1', kind: 'Thing', plural: 'things' });
  const thing = await eventually(() => K8s(Thing).Apply({ metadata: { name: 't', namespace }, spec: { size: 2 } }));
  assert.deepEqual(thing.spec, { size: 2 });
  const updated = await K8s(Thing).PatchStatus({ metadata: { name: 't', namespace }, spec: { size: 9 }, status: { ready: true } });
  assert.deepEqual([updated.spec, updated.status], [{ size: 2 }, { ready: true }]);
});

step('a deployment is scaled; logs and eviction of its pods', async () => {
  const labels = { app: 'web' };
  await K8s(kind.Deployment).Apply({
    metadata: { name: 'web', namespace },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'web', image: 'example.com/web', command: ['sh', '-c', 'echo started; sleep 1000'] }] },
      },
    },
  });
  await K8s(kind.Deployment).InNamespace(namespace).Scale(2, 'web');
  const available = () =>
    eventually(async () => {
      const { spec, status } = await K8s(kind.Deployment).InNamespace(namespace).Get('web');
      return spec.replicas === 2 && status?.availableReplicas === 2 ? true : undefined;
    });
  await available();
  const lines = await K8s(kind.Deployment).InNamespace(namespace).Logs('web');
  assert.deepEqual(
    lines.map((line) => line.replace(/^\[pod\/web-\w+-\w+\] /, '')),
    ['started', 'started'],
  );
  const [pod] = names(await K8s(kind.Pod).InNamespace(namespace).WithLabel('app', 'web').Get());
  await K8s(kind.Pod).InNamespace(namespace).Evict(pod);
  await eventually(async () => {
    const left = names(await K8s(kind.Pod).InNamespace(namespace).WithLabel('app', 'web').Get());
    return left.includes(pod) ? undefined : true;
  });
  await available();
});

step('raw paths', async () => {
  assert.equal((await K8s(kind.Node).Raw('/version')).minor.slice(0, 2), '24');
});

await run();
