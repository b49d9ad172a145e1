import { type Identity, kubernetes, nodeAgentWord, plat } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { podOf, type RequestOptions, refusalOf, World } from '../../testing.ts';
import { forbiddenLabels } from './node-labels.ts';
import { nodeRestriction } from './node-restriction.ts';

const agent = { name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] };
const node = (more: { metadata?: object; spec?: object } = {}, name = 'n1') => ({
  metadata: { name, ...more.metadata },
  spec: { ...more.spec },
});
const mirror = (spec: object = {}, metadata: object = {}) =>
  podOf(
    { nodeName: 'n1', ...spec },
    {
      annotations: { 'kubernetes.io/config.mirror': 'x' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'uid-1', controller: true }],
      ...metadata,
    },
  );

async function start() {
  const world = new World()
    .with('nodes', { metadata: { name: 'n1', uid: 'uid-1' } })
    .with('pods', podOf({ nodeName: 'n1' }, { name: 'mine', uid: 'pod-1' }), podOf({ nodeName: 'n2' }, { name: 'other', uid: 'pod-2' }));
  const plugin = await world.plugin(nodeRestriction);
  return (kind: string, object: object | undefined, options: RequestOptions = {}) =>
    refusalOf(plugin, world.request(kind, object, { user: agent, ...options }));
}

test('other users are none of its business, and a node without a name is none', async () => {
  const ask = await start();
  expect(await ask('nodes', node({}, 'n2'), { user: { name: 'alice', groups: [] } })).toBeUndefined();
  expect(await ask('nodes', node(), { user: { name: 'system:node:', groups: ['system:nodes'] } })).toMatch(/could not determine node/);
});

test('a node changes itself only, and not its taints', async () => {
  const ask = await start();
  expect(await ask('nodes', node())).toBeUndefined();
  expect(await ask('nodes', node({}, 'n2'))).toMatch(/node "n1" is not allowed to modify node "n2"/);
  expect(await ask('nodes', node({ spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }), { old: node() })).toMatch(
    /not allowed to modify taints/,
  );
});

test.each([
  ['kubernetes.io/arch', true],
  ['topology.kubernetes.io/zone', true],
  ['kubelet.kubernetes.io/x', true],
  ['sub.node.kubernetes.io/x', true],
  ['mine', true],
  ['example.test/x', true],
  ['node-restriction.kubernetes.io/x', false],
  ['team.node-restriction.kubernetes.io/x', false],
  ['kubernetes.io/custom', false],
  ['other.k8s.io/x', false],
])('a node may give itself the label %s: %s', async (label, allowed) => {
  const ask = await start();
  const labelled = node({ metadata: { labels: { [label]: 'v' } } });
  expect((await ask('nodes', labelled)) === undefined).toBe(allowed);
  expect((await ask('nodes', labelled, { old: node() })) === undefined).toBe(allowed);
  // What was there may stay.
  expect(await ask('nodes', labelled, { old: labelled })).toBeUndefined();
});

test.each([
  [podOf({ nodeName: 'n1' }), /can only create mirror pods/],
  [mirror({ nodeName: 'n2' }), /spec.nodeName set to itself/],
  [mirror({}, { ownerReferences: [] }), /with an owner reference set to itself/],
  [mirror({}, { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'uid-1' }] }), /controller owner reference/],
  [mirror({}, { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'old', controller: true }] }), /UID mismatch/],
  [mirror({ serviceAccountName: 'x' }), /reference a service account/],
  [mirror({ volumes: [{ name: 'v', secret: { secretName: 's' } }] }), /reference secrets/],
  [mirror({ volumes: [{ name: 'v', configMap: { name: 's' } }] }), /reference configmaps/],
  [mirror({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 's' } }] }), /reference persistentvolumeclaims/],
])('a node may not make the pod %j', async (pod, why) => {
  const ask = await start();
  expect(await ask('pods', pod)).toMatch(why);
  expect(await ask('pods', mirror())).toBeUndefined();
});

