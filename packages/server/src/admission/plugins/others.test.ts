/** Plug-ins that look at other kinds than pods and need few words each. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import { makeRequest, newKeyPair } from '@plat-dev/pki';
import { expect, test } from 'vitest';
import { podOf, refusalOf, World } from '../testing.ts';
import { alwaysAdmit } from './always-admit.ts';
import { alwaysDeny } from './always-deny.ts';
import { certificateApproval } from './certificates/certificate-approval.ts';
import { certificateSigning } from './certificates/certificate-signing.ts';
import { certificateSubjectRestriction } from './certificates/certificate-subject-restriction.ts';
import { defaultIngressClass } from './default-ingress-class.ts';
import { denyServiceExternalIPs } from './deny-external-ips.ts';
import { eventRateLimit } from './event-rate-limit.ts';
import { namespaceAutoProvision } from './namespaces/namespace-auto-provision.ts';
import { namespaceExists } from './namespaces/namespace-exists.ts';
import { namespaceLifecycle } from './namespaces/namespace-lifecycle.ts';
import { taintNodesByCondition } from './nodes/taint-nodes.ts';
import { ownerReferencesPermissionEnforcement } from './owner-references.ts';
import { persistentVolumeClaimResize } from './storage/claim-resize.ts';
import { defaultStorageClass } from './storage/default-storage-class.ts';
import { persistentVolumeLabel } from './storage/persistent-volume-label.ts';
import { storageObjectInUseProtection } from './storage/storage-object-in-use-protection.ts';

const cm = (more: object = {}) => ({ metadata: { name: 'c', namespace: 'ns', ...more } });

test('one admits everything, one denies everything', async () => {
  const world = new World();
  expect(await refusalOf(await world.plugin(alwaysAdmit), world.request('configmaps', cm()))).toBeUndefined();
  expect(await refusalOf(await world.plugin(alwaysDeny), world.request('configmaps', undefined, { old: cm() }))).toMatch(
    /is denying all modifications/,
  );
});

// ---- namespaces --------------------------------------------------------------------------------------------------

test('nothing is created in a namespace that is not there or goes, and those that the server needs stay', async () => {
  const world = new World().with(
    'namespaces',
    { metadata: { name: 'ns' } },
    { metadata: { name: 'going', deletionTimestamp: '2024-01-01T00:00:00Z' } },
  );
  const plugin = await world.plugin(namespaceLifecycle);
  const create = (namespace: string) => refusalOf(plugin, world.request('configmaps', cm({ namespace })));
  expect(await create('ns')).toBeUndefined();
  expect(await create('none')).toBe('namespaces "none" not found');
  expect(await create('going')).toMatch(/because it is being terminated/);
  expect(
    await refusalOf(plugin, world.request('configmaps', cm({ namespace: 'going' }), { old: cm({ namespace: 'going' }) })),
  ).toBeUndefined();
  expect(await refusalOf(plugin, world.request('configmaps', undefined, { old: cm({ namespace: 'going' }) }))).toBeUndefined();
  const remove = (name: string) => refusalOf(plugin, world.request('namespaces', undefined, { old: { metadata: { name } } }));
  for (const name of ['default', 'kube-system', 'kube-public']) expect(await remove(name)).toMatch(/this namespace may not be deleted/);
  expect(await remove('ns')).toBeUndefined();
});

test('a missing namespace is missed, or made on the way', async () => {
  const world = new World();
  expect(await refusalOf(await world.plugin(namespaceExists), world.request('configmaps', cm()))).toBe('namespaces "ns" not found');
  const provision = await world.plugin(namespaceAutoProvision);
  await refusalOf(provision, world.request('configmaps', cm(), { dryRun: true }));
  expect(world.view('', 'namespaces').list()).toHaveLength(0);
  expect(await refusalOf(provision, world.request('configmaps', cm()))).toBeUndefined();
  expect(world.view('', 'namespaces').get('', 'ns')).toBeDefined();
  expect(await refusalOf(await world.plugin(namespaceExists), world.request('configmaps', cm()))).toBeUndefined();
});

// ---- nodes, storage, ingress, services ---------------------------------------------------------------------------

test('a new node is tainted once', async () => {
  const world = new World();
  const plugin = await world.plugin(taintNodesByCondition);
  const request = world.request('nodes', { metadata: { name: 'n' }, spec: { taints: [{ key: 'own', effect: 'NoSchedule' }] } });
  await refusalOf(plugin, request);
  await refusalOf(plugin, request);
  expect((request.object as unknown as { spec: { taints: object[] } }).spec.taints).toEqual([
    { key: 'own', effect: 'NoSchedule' },
    { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
  ]);
});

const claim = (spec: object = {}, more: object = {}) => ({
  metadata: { name: 'c', namespace: 'ns' },
  spec: { resources: { requests: { storage: '1Gi' } }, ...spec },
  ...more,
});

test('claims and volumes are held by a finalizer', async () => {
  const world = new World();
  const plugin = await world.plugin(storageObjectInUseProtection);
  const finalizersOf = async (kind: string, object: object) => {
    const request = world.request(kind, object);
    await refusalOf(plugin, request);
    return request.object?.metadata.finalizers;
  };
  expect(await finalizersOf('persistentvolumeclaims', claim())).toEqual(['kubernetes.io/pvc-protection']);
  expect(await finalizersOf('persistentvolumes', { metadata: { name: 'v', finalizers: ['own'] }, spec: {} })).toEqual([
    'own',
    'kubernetes.io/pv-protection',
  ]);
});

test('a claim without a class gets the default one; two defaults are a fault', async () => {
  const mark = { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } };
  const world = new World().with('storage/storageclasses', { metadata: { name: 'std', ...mark }, provisioner: 'p' });
  const plugin = await world.plugin(defaultStorageClass);
  const classOf = async (given: object) => {
    const request = world.request('persistentvolumeclaims', given);
    return (
      (await refusalOf(plugin, request)) ?? (request.object as unknown as { spec: { storageClassName?: string } }).spec.storageClassName
    );
  };
  expect(await classOf(claim())).toBe('std');
  expect(await classOf(claim({ storageClassName: '' }))).toBe('');
  expect(
    await classOf({
      ...claim(),
      metadata: { name: 'c', namespace: 'ns', annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' } },
    }),
  ).toBeUndefined();
  world.with('storage/storageclasses', { metadata: { name: 'two', ...mark }, provisioner: 'p' });
  expect(await classOf(claim())).toMatch(/2 default StorageClasses were found/);
});

test('an ingress without a class gets the default one', async () => {
  const world = new World().with('networking/ingressclasses', {
    metadata: { name: 'std', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
    spec: { controller: 'x.test/y' },
  });
  const plugin = await world.plugin(defaultIngressClass);
  const request = world.request('networking/ingresses', { metadata: { name: 'i', namespace: 'ns' }, spec: {} });
  await refusalOf(plugin, request);
  expect((request.object as unknown as { spec: object }).spec).toMatchObject({ ingressClassName: 'std' });
});

test('a claim grows only when it is bound, and where its class lets it', async () => {
  const world = new World().with(
    'storage/storageclasses',
    { metadata: { name: 'grows' }, provisioner: 'p', allowVolumeExpansion: true },
    { metadata: { name: 'stays' }, provisioner: 'p' },
  );
  const plugin = await world.plugin(persistentVolumeClaimResize);
  const grow = (storageClassName: string, phase: string) => {
    const bound = { status: { phase } };
    const larger = claim({ storageClassName, resources: { requests: { storage: '2Gi' } } }, bound);
    return refusalOf(plugin, world.request('persistentvolumeclaims', larger, { old: claim({ storageClassName }, bound) }));
  };
  expect(await grow('grows', 'Bound')).toBeUndefined();
  expect(await grow('grows', 'Pending')).toMatch(/Only bound persistent volume claims/);
  expect(await grow('stays', 'Bound')).toMatch(/must support resize/);
  expect(await grow('', 'Bound')).toMatch(/must support resize/);
});

test('a volume that was made for a zone is used there only', async () => {
  const world = new World();
  const labels = { 'topology.kubernetes.io/zone': 'b__a', 'topology.kubernetes.io/region': 'r' };
  const volume = (annotations: object) => ({ metadata: { name: 'v', labels, annotations }, spec: {} });
  const plugin = await world.plugin(persistentVolumeLabel);
  const affinityOf = async (annotations: object) => {
    const request = world.request('persistentvolumes', volume(annotations));
    await refusalOf(plugin, request);
    return (request.object as unknown as { spec: { nodeAffinity?: object } }).spec.nodeAffinity;
  };
  expect(await affinityOf({})).toBeUndefined();
  expect(await affinityOf({ 'pv.kubernetes.io/provisioned-by': 'p' })).toEqual({
    required: {
      nodeSelectorTerms: [
        {
          matchExpressions: [
            { key: 'topology.kubernetes.io/region', operator: 'In', values: ['r'] },
            { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['a', 'b'] },
          ],
        },
      ],
    },
  });
});

test('no service gets external addresses that it did not have', async () => {
  const world = new World();
  const plugin = await world.plugin(denyServiceExternalIPs);
  const service = (...externalIPs: string[]) => ({ metadata: { name: 's', namespace: 'ns' }, spec: { externalIPs } });
  expect(await refusalOf(plugin, world.request('services', service('192.0.2.1')))).toMatch(/Use of external IPs is denied/);
  expect(
    await refusalOf(plugin, world.request('services', service('192.0.2.1'), { old: service('192.0.2.1', '192.0.2.2') })),
  ).toBeUndefined();
  expect(await refusalOf(plugin, world.request('services', service('192.0.2.3'), { old: service('192.0.2.1') }))).toMatch(/denied/);
});

// ---- events ------------------------------------------------------------------------------------------------------

test('events are limited in rate, by namespace and each by itself', async () => {
  const world = new World();
  const plugin = await world.plugin(eventRateLimit, {
    apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1',
    kind: 'Configuration',
    limits: [{ type: 'Namespace', qps: 1, burst: 2, cacheSize: 2 }],
  });
  const event = (namespace: string, dryRun = false) =>
    refusalOf(plugin, world.request('events', { metadata: { name: 'e', namespace }, involvedObject: {} }, { dryRun }));
  expect([await event('a'), await event('a')]).toEqual([undefined, undefined]);
  expect(await event('a')).toBe('Too many requests: limit reached on type Namespace for key a');
  expect(await event('a', true)).toBeUndefined();
  expect(await event('b')).toBeUndefined();
  await world.clock.advance(1000);
  expect(await event('a')).toBeUndefined();
  expect(await event('a')).toMatch(/limit reached/);
  // Of too many namespaces the one that was silent longest is forgotten.
  await event('c');
  await event('d');
  expect(await event('a')).toBeUndefined();
});

test.each([
  [undefined],
  [{}],
  [{ apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1', kind: 'Configuration', limits: [{ type: 'Odd' }] }],
])('a limit of events that makes no sense is refused at start: %j', async (configuration) => {
  await expect(new World().plugin(eventRateLimit, configuration as never)).rejects.toThrow();
});

// ---- certificates ------------------------------------------------------------------------------------------------

const keys = newKeyPair();
const pem = (organizations: string[]) => Buffer.from(makeRequest({ commonName: 'ops', organizations }, keys)).toString('base64');
const csr = (spec: object = {}, status: object = {}) => ({
  metadata: { name: 'r' },
  spec: { request: 'AAAA', signerName: 'example.test/own', usages: ['client auth'], ...spec },
  status,
});

test('approving and signing need the right for the signer, or for its whole domain', async () => {
  const world = new World();
  const approval = await world.plugin(certificateApproval);
  const signing = await world.plugin(certificateSigning);
  const kind = 'certificates/certificatesigningrequests';
  const approve = () => refusalOf(approval, world.request(kind, csr(), { old: csr(), subresource: 'approval' }));
  const sign = () => refusalOf(signing, world.request(kind, csr({}, { certificate: 'QUFB' }), { old: csr(), subresource: 'status' }));
  expect(await approve()).toMatch(/user not permitted to approve requests with signerName "example.test\/own"/);
  expect(await sign()).toMatch(/user not permitted to sign/);
  expect(await refusalOf(signing, world.request(kind, csr(), { old: csr(), subresource: 'status' }))).toBeUndefined();
  world.may = (user, { verb, resource, name }) =>
    user.name === 'alice' && verb === 'approve' && resource === 'signers' && name === 'example.test/own';
  expect([await approve(), (await sign()) === undefined]).toEqual([undefined, false]);
  world.may = (_user, { verb, name }) => verb === 'sign' && name === 'example.test/*';
  expect([await sign(), (await approve()) === undefined]).toEqual([undefined, false]);
});

test('the signer of client certificates makes nobody a master', async () => {
  const world = new World();
  const plugin = await world.plugin(certificateSubjectRestriction);
  const ask = (request: string, signerName: string) =>
    refusalOf(plugin, world.request('certificates/certificatesigningrequests', csr({ request, signerName })));
  const client = 'kubernetes.io/kube-apiserver-client';
  expect(await ask(pem(['system:masters']), client)).toMatch(
    /use of kubernetes.io\/kube-apiserver-client signer with system:masters group is not allowed/,
  );
  expect(await ask(pem(['team']), client)).toBeUndefined();
  expect(await ask(pem(['system:masters']), 'example.test/own')).toBeUndefined();
  expect(await ask('bm9uc2Vuc2U=', client)).toMatch(/failed to parse CSR/);
});

// ---- owners ------------------------------------------------------------------------------------------------------

test('owners are changed by those who could delete, and blocked by those who could set finalizers', async () => {
  const world = new World();
  const plugin = await world.plugin(ownerReferencesPermissionEnforcement);
  const owner = (more: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u', ...more });
  const create = (...ownerReferences: object[]) => refusalOf(plugin, world.request('configmaps', cm({ ownerReferences })));
  const update = (...ownerReferences: object[]) => refusalOf(plugin, world.request('configmaps', cm({ ownerReferences }), { old: cm() }));
  expect(await create(owner())).toBeUndefined();
  expect(await update(owner())).toMatch(/cannot set an ownerRef on a resource you can't delete/);
  expect(await create(owner({ blockOwnerDeletion: true }))).toMatch(/you can't set finalizers on/);
  expect(await create(owner({ kind: 'Odd', apiVersion: 'x.test/v1', blockOwnerDeletion: true }))).toMatch(
    /no matches for kind "Odd" in version "x.test\/v1"/,
  );
  world.may = (_user, { verb, subresource, namespace, name }) =>
    (verb === 'update' && subresource === 'finalizers' && namespace === 'ns' && name === 'o') || verb === 'delete';
  expect(await update(owner({ blockOwnerDeletion: true }))).toBeUndefined();
  world.may = () => false;
  const same = cm({ ownerReferences: [owner({ blockOwnerDeletion: true })] });
  expect(await refusalOf(plugin, world.request('configmaps', { ...same, data: { a: 'b' } }, { old: same }))).toBeUndefined();
  const request = world.request('pods', podOf({}, { ownerReferences: [owner()] }), { old: podOf(), subresource: 'status' });
  expect(await refusalOf(plugin, request)).toBeUndefined();
  expect((request.object as ApiObject).metadata.ownerReferences).toHaveLength(1);
});

test('whether the deletion of an owner waits is decided by those who may finalize the owner, either way', async () => {
  const world = new World();
  const plugin = await world.plugin(ownerReferencesPermissionEnforcement);
  const owner = (more: object = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u', ...more });
  world.may = (_user, { verb }) => verb === 'delete';
  const blocked = cm({ ownerReferences: [owner({ blockOwnerDeletion: true })] });
  const change = (...ownerReferences: object[]) =>
    refusalOf(plugin, world.request('configmaps', cm({ ownerReferences }), { old: blocked }));
  expect(await change(owner({ blockOwnerDeletion: false }))).toMatch(/you can't set finalizers on/);
  expect(await change(owner())).toMatch(/you can't set finalizers on/);
  expect(await change(owner({ blockOwnerDeletion: true }), owner({ uid: 'v' }))).toBeUndefined();
  expect(await change()).toBeUndefined();
  world.may = () => true;
  expect(await change(owner({ blockOwnerDeletion: false }))).toBeUndefined();
});
