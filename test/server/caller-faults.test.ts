/**
 * Finding 16: a fault of the caller is never 500, and says what is wrong. Finding 17: no message shows the insides of a stock
 * server.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWebhook } from '../../packages/server/src/admission/webhooks/testing.ts';
import { type Answer, type Loose, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let base: string;
let apps: string;
beforeAll(async () => {
  server = await startTestServer({
    identity: 'kubernetes',
    enableAdmissionPlugins: ['PodNodeSelector', 'PodTolerationRestriction', 'OwnerReferencesPermissionEnforcement'],
  });
  const ns = await server.namespace();
  base = `/api/v1/namespaces/${ns}`;
  apps = `/apis/apps/v1/namespaces/${ns}`;
  await server.admin.ok('POST', `${base}/configmaps`, { metadata: { name: 'one' }, data: { a: '1' } });
});
afterAll(() => server.close());

const goInsides = /\(\*|<nil>|struct \{|\.go:\d|interface \{\}|\b(apps|core)\.[A-Z]\w*|: \[\]$|: , /;
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'reg.example/c' }] } };
const workload = (more: object): object => ({
  metadata: { name: 'web' },
  spec: { selector: { matchLabels: { app: 'web' } }, template, ...more },
});
const send = (method: string, path: string, body: unknown, type = 'application/json'): Promise<Answer> =>
  server.admin.send(method, path, { headers: { 'content-type': type }, body: body as never });
const applied = (body: unknown): Promise<Answer> =>
  send(
    'PATCH',
    `${base}/configmaps/one?fieldManager=m`,
    typeof body === 'string' ? body : JSON.stringify(body),
    'application/apply-patch+yaml',
  );
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } };

/** What is asked, the codes that may answer, and words that the message must have. */
const faults: Record<string, [ask: () => Promise<Answer>, codes: number[], words: RegExp]> = {
  'a list from a version that is none': [() => server.admin.get(`${base}/configmaps?resourceVersion=abc`), [400], /"abc"/],
  'a get at a version that is none': [() => server.admin.get(`${base}/configmaps/one?resourceVersion=abc`), [400], /"abc"/],
  'a watch from a version that is none': [() => server.admin.get(`${base}/configmaps?watch=1&resourceVersion=abc`), [400], /"abc"/],
  'an exact list at a version that is none': [
    () => server.admin.get(`${base}/configmaps?resourceVersion=abc&resourceVersionMatch=Exact`),
    [400],
    /"abc"/,
  ],
  'an apply of another kind': [() => applied({ ...configMap, kind: 'Secret' }), [400], /Secret/],
  'an apply of another version': [() => applied({ ...configMap, apiVersion: 'apps/v1' }), [400], /apps\/v1/],
  'an apply with a value of another type': [() => applied({ ...configMap, data: 'text' }), [400, 422], /data/],
  'an apply with an unknown field': [() => applied({ ...configMap, nonsense: 1 }), [400, 422], /nonsense/],
  'an apply with a repeated key of a list': [
    () => {
      const containers = [1, 2].map((i) => ({ name: 'same', image: `reg.example/${i}` }));
      const body = { apiVersion: 'apps/v1', kind: 'Deployment', ...workload({ template: { ...template, spec: { containers } } }) };
      return send('PATCH', `${apps}/deployments/web?fieldManager=m`, JSON.stringify(body), 'application/apply-patch+yaml');
    },
    [400, 422],
    /containers.*same/,
  ],
  'an apply of a list': [() => applied([1]), [400, 422], /./],
  'a create with a version': [
    () => server.admin.post(`${base}/configmaps`, { metadata: { name: 'new', resourceVersion: '5' } }),
    [400],
    /resourceVersion/,
  ],
  'a body that is a list': [() => send('POST', `${base}/configmaps`, [1]), [400], /must be an object, not an array/],
  'a body that is a text': [() => send('POST', `${base}/configmaps`, '"x"'), [400], /must be an object, not a string/],
  'a strategy that is not known': [
    () => server.admin.post(`${apps}/deployments`, workload({ strategy: { type: 'Odd', rollingUpdate: { maxSurge: 1 } } })),
    [422],
    /spec\.strategy.*Odd/,
  ],
  'a strategy of daemon sets that is not known': [
    () => server.admin.post(`${apps}/daemonsets`, workload({ updateStrategy: { type: 'Odd' } })),
    [422],
    /spec\.updateStrategy.*Odd/,
  ],
  'a strategy of stateful sets that is not known': [
    () =>
      server.admin.post(
        `${apps}/statefulsets`,
        workload({ serviceName: 's', updateStrategy: { type: 'Odd', rollingUpdate: { partition: 1 } } }),
      ),
    [422],
    /spec\.updateStrategy.*Odd/,
  ],
  'a taint that stands twice': [
    () =>
      server.admin.post('/api/v1/nodes', {
        metadata: { name: 'n' },
        spec: {
          taints: [
            { key: 'a', effect: 'NoSchedule' },
            { key: 'a', value: 'x', effect: 'NoSchedule' },
          ],
        },
      }),
    [422],
    /taints\[1\].*unique/,
  ],
  'a label selector whose key is none': [() => server.admin.get(`${base}/configmaps?labelSelector=%2Fa%3Db`), [400], /"\/a"/],
  'a JSON patch that is an object': [
    () => send('PATCH', `${base}/configmaps/one`, {}, 'application/json-patch+json'),
    [400],
    /list of operations/,
  ],
  'a JSON patch of numbers': [() => send('PATCH', `${base}/configmaps/one`, [1], 'application/json-patch+json'), [400], /is an object/],
  'a strategic patch that is a list': [
    () => send('PATCH', `${base}/configmaps/one`, [1], 'application/strategic-merge-patch+json'),
    [400],
    /is an object/,
  ],
  'a docker configuration that is a list': [
    () =>
      server.admin.post(`${base}/secrets`, {
        metadata: { name: 's' },
        type: 'kubernetes.io/dockercfg',
        data: { '.dockercfg': Buffer.from('[]').toString('base64') },
      }),
    [422],
    /must be a JSON object, not an array/,
  ],
};

