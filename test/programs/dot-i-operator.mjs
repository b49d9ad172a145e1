/** An operator written with @dot-i/k8s-operator: it registers its kind, keeps a config map for each object and cleans up after it. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import operators from '@dot-i/k8s-operator';
import { CoreV1Api, CustomObjectsApi, KubeConfig } from '@kubernetes/client-node';
import { eventually, namespace, run, step } from './support.mjs';

const { default: Operator, ResourceEventType } = operators;
const FINALIZER = 'greetings.operator.example.com';
const things = { group: 'operator.example.com', version: 'v1', namespace, plural: 'greetings' };

const config = new KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(CoreV1Api);
const custom = config.makeApiClient(CustomObjectsApi);

writeFileSync(
  'greetings.yaml',
  `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: greetings.operator.example.com }
spec:
  group: operator.example.com
  scope: Namespaced
  names: { plural: greetings, kind: Greeting }
  versions:
    - name: v1
      served: true
      storage: true
      subresources: { status: {} }
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: { type: object, properties: { text: { type: string } } }
            status: { type: object, x-kubernetes-preserve-unknown-fields: true }
`,
);

class GreetingOperator extends Operator {
  errors = [];
  cleanedUp = new Set();

  constructor() {
    const ignore = () => {};
    super({ info: ignore, debug: ignore, warn: ignore, error: (message) => this.errors.push(message) });
  }

  async init() {
    const { group, versions, plural } = await this.registerCustomResourceDefinition('greetings.yaml');
    await eventually(() => custom.listNamespacedCustomObject(things));
    await this.watchResource(group, versions[0].name, plural, (event) => this.onGreeting(event), namespace);
    await this.watchResource('apps', 'v1', 'deployments', async () => {}, namespace);
  }

  async onGreeting(event) {
    // A resumed watch may bring a deletion that was handled already.
    const cleanUp = async ({ meta }) => {
      await core.deleteNamespacedConfigMap({ namespace, name: meta.name }).catch(({ code }) => assert.equal(code, 404));
      this.cleanedUp.add(meta.name);
    };
    if (event.type === ResourceEventType.Deleted) return;
    if (await this.handleResourceFinalizer(event, FINALIZER, cleanUp)) return;
    const { meta, object } = event;
    if (object.status?.observedGeneration === object.metadata.generation) return;
    const data = { text: object.spec.text };
    await core
      .createNamespacedConfigMap({ namespace, body: { metadata: { name: meta.name }, data } })
      .catch(() => core.replaceNamespacedConfigMap({ namespace, name: meta.name, body: { metadata: { name: meta.name }, data } }));
    const written = await this.setResourceStatus(meta, { observedGeneration: object.metadata.generation });
    // An event of an object that has changed since, as a resumed watch may bring: its next event follows.
    if (written === null) return;
    await this.patchResourceStatus(written, { phase: 'Greeted' });
  }
}

let operator;
const greeting = (name, text) => ({ apiVersion: 'operator.example.com/v1', kind: 'Greeting', metadata: { name }, spec: { text } });
const settled = (name, generation) =>
  eventually(async () => {
    const object = await custom.getNamespacedCustomObject({ ...things, name });
    return object.status?.observedGeneration === generation && object.status.phase === 'Greeted' ? object : undefined;
  });

step('the operator registers its kind and watches', async () => {
  operator = new GreetingOperator();
  await operator.start();
  // A second registration finds the definition.
  await operator.registerCustomResourceDefinition('greetings.yaml');
});

step('an object gets its finalizer, what it stands for, and a status', async () => {
  await custom.createNamespacedCustomObject({ ...things, body: greeting('hello', 'Hello!') });
  const object = await settled('hello', 1);
  assert.deepEqual(object.metadata.finalizers, [FINALIZER]);
  assert.deepEqual((await core.readNamespacedConfigMap({ namespace, name: 'hello' })).data, { text: 'Hello!' });
});

step('a change is followed', async () => {
  await custom.patchNamespacedCustomObject({ ...things, name: 'hello', body: [{ op: 'replace', path: '/spec/text', value: 'Bye!' }] });
  await settled('hello', 2);
  assert.deepEqual((await core.readNamespacedConfigMap({ namespace, name: 'hello' })).data, { text: 'Bye!' });
});

step('a deletion waits for the operator', async () => {
  await custom.deleteNamespacedCustomObject({ ...things, name: 'hello' });
  await eventually(async () => {
    const { items } = await custom.listNamespacedCustomObject(things);
    return items.length === 0 ? true : undefined;
  });
  assert.deepEqual([...operator.cleanedUp], ['hello']);
  await assert.rejects(core.readNamespacedConfigMap({ namespace, name: 'hello' }), { code: 404 });
});

step('a watch that the server ended is resumed', async () => {
  const ended = { ...operator.watchRequests };
  await eventually(() => (Object.keys(ended).every((id) => operator.watchRequests[id] !== ended[id]) ? true : undefined));
  await custom.createNamespacedCustomObject({ ...things, body: greeting('again', 'Again!') });
  await settled('again', 1);
  assert.deepEqual(
    operator.errors.filter((message) => !/status code (404|409)/.test(message)),
    [],
  );
});

await run();
