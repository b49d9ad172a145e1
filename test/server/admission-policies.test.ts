/** Admission policies through the API, such as people write for add-ons of today; what single rules do is tested beside the plug-ins. */
import { describe, expect, test } from 'vitest';
import { define, definitionOf } from '../support/custom.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

const A = '/apis/admissionregistration.k8s.io/v1';
const options = { direct: true, identity: 'kubernetes', apiRelease: '1.36' } as const;

async function bind(server: TestServer, type: 'validating' | 'mutating', name: string, spec: Loose, binding: Loose = {}): Promise<void> {
  const kind = type === 'validating' ? 'ValidatingAdmissionPolicy' : 'MutatingAdmissionPolicy';
  const head = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name } };
  await server.admin.ok('POST', `${A}/${type}admissionpolicies`, { ...head, kind, spec });
  const actions = type === 'validating' ? { validationActions: ['Deny'] } : {};
  const body = { ...head, kind: `${kind}Binding`, spec: { policyName: name, ...actions, ...binding } };
  await server.admin.ok('POST', `${A}/${type}admissionpolicybindings`, body);
}
const rules = (group: string, resources: readonly string[], operations = ['CREATE', 'UPDATE']): Loose => ({
  resourceRules: [{ apiGroups: [group], apiVersions: ['*'], operations, resources }],
});
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

test('policies are there again after a restart, with what the store holds', async () => {
  const configMap = (data: Loose): Loose => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data });
  const path = '/api/v1/namespaces/default/configmaps?dryRun=All';
  const first = await startTestServer({ ...options, store: 'lmdb' });
  await bind(first, 'validating', 'no-secrets-in-config', {
    matchConstraints: rules('', ['configmaps']),
    validations: [
      { expression: "!object.data.exists(k, k.contains('password'))", messageExpression: "'found in ' + object.metadata.name" },
    ],
  });
  const message = /denied request: found in c$/;
  expect((await first.admin.post(path, configMap({ password: '' }))).json.message).toMatch(message);
  const second = await first.restart();
  expect((await second.admin.post(path, configMap({ password: '' }))).json.message).toMatch(message);
  expect((await second.admin.post(path, configMap({ user: '' }))).status).toBe(201);
  await second.close();
});

