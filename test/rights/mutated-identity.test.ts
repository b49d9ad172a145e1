/** Rights were checked for the object that a request names: a mutating webhook may not make it another one. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { caBundle, patched, startWebhook, type TestWebhook } from '../../packages/server/src/admission/webhooks/testing.ts';
import type { Loose, TestServer } from '../support/server.ts';
import { onStores } from '../support/stores.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const HOOKS = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
const binding = (metadata: object): object => ({
  metadata,
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' }],
});

onStores(['memory', 'lmdb'], { identity: 'kubernetes', controllers: [] }, (given) => {
  let server: TestServer;
  let hook: TestWebhook;
  let ns = '';
  let patch: object[] = [];
  const wanted = ['rolebindings', 'configmaps', 'namespaces', 'pods/eviction', 'bindings', 'pods/binding', 'deployments/scale'];

  beforeAll(async () => {
    server = given();
    ns = await server.namespace();
    hook = await startWebhook(() => (patch.length === 0 ? { allowed: true } : patched(...(patch as never[]))));
    const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: wanted }];
    const webhook = {
      name: 'changes.example.test',
      clientConfig: { url: hook.url, caBundle },
      rules,
      sideEffects: 'None',
      failurePolicy: 'Ignore',
    };
    await server.admin.ok('POST', HOOKS, { metadata: { name: 'changes' }, webhooks: [{ ...webhook, admissionReviewVersions: ['v1'] }] });
  });
  afterAll(() => hook.close());

  const set = (field: string, value: string): object => ({ op: 'add', path: `/metadata/${field}`, value });
  /** Everything in the store but the configuration of the webhook. */
  const stored = async (): Promise<number> => server.engine.revision;

  test.each([
    ['namespace', 'kube-system'],
    ['name', 'another'],
    ['uid', '00000000-0000-4000-8000-000000000000'],
    ['generateName', 'another-'],
  ])('metadata.%s on create', async (field, value) => {
    patch = [set(field, value)];
    const before = await stored();
    const answer = await server.admin.post(`${RBAC}/namespaces/${ns}/rolebindings`, binding({ name: 'b' }));
    expect([answer.status, answer.json.reason]).toEqual([400, 'BadRequest']);
    expect(answer.json.message).toContain(`metadata.${field}`);
    expect(await stored()).toBe(before);
    patch = [];
  });

  test("a generated name is the server's to choose", async () => {
    patch = [set('name', 'chosen')];
    const before = await stored();
    expect((await server.admin.post(`${RBAC}/namespaces/${ns}/rolebindings`, binding({ generateName: 'g-' }))).status).toBe(400);
    patch = [{ op: 'replace', path: '/metadata/generateName', value: 'h-' }];
    expect((await server.admin.post(`${RBAC}/namespaces/${ns}/rolebindings`, binding({ generateName: 'g-' }))).status).toBe(400);
    expect(await stored()).toBe(before);
    patch = [set('labels', { seen: 'yes' } as never)];
    const made = await server.admin.post(`${RBAC}/namespaces/${ns}/rolebindings`, binding({ generateName: 'g-' }));
    expect([made.status, made.json.metadata.name.slice(0, 2), made.json.metadata.labels.seen]).toEqual([201, 'g-', 'yes']);
    patch = [];
  });

  test.each([
    ['namespace', 'kube-system'],
    ['name', 'another'],
    ['uid', '00000000-0000-4000-8000-000000000000'],
  ])('metadata.%s on update, patch and apply', async (field, value) => {
    patch = [];
    const path = `/api/v1/namespaces/${ns}/configmaps`;
    const made: Loose = await server.admin.ok('POST', path, { metadata: { generateName: 'c-' }, data: { a: '1' } });
    const one = `${path}/${made.metadata.name}`;
    patch = [set(field, value)];
    const before = await stored();
    const answers = [
      await server.admin.put(one, { ...made, data: { a: '2' } }),
      await server.admin.patch(one, { data: { a: '2' } }),
      await server.admin.patch(`${one}?fieldManager=m`, { apiVersion: 'v1', kind: 'ConfigMap', data: { b: '2' } }, 'apply-patch'),
      await server.admin.patch(
        `${path}/fresh?fieldManager=m`,
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'fresh' }, data: { b: '2' } },
        'apply-patch',
      ),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
    expect(await stored()).toBe(before);
    patch = [];
  });

  test('objects of actions keep their names, too', async () => {
    patch = [];
    const path = `/api/v1/namespaces/${ns}`;
    await server.admin.send('POST', `${path}/serviceaccounts`, { body: { metadata: { name: 'default' } } });
    for (const name of ['p', 'q'])
      await server.admin.ok('POST', `${path}/pods`, { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const apps = `/apis/apps/v1/namespaces/${ns}/deployments`;
    const labels = { app: 'd' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    await server.admin.ok('POST', apps, { metadata: { name: 'd' }, spec: { selector: { matchLabels: labels }, template } });
    const before = await stored();
    for (const [field, value] of [
      ['name', 'q'],
      ['namespace', 'kube-system'],
    ] as const) {
      patch = [set(field, value)];
      const target = { kind: 'Node', name: 'n' };
      const answers = [
        await server.admin.post(`${path}/pods/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } }),
        await server.admin.post(`${path}/pods/p/binding`, { metadata: { name: 'p' }, target }),
        await server.admin.post(`${path}/bindings`, { metadata: { name: 'p' }, target }),
        await server.admin.patch(`${apps}/d/scale`, { spec: { replicas: 3 } }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
    }
    expect(await stored()).toBe(before);
    patch = [];
  });
});
