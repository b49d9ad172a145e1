/** The versions of the removal table, row by row: that they are there, and how they differ from the versions that took their place. */
import { generateKeyPairSync } from 'node:crypto';
import { kubernetes, plat } from '@plat-dev/meta/identity';
import { makeRequest } from '@plat-dev/pki';
import { decodeProtobuf, encodeProtobuf } from '@plat-dev/schema/protobuf';
import { expect, test } from 'vitest';
import { readSource, sourceFiles } from '../../../test/support/sources.ts';
import { builtinKinds } from './index.ts';
import type { Kind, ViewSubresource } from './kind.ts';
import { allServed, created, fromHub, olderKinds, read, servedAs, shown, toHub, updated } from './older.testing.ts';
import { withOlderVersions } from './older-kinds.ts';
import { type Loose, testEnv } from './validation/kinds.testing.ts';

const MAX_INT32 = 2 ** 31 - 1;
const rbac = 'rbac.authorization.k8s.io';

test.each([
  ['admissionregistration', 'v1beta1', 'MutatingWebhookConfiguration ValidatingWebhookConfiguration'],
  ['apiextensions', 'v1beta1', 'CustomResourceDefinition'],
  ['apiregistration', 'v1beta1', 'APIService'],
  ['apps', 'v1beta1', 'ControllerRevision Deployment StatefulSet'],
  ['apps', 'v1beta2', 'ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet'],
  ['authentication', 'v1beta1', 'TokenReview'],
  ['authorization', 'v1beta1', 'LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview'],
  ['autoscaling', 'v2beta1', 'HorizontalPodAutoscaler'],
  ['autoscaling', 'v2beta2', 'HorizontalPodAutoscaler'],
  ['batch', 'v1beta1', 'CronJob'],
  ['batch', 'v2alpha1', 'CronJob'],
  ['certificates', 'v1beta1', 'CertificateSigningRequest'],
  ['coordination', 'v1beta1', 'Lease'],
  ['discovery', 'v1beta1', 'EndpointSlice'],
  ['events', 'v1beta1', 'Event'],
  ['extensions', 'v1beta1', 'DaemonSet Deployment Ingress NetworkPolicy PodSecurityPolicy ReplicaSet'],
  ['flowcontrol.apiserver', 'v1alpha1', 'FlowSchema PriorityLevelConfiguration'],
  ['flowcontrol.apiserver', 'v1beta1', 'FlowSchema PriorityLevelConfiguration'],
  ['flowcontrol.apiserver', 'v1beta3', 'FlowSchema PriorityLevelConfiguration'],
  ['networking', 'v1beta1', 'Ingress IngressClass'],
  ['node', 'v1alpha1', 'RuntimeClass'],
  ['node', 'v1beta1', 'RuntimeClass'],
  ['policy', 'v1beta1', 'PodDisruptionBudget PodSecurityPolicy'],
  ['rbac.authorization', 'v1alpha1', 'ClusterRole ClusterRoleBinding Role RoleBinding'],
  ['rbac.authorization', 'v1beta1', 'ClusterRole ClusterRoleBinding Role RoleBinding'],
  ['scheduling', 'v1alpha1', 'PriorityClass'],
  ['scheduling', 'v1beta1', 'PriorityClass'],
  ['storage', 'v1alpha1', 'CSIStorageCapacity VolumeAttachment'],
  ['storage', 'v1beta1', 'CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment'],
])('%s/%s has %s', (group, version, names) => {
  const found = allServed.filter((one) => one.kind.group === group && one.version === version).map(({ kind }) => kind.kind);
  expect(found.sort()).toEqual(names.split(' '));
});

test('a server that is asked for nothing has none of them', () => {
  const known = builtinKinds(kubernetes);
  expect(known.some(({ group }) => group === 'extensions')).toBe(false);
  expect(known.find(({ plural }) => plural === 'deployments')?.versions).not.toHaveProperty('v1beta1');
});