test.each(Object.keys(faults))('%s', async (name) => {
  const [ask, codes, words] = faults[name] as (typeof faults)[string];
  const { status, json } = await ask();
  expect(codes, json.message).toContain(status);
  expect(json.reason).toMatch(/^(BadRequest|Invalid)$/);
  expect(json.message).toMatch(words);
  expect(JSON.stringify(json)).not.toMatch(goInsides);
});

describe('plug-ins name the namespace and the annotation', () => {
  const pod = (more: object): object => ({
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'reg.example/c' }], ...more },
  });
  const inNamespace = async (annotations: Record<string, string>, spec: object): Promise<{ name: string; answer: Answer }> => {
    const name = await server.namespace();
    await server.admin.patch(`/api/v1/namespaces/${name}`, { metadata: { annotations } });
    await server.admin.ok('POST', `/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'own' } });
    const answer = await server.admin.post(`/api/v1/namespaces/${name}/pods`, pod({ serviceAccountName: 'own', ...spec }));
    return { name, answer };
  };
  const toleration = (key: string): string => JSON.stringify([{ key, operator: 'Exists', effect: 'NoSchedule' }]);
  const selector = 'scheduler.alpha.kubernetes.io/node-selector';
  const defaults = 'scheduler.alpha.kubernetes.io/defaultTolerations';
  const allowed = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist';

  test.each([
    ['a node selector that conflicts', { [selector]: 'zone=a' }, { nodeSelector: { zone: 'b' } }],
    ['a node selector that cannot be read', { [selector]: 'zone=a=b,,' }, {}],
    [
      'a toleration that is not allowed',
      { [allowed]: toleration('a') },
      { tolerations: [{ key: 'b', operator: 'Exists', effect: 'NoSchedule' }] },
    ],
    ['tolerations that cannot be read', { [defaults]: 'no JSON' }, {}],
    ['a list of allowed tolerations that cannot be read', { [allowed]: '{"a":' }, {}],
  ])('%s', async (_, annotations, spec) => {
    const { name, answer } = await inNamespace(annotations as Record<string, string>, spec);
    expect([400, 403, 422], answer.json.message).toContain(answer.status);
    expect(answer.json.reason).not.toBe('InternalError');
    expect(answer.json.message).toContain(name);
    expect(answer.json.message).toContain(Object.keys(annotations)[0]);
    expect(answer.json.message).not.toMatch(goInsides);
  });
});

test('who may not delete an object may not give it an owner, in a sentence', async () => {
  const edit = (verbs: string[], resources: string[]): object => ({ apiGroups: [''], resources, verbs });
  await server.admin.ok('POST', `/apis/rbac.authorization.k8s.io/v1${base.slice('/api/v1'.length)}/roles`, {
    metadata: { name: 'r' },
    rules: [edit(['get', 'update', 'patch', 'create'], ['configmaps'])],
  });
  await server.admin.ok('POST', `/apis/rbac.authorization.k8s.io/v1${base.slice('/api/v1'.length)}/rolebindings`, {
    metadata: { name: 'r' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
    subjects: [{ kind: 'User', name: 'bob', apiGroup: 'rbac.authorization.k8s.io' }],
  });
  const owner: Loose = await server.admin.ok('GET', `${base}/configmaps/one`);
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'one', uid: owner.metadata.uid, blockOwnerDeletion: true }];
  await server.admin.ok('POST', `${base}/configmaps`, { metadata: { name: 'two' } });
  for (const answer of [
    await server.bob.patch(`${base}/configmaps/two`, { metadata: { ownerReferences } }),
    await server.bob.post(`${base}/configmaps`, { metadata: { name: 'three', ownerReferences } }),
  ]) {
    expect(answer.status, answer.json.message).toBe(403);
    expect(answer.json.message).toMatch(/cannot set (an ownerRef|blockOwnerDeletion)/);
    expect(answer.json.message).not.toMatch(goInsides);
  }
});

test('a patch of a webhook that cannot be applied is the webhook’s fault, and names it', async () => {
  const hook = await startWebhook(() => ({
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from('[{"op":"replace","path":"/none/at/all","value":1}]').toString('base64'),
  }));
  await server.admin.ok('POST', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
    metadata: { name: 'bad' },
    webhooks: [
      {
        name: 'bad.example.com',
        clientConfig: { url: hook.url, caBundle: Buffer.from(hook.certificate).toString('base64') },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
  const answer = await server.admin.post(`${base}/secrets`, { metadata: { name: 'x' } });
  expect(answer.json.message).toContain('bad.example.com');
  expect(answer.json.message).not.toMatch(goInsides);
  await hook.close();
  await server.admin.ok('DELETE', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/bad');
});