test('a node deletes, reports and evicts the pods that run on it', async () => {
  const ask = await start();
  const mine = podOf({ nodeName: 'n1' }, { name: 'mine' });
  const other = podOf({ nodeName: 'n2' }, { name: 'other' });
  expect(await ask('pods', undefined, { old: mine })).toBeUndefined();
  expect(await ask('pods', undefined, { old: other })).toMatch(/can only delete pods with spec.nodeName set to itself/);
  expect(await ask('pods', mine, { old: mine, subresource: 'status' })).toBeUndefined();
  expect(await ask('pods', other, { old: other, subresource: 'status' })).toMatch(/can only update pod status/);
  expect(await ask('pods', podOf({ nodeName: 'n1' }, { name: 'mine', labels: { a: 'b' } }), { old: mine, subresource: 'status' })).toMatch(
    /cannot update labels/,
  );
  expect(await ask('pods', mine, { old: mine })).toMatch(/unexpected operation "UPDATE"/);
  expect(await ask('pods', mine, { old: mine, subresource: 'ephemeralcontainers' })).toMatch(/unexpected pod subresource/);
  const evict = (name: string) =>
    ask(
      'pods',
      { metadata: { name, namespace: 'ns' } },
      { subresource: 'eviction', objectKind: { group: 'policy', version: 'v1', kind: 'Eviction' } },
    );
  expect(await evict('mine')).toBeUndefined();
  expect(await evict('other')).toMatch(/can only evict pods/);
  expect(await evict('none')).toBe('pods "none" not found');
});

test('tokens are for pods of the node', async () => {
  const ask = await start();
  const token = (boundObjectRef?: object) =>
    ask(
      'serviceaccounts',
      { metadata: { name: 'sa', namespace: 'ns' }, spec: { boundObjectRef } },
      { subresource: 'token', objectKind: { group: 'authentication', version: 'v1', kind: 'TokenRequest' } },
    );
  const bound = (name: string, uid?: string) => ({ apiVersion: 'v1', kind: 'Pod', name, ...(uid && { uid }) });
  expect(await token()).toMatch(/not bound to a pod/);
  expect(await token(bound('mine'))).toMatch(/without a uid/);
  expect(await token(bound('mine', 'older'))).toMatch(/does not match the UID in record/);
  expect(await token(bound('other', 'pod-2'))).toMatch(/scheduled on a different node/);
  expect(await token(bound('mine', 'pod-1'))).toBeUndefined();
});

test('leases, CSI nodes and claims', async () => {
  const ask = await start();
  const lease = (name: string, namespace: string) => ask('coordination/leases', { metadata: { name, namespace } });
  expect(await lease('n1', 'kube-node-lease')).toBeUndefined();
  expect(await lease('n2', 'kube-node-lease')).toMatch(/with the same name as the requesting node/);
  expect(await lease('n1', 'ns')).toMatch(/can only access leases in the "kube-node-lease" system namespace/);
  expect(await ask('storage/csinodes', { metadata: { name: 'n2' }, spec: { drivers: [] } })).toMatch(/with the same name/);
  const claim = (status: object, spec: object = {}) => ({ metadata: { name: 'c', namespace: 'ns' }, spec, status });
  expect(await ask('persistentvolumeclaims', claim({}), { old: claim({}) })).toMatch(/may only update PVC status/);
  const grown = claim({ capacity: { storage: '2Gi' } });
  expect(await ask('persistentvolumeclaims', grown, { old: claim({}), subresource: 'status' })).toBeUndefined();
  expect(await ask('persistentvolumeclaims', claim({ phase: 'Lost' }), { old: claim({}), subresource: 'status' })).toMatch(
    /other than status.capacity/,
  );
});

test('labels that belong to nodes are named by the word that the identity has for their agent', () => {
  const refused = (identity: Identity, label: string): boolean => forbiddenLabels(identity, { [label]: 'v' }, {}).length > 0;
  expect(nodeAgentWord(plat)).toBe('nodeagent');
  expect(nodeAgentWord(kubernetes)).toBe('kubelet');
  expect(refused(plat, 'nodeagent.plat.dev/x')).toBe(false);
  expect(refused(plat, 'kubelet.plat.dev/x')).toBe(true);
  expect(refused(kubernetes, 'kubelet.kubernetes.io/x')).toBe(false);
  expect(refused(kubernetes, 'nodeagent.kubernetes.io/x')).toBe(true);
});