describe('policies for add-ons', () => {
  test('gateways: a listener takes only host names that the namespace may have', async () => {
    const server = await startTestServer({ ...options, store: 'memory' });
    const group = 'gateway.networking.example.com';
    await define(server, definitionOf(server, group, 'Gateway', [{ schema: { type: 'object', properties: { spec: open } } }]));
    await bind(server, 'validating', 'gateway-hosts', {
      matchConstraints: rules(group, ['gateways']),
      matchConditions: [{ name: 'has-listeners', expression: 'has(object.spec.listeners)' }],
      variables: [
        { name: 'domain', expression: "namespaceObject.metadata.?labels[?'domain'].orValue('none.invalid')" },
        {
          name: 'strays',
          expression: "object.spec.listeners.filter(l, has(l.hostname) && !l.hostname.endsWith('.' + variables.domain)).map(l, l.name)",
        },
      ],
      validations: [
        {
          expression: 'variables.strays.size() == 0',
          messageExpression: "'not below ' + variables.domain + ': ' + variables.strays.join(', ')",
        },
        {
          expression: "object.spec.listeners.all(l, l.protocol != 'HTTP' || l.port == 80)",
          message: 'HTTP listens on port 80',
          reason: 'Forbidden',
        },
      ],
    });
    await server.admin.ok('POST', '/api/v1/namespaces', {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: { name: 'shop', labels: { domain: 'shop.example' } },
    });
    const attempt = (...listeners: Loose[]) =>
      server.admin.post(`/apis/${group}/v1/namespaces/shop/gateways?dryRun=All`, {
        apiVersion: `${group}/v1`,
        kind: 'Gateway',
        metadata: { name: 'g' },
        spec: { listeners },
      });
    const listener = (name: string, hostname: string, port = 80): Loose => ({ name, hostname, port, protocol: 'HTTP' });
    expect((await attempt(listener('a', 'www.shop.example'))).status).toBe(201);
    expect((await attempt(listener('a', 'www.shop.example'), listener('b', 'bank.example'))).json.message).toMatch(
      /not below shop.example: b$/,
    );
    expect(await attempt(listener('a', 'www.shop.example', 8080))).toMatchObject({ status: 403, json: { reason: 'Forbidden' } });
    await server.close();
  });

  test('certificates: issuers and names come from an object of the team', async () => {
    const server = await startTestServer({ ...options, store: 'memory' });
    const group = 'certs.example.com';
    for (const kind of ['Certificate', 'Allowance'])
      await define(server, definitionOf(server, group, kind, [{ schema: { type: 'object', properties: { spec: open } } }]));
    await bind(
      server,
      'validating',
      'approved-names',
      {
        paramKind: { apiVersion: `${group}/v1`, kind: 'Allowance' },
        matchConstraints: rules(group, ['certificates']),
        validations: [
          { expression: 'object.spec.dnsNames.all(n, params.spec.suffixes.exists(s, n.endsWith(s)))', message: 'a name is not allowed' },
          {
            expression: "object.spec.issuerRef.name in params.spec.issuers || authorizer.requestResource.check('approve').allowed()",
            messageExpression: "'issuer ' + object.spec.issuerRef.name + ' is not among ' + params.spec.issuers.join(', ')",
          },
        ],
      },
      { paramRef: { name: 'team', parameterNotFoundAction: 'Deny' } },
    );
    const path = (plural: string): string => `/apis/${group}/v1/namespaces/default/${plural}`;
    const of = (kind: string, name: string, spec: Loose): Loose => ({ apiVersion: `${group}/v1`, kind, metadata: { name }, spec });
    const attempt = (dnsName: string, issuer: string) =>
      server.admin.post(`${path('certificates')}?dryRun=All`, of('Certificate', 'c', { dnsNames: [dnsName], issuerRef: { name: issuer } }));
    expect((await attempt('a.team.example', 'internal')).json.message).toMatch(/no params found/);
    await server.admin.ok('POST', path('allowances'), of('Allowance', 'team', { suffixes: ['.team.example'], issuers: ['internal'] }));
    expect((await attempt('a.team.example', 'internal')).status).toBe(201);
    expect((await attempt('a.other.example', 'internal')).json.message).toMatch(/a name is not allowed$/);
    // The administrator may approve, whatever the issuer.
    expect((await attempt('a.team.example', 'public')).status).toBe(201);
    await server.close();
  });

  test('queues: jobs are suspended and labelled until they are admitted, and only then may start', async () => {
    const server = await startTestServer({ ...options, store: 'memory' });
    const matchConstraints = rules('batch', ['jobs'], ['CREATE']);
    await bind(server, 'mutating', 'queue-jobs', {
      matchConstraints,
      reinvocationPolicy: 'IfNeeded',
      matchConditions: [{ name: 'not-queued', expression: "!('queue.example.com/name' in object.metadata.?labels.orValue({}))" }],
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: {
            expression:
              "Object{spec: Object.spec{suspend: true}, metadata: Object.metadata{labels: {'queue.example.com/name': request.namespace + '-queue'}}}",
          },
        },
        {
          patchType: 'JSONPatch',
          jsonPatch: {
            expression: "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'queue.example.com/by': request.userInfo.username}}]",
          },
        },
      ],
    });
    await bind(server, 'validating', 'suspended-jobs', {
      matchConstraints,
      validations: [{ expression: 'object.spec.suspend == true', message: 'jobs begin suspended' }],
    });
    const job = (metadata: Loose): Loose => ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'j', ...metadata },
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
    });
    const path = '/apis/batch/v1/namespaces/default/jobs?dryRun=All';
    const made = await server.admin.ok('POST', path, job({}));
    expect(made.spec.suspend).toBe(true);
    expect(made.metadata.labels).toMatchObject({ 'queue.example.com/name': 'default-queue' });
    expect(made.metadata.annotations['queue.example.com/by']).toBeTypeOf('string');
    expect((await server.admin.post(path, job({ labels: { 'queue.example.com/name': 'own' } }))).json.message).toMatch(
      /jobs begin suspended$/,
    );
    await server.close();
  });
});

test('who may write policies may name only parameters that they can read', async () => {
  const server = await startTestServer({ ...options, store: 'memory' });
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const head = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'policies' } };
  await server.admin.ok('POST', `${rbac}/clusterroles`, {
    ...head,
    kind: 'ClusterRole',
    rules: [{ apiGroups: ['admissionregistration.k8s.io'], resources: ['*'], verbs: ['*'] }],
  });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'policies' };
  await server.admin.ok('POST', `${rbac}/clusterrolebindings`, {
    ...head,
    kind: 'ClusterRoleBinding',
    roleRef,
    subjects: [{ kind: 'User', name: 'alice' }],
  });
  const policy = (paramKind?: Loose): Loose => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'p' },
    spec: { paramKind, matchConstraints: rules('', ['configmaps']), validations: [{ expression: 'true' }] },
  });
  const path = `${A}/validatingadmissionpolicies`;
  expect((await server.alice.post(path, policy())).status).toBe(201);
  const refusal = await server.alice.post(path, { ...policy({ apiVersion: 'v1', kind: 'Secret' }), metadata: { name: 'q' } });
  expect(refusal).toMatchObject({
    status: 422,
    json: { details: { causes: [{ field: 'spec.paramKind', reason: 'FieldValueForbidden' }] } },
  });
  await server.close();
});