test('only a server that is asked for them loads them', () => {
  const isOlder = (file: string): boolean => /^kinds\/(\w+\/older|older-kinds|older)\.ts$/.test(file);
  const files = sourceFiles.filter((file) => /(?<!\.test(ing)?)\.ts$/.test(file) && !isOlder(file));
  const users = files.flatMap((file) => {
    const found = readSource(file).match(/(?:from |import\()'[^']*\/older(-kinds)?(\.ts)?'/g) ?? [];
    return found.filter((how) => !how.includes('/schema/')).map((how) => `${file}: ${how.split("'")[0]}`);
  });
  const others = users.filter((user) => !/^kinds\/\w+\/(schema|older)/.test(user));
  expect(others).toContain('compose/api-release.ts: import(');
  // Commands are loaded when they are run.
  expect(others.filter((user) => user.includes(': from ') && !user.startsWith('cli/'))).toEqual([]);
});

test('names are those of the identity', () => {
  const kinds = withOlderVersions(builtinKinds(plat), plat);
  const find = (plural: string): Kind => kinds.find((kind) => kind.plural === plural) as Kind;
  const convert = (plural: string, version: string, object: Loose): Loose => find(plural).versions[version]?.toHub?.(object as never, plat);
  expect(convert('rolebindings', 'v1alpha1', { metadata: {}, subjects: [{ kind: 'User', name: 'u' }] }).subjects).toEqual([
    { kind: 'User', apiGroup: 'rbac.authorization.plat.dev', name: 'u' },
  ]);
});

test('messages of a version are named after it, whatever they are made of', () => {
  for (const { group, versions, kind } of olderKinds)
    for (const [version, { schema }] of Object.entries(versions))
      expect(schema.name).toBe(`${(group === '' ? 'core' : group).split('.')[0]}.${version}.${kind}`);
});

test('the kinds that were there keep their order of versions and their hub, and stay what they are', () => {
  builtinKinds(plat).forEach((kind, i) => {
    const more = withOlderVersions(builtinKinds(plat), plat)[i];
    expect(Object.keys(more?.versions ?? {}).slice(0, Object.keys(kind.versions).length)).toEqual(Object.keys(kind.versions));
    expect([more?.kind, more?.hub, more?.subresources]).toEqual([kind.kind, kind.hub, expect.anything()]);
  });
});

// ---- workloads ---------------------------------------------------------------------------------------------------

const template = { metadata: { labels: { app: 'shop' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
const selector = { matchLabels: { app: 'shop' } };
const workload = (spec: Loose = {}, metadata: Loose = {}): Loose => ({ metadata: { name: 'w', ...metadata }, spec: { template, ...spec } });

const workloads = [
  ['extensions', 'v1beta1', 'Deployment'],
  ['extensions', 'v1beta1', 'DaemonSet'],
  ['extensions', 'v1beta1', 'ReplicaSet'],
  ['apps', 'v1beta1', 'Deployment'],
  ['apps', 'v1beta1', 'StatefulSet'],
  ['apps', 'v1beta2', 'Deployment'],
  ['apps', 'v1beta2', 'DaemonSet'],
  ['apps', 'v1beta2', 'ReplicaSet'],
  ['apps', 'v1beta2', 'StatefulSet'],
] as const;
/** From apps/v1beta2 on the selector must be given. */
const fromTemplate = (version: string): boolean => version === 'v1beta1';

test.each(workloads)('%s/%s %s: the selector comes from the template, or is required', (group, version, kind) => {
  const { hub, errors } = created(servedAs(group, version, kind), workload());
  if (fromTemplate(version)) {
    expect(errors).toEqual([]);
    expect(hub.spec.selector).toEqual(selector);
    expect(hub.metadata.labels).toEqual({ app: 'shop' });
  } else expect(errors[0]).toMatch(/^spec\.(selector|template\.metadata\.labels): /);
  expect(created(servedAs(group, version, kind), workload({ selector })).errors).toEqual([]);
});

test.each(workloads)('%s/%s %s: the selector can be changed in extensions, and of deployments in apps/v1beta1', (group, version, kind) => {
  const served = servedAs(group, version, kind);
  const { hub } = created(served, workload({ selector }));
  const { errors } = updated(served, { ...hub, metadata: { ...hub.metadata, resourceVersion: '1' } }, (object) => {
    object.spec.selector = { matchLabels: { app: 'shop', tier: 'a' } };
    object.spec.template.metadata.labels = { app: 'shop', tier: 'a' };
  });
  const mutable = group === 'extensions' || (version === 'v1beta1' && kind === 'Deployment');
  if (mutable) expect(errors).toEqual([]);
  else expect(errors.join()).toMatch(kind === 'StatefulSet' ? /updates to statefulset spec/ : /field is immutable/);
});

test.each([
  ['extensions', 'v1beta1', { maxUnavailable: 1, maxSurge: 1 }, MAX_INT32, MAX_INT32],
  ['apps', 'v1beta1', { maxUnavailable: '25%', maxSurge: '25%' }, 600, 2],
  ['apps', 'v1beta2', { maxUnavailable: '25%', maxSurge: '25%' }, 600, 10],
  ['apps', 'v1', { maxUnavailable: '25%', maxSurge: '25%' }, 600, 10],
])('%s/%s Deployment: defaults', (group, version, rollingUpdate, progressDeadlineSeconds, revisionHistoryLimit) => {
  const { spec } = created(servedAs(group, version, 'Deployment'), workload({ selector })).hub;
  expect(spec).toMatchObject({
    replicas: 1,
    strategy: { type: 'RollingUpdate', rollingUpdate },
    progressDeadlineSeconds,
    revisionHistoryLimit,
  });
});

test.each([
  ['extensions', 'v1beta1', { type: 'OnDelete' }],
  ['apps', 'v1beta2', { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } }],
])('%s/%s DaemonSet: how pods are updated', (group, version, updateStrategy) => {
  expect(created(servedAs(group, version, 'DaemonSet'), workload({ selector })).hub.spec.updateStrategy).toEqual(updateStrategy);
});

test.each([
  ['apps', 'v1beta1', { type: 'OnDelete' }],
  ['apps', 'v1beta2', { type: 'RollingUpdate', rollingUpdate: { partition: 0 } }],
])('%s/%s StatefulSet: how pods are updated', (group, version, updateStrategy) => {
  expect(created(servedAs(group, version, 'StatefulSet'), workload({ selector })).hub.spec.updateStrategy).toEqual(updateStrategy);
});

const rollback = 'deprecated.deployment.rollback.revision';
test.each([
  ['extensions', { revision: 7 }, '7'],
  ['apps', { revision: 7 }, '7'],
  ['apps', {}, '0'],
])('%s/v1beta1 Deployment: rollbackTo %j is the annotation %s of version 1', (group, rollbackTo, text) => {
  const served = servedAs(group, 'v1beta1', 'Deployment');
  const { hub } = created(served, workload({ rollbackTo }, { annotations: { a: 'b' } }));
  expect(hub.metadata.annotations).toEqual({ a: 'b', [rollback]: text });
  expect(hub.spec).not.toHaveProperty('rollbackTo');
  const old = fromHub(served, hub);
  expect(old.spec.rollbackTo).toEqual(rollbackTo);
  expect(old.metadata.annotations).toEqual({ a: 'b' });
  expect(fromHub(servedAs('apps', 'v1beta2', 'Deployment'), hub).metadata.annotations).toEqual({ a: 'b', [rollback]: text });
});

test('text that is no revision stays an annotation', () => {
  const served = servedAs('apps', 'v1beta1', 'Deployment');
  for (const text of ['', 'x', '+1', '1.5', '01', '99999999999999999999']) {
    const { hub } = created(served, workload({}, { annotations: { [rollback]: text } }));
    expect(fromHub(served, hub).spec).not.toHaveProperty('rollbackTo');
    expect(toHub(served, fromHub(served, hub))).toEqual(hub);
  }
});

const generation = 'deprecated.daemonset.template.generation';
test('extensions/v1beta1 DaemonSet: templateGeneration is an annotation of version 1', () => {
  const served = servedAs('extensions', 'v1beta1', 'DaemonSet');
  const { hub } = created(served, workload({ templateGeneration: 5 }));
  expect(hub.metadata.annotations).toEqual({ [generation]: '5' });
  const old = fromHub(served, hub);
  expect(old.spec.templateGeneration).toBe(5);
  expect(old.metadata.annotations).toBeUndefined();
  expect(created(served, workload()).hub.metadata.annotations).toEqual({ [generation]: '1' });
  const changed = updated(served, { ...hub, metadata: { ...hub.metadata, resourceVersion: '1' } }, (object) => {
    object.spec.template.spec.containers[0].image = 'web:2';
  });
  expect(changed.hub.metadata.annotations).toEqual({ [generation]: '6' });
});

test.each([
  ['extensions', 'v1beta1', 'Deployment'],
  ['extensions', 'v1beta1', 'ReplicaSet'],
  ['apps', 'v1beta1', 'StatefulSet'],
  ['apps', 'v1beta2', 'ReplicaSet'],
])('%s/%s %s: the scale is of the same version and shows its selector in two ways', (group, version, kind) => {
  const served = servedAs(group, version, kind);
  const scale = served.kind.subresources.scale as unknown as ViewSubresource<Loose, Loose>;
  expect(scale.kind).toEqual({ group, version, kind: 'Scale' });
  expect(Object.keys(served.kind.subresources).filter((name) => name !== 'rollback')).toEqual(['scale', 'status']);
  const { hub } = created(served, workload({ selector, replicas: 3 }));
  expect(scale.show(hub, testEnv)).toMatchObject({
    spec: { replicas: 3 },
    status: { replicas: 0, selector: { app: 'shop' }, targetSelector: 'app=shop' },
  });
  hub.spec.selector = { matchExpressions: [{ key: 'app', operator: 'Exists' }] };
  expect(scale.show(hub, testEnv).status).toEqual({ replicas: 0, targetSelector: 'app' });
});

test('objects without dependents of their own are orphaned by default in the versions that did so', () => {
  const orphans = (group: string, plural: string): unknown =>
    olderKinds.find((kind) => kind.group === group && kind.plural === plural)?.orphansByDefault;
  expect(orphans('extensions', 'deployments')).toBe(true);
  expect(orphans('apps', 'deployments')).toEqual(['v1beta1', 'v1beta2']);
  expect(orphans('apps', 'statefulsets')).toEqual(['v1beta1', 'v1beta2']);
  expect(orphans('apps', 'daemonsets')).toEqual(['v1beta2']);
  expect(orphans('extensions', 'ingresses')).toBeUndefined();
});

// ---- networking --------------------------------------------------------------------------------------------------

test.each([['extensions'], ['networking']])('%s/v1beta1 Ingress: backends and path types', (group) => {
  const served = servedAs(group, 'v1beta1', 'Ingress');
  const spec = {
    backend: { serviceName: 'a', servicePort: 80 },
    rules: [
      {
        host: 'h.example.com',
        http: {
          paths: [
            { path: '/n', backend: { serviceName: 'b', servicePort: 'http' } },
            { path: '/r', pathType: 'Prefix', backend: { resource: { apiGroup: 'e.com', kind: 'Bucket', name: 'x' } } },
          ],
        },
      },
    ],
    tls: [{ hosts: ['h.example.com'], secretName: 's' }],
  };
  const { hub, errors } = created(served, { metadata: { name: 'i' }, spec });
  expect(errors).toEqual([]);
  expect(hub.spec).toEqual({
    defaultBackend: { service: { name: 'a', port: { number: 80 } } },
    rules: [
      {
        host: 'h.example.com',
        http: {
          paths: [
            { path: '/n', pathType: 'ImplementationSpecific', backend: { service: { name: 'b', port: { name: 'http' } } } },
            { path: '/r', pathType: 'Prefix', backend: { resource: { apiGroup: 'e.com', kind: 'Bucket', name: 'x' } } },
          ],
        },
      },
    ],
    tls: [{ hosts: ['h.example.com'], secretName: 's' }],
  });
  const back = shown(served, fromHub(served, hub));
  expect(back.spec.backend).toEqual({ serviceName: 'a', servicePort: 80 });
  expect(back.spec.rules[0].http.paths[1].backend).toEqual({ servicePort: 0, resource: { apiGroup: 'e.com', kind: 'Bucket', name: 'x' } });
});

test('networking/v1beta1 Ingress: errors name the fields of that version', () => {
  const spec = { backend: { serviceName: '-', servicePort: 70000 }, rules: [{ host: '*.a.example.com', http: { paths: [] } }] };
  const { errors } = created(servedAs('networking', 'v1beta1', 'Ingress'), { metadata: { name: 'i' }, spec });
  expect(errors).toEqual([expect.stringMatching(/^spec\.backend\.serviceName: /), expect.stringMatching(/^spec\.backend\.servicePort: /)]);
  const newer = created(servedAs('networking', 'v1', 'Ingress'), {
    metadata: { name: 'i' },
    spec: { rules: [{ host: '*.a.example.com', http: { paths: [] } }] },
  });
  expect(newer.errors).toEqual([expect.stringMatching(/^spec\.rules\[0\]\.http\.paths: /)]);
});

test.each([['NetworkPolicy'], ['PodSecurityPolicy']])('extensions/v1beta1 %s is the same kind under another name', (kind) => {
  const moved = servedAs('extensions', 'v1beta1', kind);
  expect(moved.hub.apiVersion).toBe(kind === 'NetworkPolicy' ? 'networking.k8s.io/v1' : 'policy/v1beta1');
  expect(moved.isHub).toBe(false);
  expect(moved.apiVersion).toBe('extensions/v1beta1');
});

// ---- the rest ----------------------------------------------------------------------------------------------------

const webhook = { name: 'a.b.example.com', clientConfig: { url: 'https://h.example.com/x' } };
test.each([['Mutating'], ['Validating']])('admissionregistration/v1beta1 %sWebhookConfiguration: defaults', (kind) => {
  const served = servedAs('admissionregistration', 'v1beta1', `${kind}WebhookConfiguration`);
  const { hub, errors } = created(served, { metadata: { name: 'w' }, webhooks: [webhook] });
  expect(errors).toEqual([]);
  expect(hub.webhooks[0]).toMatchObject({
    failurePolicy: 'Ignore',
    matchPolicy: 'Exact',
    timeoutSeconds: 30,
    sideEffects: 'Unknown',
    admissionReviewVersions: ['v1beta1'],
    namespaceSelector: {},
    objectSelector: {},
  });
});

test('admissionregistration: what version 1 requires, and what a stored configuration may keep', () => {
  const beta = servedAs('admissionregistration', 'v1beta1', 'ValidatingWebhookConfiguration');
  const v1 = servedAs('admissionregistration', 'v1', 'ValidatingWebhookConfiguration');
  const twice = { metadata: { name: 'w' }, webhooks: [webhook, webhook] };
  expect(created(beta, twice).errors).toEqual([]);
  expect(created(v1, twice).errors).toEqual([
    expect.stringMatching(/^webhooks\[0\]\.sideEffects: Required value: must specify one of None, NoneOnDryRun$/),
    expect.stringMatching(/^webhooks\[0\]\.admissionReviewVersions: Required value/),
    expect.stringMatching(/^webhooks\[1\]\.sideEffects: /),
    expect.stringMatching(/^webhooks\[1\]\.admissionReviewVersions: /),
    expect.stringMatching(/^webhooks\[1\]\.name: Duplicate value/),
  ]);
  const stored = { ...created(beta, twice).hub, metadata: { name: 'w', resourceVersion: '1' } };
  expect(updated(v1, stored, () => {}).errors).toEqual([]);
  const strict = { ...stored, webhooks: [{ ...stored.webhooks[0], sideEffects: 'None' }] };
  const loosened = updated(v1, strict, (object) => {
    object.webhooks[0].sideEffects = 'Some';
  });
  expect(loosened.errors).toEqual([expect.stringMatching(/^webhooks\[0\]\.sideEffects: Unsupported value: "Some"/)]);
  const other = { metadata: { name: 'w' }, webhooks: [{ ...webhook, sideEffects: 'Maybe' }] };
  expect(created(beta, other).errors).toEqual([expect.stringMatching(/"None", "NoneOnDryRun", "Some", "Unknown"$/)]);
});

test('authorization/v1beta1: the groups of the subject', () => {
  for (const kind of ['SubjectAccessReview', 'LocalSubjectAccessReview']) {
    const served = servedAs('authorization', 'v1beta1', kind);
    const review = read(served, { spec: { user: 'u', group: ['a', 'b'] } });
    expect(toHub(served, review).spec).toEqual({ user: 'u', groups: ['a', 'b'] });
    expect(fromHub(served, toHub(served, review)).spec).toEqual(review.spec);
  }
});

const pemOf = (commonName: string, organizations: string[], dns: string[] = []): string => {
  const names = { dns, emails: [], addresses: [], uris: [] };
  const pem = makeRequest({ commonName, organizations }, generateKeyPairSync('ec', { namedCurve: 'P-256' }), names);
  return Buffer.from(pem).toString('base64');
};
test.each<[string, string, string[] | undefined, string]>([
  ['anybody', pemOf('jane', ['dev']), undefined, 'kubernetes.io/legacy-unknown'],
  [
    'a node that dials',
    pemOf('system:node:a', ['system:nodes']),
    ['key encipherment', 'digital signature', 'client auth'],
    'kubernetes.io/kube-apiserver-client-kubelet',
  ],
  [
    'a node that serves',
    pemOf('system:node:a', ['system:nodes'], ['a.example.com']),
    ['key encipherment', 'digital signature', 'server auth'],
    'kubernetes.io/kubelet-serving',
  ],
  ['a node with other usages', pemOf('system:node:a', ['system:nodes']), ['client auth'], 'kubernetes.io/legacy-unknown'],
])('certificates/v1beta1: the signer of a request of %s', (_who, request, usages, signerName) => {
  const { hub, errors } = created(servedAs('certificates', 'v1beta1', 'CertificateSigningRequest'), {
    metadata: { name: 'c' },
    spec: { request, ...(usages && { usages }) },
  });
  expect(errors).toEqual([]);
  expect(hub.spec).toMatchObject({ signerName, usages: usages ?? ['digital signature', 'key encipherment'] });
});

test('certificates: what version 1 requires, and what a stored request may keep', () => {
  const beta = servedAs('certificates', 'v1beta1', 'CertificateSigningRequest');
  const v1 = servedAs('certificates', 'v1', 'CertificateSigningRequest');
  const body = { metadata: { name: 'c' }, spec: { request: pemOf('jane', ['dev']), usages: ['odd', 'signing', 'signing'] } };
  expect(created(v1, { ...body, spec: { request: body.spec.request } }).errors).toEqual([
    'spec.usages: Required value: usages must be provided',
    'spec.signerName: Required value: signerName must be provided',
  ]);
  expect(created(v1, { ...body, spec: { ...body.spec, signerName: 'kubernetes.io/legacy-unknown' } }).errors).toEqual([
    expect.stringMatching(/^spec\.usages\[0\]: Unsupported value: "odd"/),
    'spec.usages[2]: Duplicate value: "signing"',
    expect.stringMatching(/^spec\.signerName: .* legacy signerName is not allowed via this API version$/),
  ]);
  const { hub, errors } = created(beta, body);
  expect(errors).toEqual([]);
  const stored = { ...hub, metadata: { name: 'c', resourceVersion: '1' } };
  expect(updated(v1, stored, () => {}).errors).toEqual([]);
  const condition = read(beta, { ...body, status: { conditions: [{ type: 'Approved' }] } }).status.conditions[0];
  expect(condition).toMatchObject({ type: 'Approved', status: 'True' });
});

test('rbac.authorization/v1alpha1: subjects have a version, and the user * is everybody who is authenticated', () => {
  const served = servedAs('rbac.authorization', 'v1alpha1', 'ClusterRoleBinding');
  const body = {
    metadata: { name: 'b' },
    roleRef: { kind: 'ClusterRole', name: 'r' },
    subjects: [
      { kind: 'User', name: 'u' },
      { kind: 'Group', apiVersion: 'other/v1', name: 'g' },
      { kind: 'ServiceAccount', name: 's', namespace: 'n' },
      { kind: 'User', name: '*' },
    ],
  };
  const { hub, errors } = created(served, body);
  expect(errors).toEqual([]);
  expect(hub.roleRef.apiGroup).toBe(rbac);
  expect(hub.subjects).toEqual([
    { kind: 'User', apiGroup: rbac, name: 'u' },
    { kind: 'Group', apiGroup: rbac, name: 'g' },
    { kind: 'ServiceAccount', name: 's', namespace: 'n' },
    { kind: 'Group', apiGroup: rbac, name: 'system:authenticated' },
  ]);
  expect(fromHub(served, hub).subjects).toEqual([
    { kind: 'User', apiVersion: `${rbac}/v1alpha1`, name: 'u' },
    { kind: 'Group', apiVersion: `${rbac}/v1alpha1`, name: 'g' },
    { kind: 'ServiceAccount', apiVersion: 'v1', name: 's', namespace: 'n' },
    { kind: 'Group', apiVersion: `${rbac}/v1alpha1`, name: 'system:authenticated' },
  ]);
});

test('rbac.authorization/v1alpha1: rules have other tags than in version 1', () => {
  const role = { metadata: { name: 'r' }, rules: [{ verbs: ['get'], apiGroups: ['g'], resources: ['p'], resourceNames: ['n'] }] };
  const { schema } = servedAs('rbac.authorization', 'v1alpha1', 'Role');
  const bytes = encodeProtobuf(schema, role);
  // Within the one rule: field 1 "get", field 3 "g", field 4 "p", field 5 "n".
  expect(bytes.includes(Buffer.from([0x0a, 3, 0x67, 0x65, 0x74, 0x1a, 1, 0x67, 0x22, 1, 0x70, 0x2a, 1, 0x6e]))).toBe(true);
  expect(decodeProtobuf(schema, bytes)).toMatchObject(role);
});

test('node/v1alpha1: what version 1 has at the top stands in a specification', () => {
  const served = servedAs('node', 'v1alpha1', 'RuntimeClass');
  const spec = { runtimeHandler: 'fast', overhead: { podFixed: { cpu: '250m' } }, scheduling: { nodeSelector: { a: 'b' } } };
  const { hub, errors } = created(served, { metadata: { name: 'r' }, spec });
  expect(errors).toEqual([]);
  expect(hub).toMatchObject({ handler: 'fast', overhead: spec.overhead, scheduling: spec.scheduling });
  expect(fromHub(served, hub).spec).toEqual(spec);
});

test('flowcontrol/v1beta3: another name for shares, and what is lent and borrowed is kept', () => {
  const served = servedAs('flowcontrol.apiserver', 'v1beta3', 'PriorityLevelConfiguration');
  const level = (limited: Loose): Loose => ({
    metadata: { name: 'l' },
    spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' }, ...limited } },
  });
  const { hub, errors } = created(served, level({ nominalConcurrencyShares: 7, lendablePercent: 50, borrowingLimitPercent: 20 }));
  expect(errors).toEqual([]);
  expect(hub.spec.limited).toEqual({
    assuredConcurrencyShares: 7,
    limitResponse: { type: 'Reject' },
    lendablePercent: 50,
    borrowingLimitPercent: 20,
  });
  const back = fromHub(served, hub);
  expect(back.spec.limited).toEqual({
    nominalConcurrencyShares: 7,
    limitResponse: { type: 'Reject' },
    lendablePercent: 50,
    borrowingLimitPercent: 20,
  });
  expect(back.metadata).toEqual({ name: 'l' });
  expect(fromHub(served, created(served, level({})).hub).spec.limited).toMatchObject({ nominalConcurrencyShares: 30, lendablePercent: 0 });
  expect(created(served, level({ lendablePercent: 101, borrowingLimitPercent: -1 })).errors).toEqual([
    'spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive',
    'spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer',
  ]);
});

// ---- definitions -------------------------------------------------------------------------------------------------

const definition = (spec: Loose): Loose => ({
  metadata: { name: 'widgets.example.com' },
  spec: { group: 'example.com', names: { plural: 'widgets', kind: 'Widget' }, ...spec },
});
const structural = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } };

test('apiextensions/v1beta1: what stands in the specification moves into every version', () => {
  const served = servedAs('apiextensions', 'v1beta1', 'CustomResourceDefinition');
  const body = definition({
    version: 'v1',
    validation: structural,
    subresources: { status: {} },
    additionalPrinterColumns: [{ name: 'X', type: 'string', JSONPath: '.spec.x' }],
    preserveUnknownFields: false,
  });
  const hub = toHub(served, read(served, body));
  expect(hub.spec).toMatchObject({
    scope: 'Namespaced',
    names: { singular: 'widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: structural,
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: 'X', type: 'string', jsonPath: '.spec.x' }],
      },
    ],
    conversion: { strategy: 'None' },
  });
  for (const field of ['version', 'validation', 'subresources', 'additionalPrinterColumns', 'preserveUnknownFields'])
    expect(hub.spec).not.toHaveProperty(field);
  expect(shown(served, fromHub(served, hub)).spec).toEqual(shown(served, read(served, body)).spec);
});

test('apiextensions/v1beta1: versions that differ keep what is their own, and the webhook of a conversion has other fields', () => {
  const served = servedAs('apiextensions', 'v1beta1', 'CustomResourceDefinition');
  const versions = [
    { name: 'v1', served: true, storage: true, schema: structural },
    { name: 'v2', served: true, storage: false },
  ];
  const webhookClientConfig = { url: 'https://h.example.com/x' };
  const body = definition({ versions, conversion: { strategy: 'Webhook', webhookClientConfig }, preserveUnknownFields: false });
  const hub = toHub(served, read(served, body));
  expect(hub.spec.versions).toEqual(versions);
  expect(hub.spec.conversion).toEqual({
    strategy: 'Webhook',
    webhook: { clientConfig: webhookClientConfig, conversionReviewVersions: ['v1beta1'] },
  });
  expect(fromHub(served, hub).spec).toMatchObject({
    version: 'v1',
    versions,
    conversion: { strategy: 'Webhook', webhookClientConfig, conversionReviewVersions: ['v1beta1'] },
  });
});

test('apiextensions/v1beta1: unknown fields are kept unless the definition says otherwise', () => {
  const served = servedAs('apiextensions', 'v1beta1', 'CustomResourceDefinition');
  expect(toHub(served, read(served, definition({ version: 'v1' }))).spec.preserveUnknownFields).toBe(true);
  expect(fromHub(served, toHub(served, read(served, definition({ version: 'v1', preserveUnknownFields: false })))).spec).toMatchObject({
    preserveUnknownFields: false,
  });
});

test.each([
  [
    'another version',
    { version: 'v2', versions: [{ name: 'v1', served: true, storage: true }] },
    /spec\.version: .*must match the first version/,
  ],
  [
    'a schema twice',
    { validation: structural, versions: [{ name: 'v1', served: true, storage: true, schema: structural }] },
    /spec\.validation: Forbidden: top-level and per-version schemas are mutually exclusive/,
  ],
])('apiextensions/v1beta1: %s is refused', (_what, spec, message) => {
  const served = servedAs('apiextensions', 'v1beta1', 'CustomResourceDefinition');
  expect(() => toHub(served, read(served, definition(spec)))).toThrow(message);
});

test('apiextensions/v1beta1: schemas may be missing or not structural where unknown fields are kept, and stay so', () => {
  const beta = servedAs('apiextensions', 'v1beta1', 'CustomResourceDefinition');
  const v1 = servedAs('apiextensions', 'v1', 'CustomResourceDefinition');
  const loose = { openAPIV3Schema: { properties: { spec: { properties: { x: { minimum: 1 } } } } } };
  const stored = (spec: Loose): Loose => {
    const { hub, errors } = created(beta, definition(spec));
    expect(errors).toEqual([]);
    return { ...hub, metadata: { ...hub.metadata, resourceVersion: '1' } };
  };
  for (const spec of [{ version: 'v1' }, { version: 'v1', validation: loose }]) {
    const kept = updated(v1, stored(spec), (object) => {
      object.metadata.labels = { a: 'b' };
    });
    expect(kept.errors).toEqual([]);
    expect(created(v1, { ...definition({}), spec: fromHub(v1, stored(spec)).spec }).errors.length).toBeGreaterThan(1);
  }
  expect(created(beta, definition({ version: 'v1', preserveUnknownFields: false })).errors).toEqual([
    'spec.versions[0].schema.openAPIV3Schema: Required value: because otherwise all fields are pruned',
  ]);
  expect(created(beta, definition({ version: 'v1', validation: loose, preserveUnknownFields: false })).errors[0]).toMatch(
    /^spec\.validation\.openAPIV3Schema\.properties\[spec\]\.properties\[x\]\.type: Required value/,
  );
  const worse = updated(v1, stored({ version: 'v1', validation: loose }), (object) => {
    object.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.y = {};
  });
  expect(worse.errors.length).toBeGreaterThan(0);
});

test('apiextensions/v1beta1: no defaults, and extensions of schemas only in structural ones', () => {
  const beta = servedAs('apiextensions', 'v1beta1', 'CustomResourceDefinition');
  const of = (x: Loose): string[] =>
    created(beta, definition({ version: 'v1', validation: { openAPIV3Schema: { properties: { spec: { properties: { x } } } } } })).errors;
  expect(of({ type: 'integer', default: 1 })).toEqual([
    'spec.validation.openAPIV3Schema.properties[spec].properties[x].default: Forbidden: must not be set (cannot set default values in apiextensions.k8s.io/v1beta1 CRDs, must use apiextensions.k8s.io/v1)',
  ]);
  expect(of({ 'x-kubernetes-int-or-string': true }).join()).toContain('must not be empty at the root');
});

test('apiextensions/v1beta1: groups of the server need no approval', () => {
  const body = { ...definition({ version: 'v1', group: 'x.k8s.io' }), metadata: { name: 'widgets.x.k8s.io' } };
  expect(created(servedAs('apiextensions', 'v1beta1', 'CustomResourceDefinition'), body).errors).toEqual([]);
});
