import { readFeatureGates } from '@plat-dev/kinds/feature-gates';
import { FakeStore } from '@plat-dev/kinds/live-view.testing';
import { kubernetes } from '@plat-dev/meta/identity';
import { beforeEach, expect, test } from 'vitest';
import { selectorsIn } from '../selectors.ts';
import type { Attributes, User } from '../types.ts';
import { NodeAuthorizer } from './node.ts';

const node = (name: string): User => ({ name: `system:node:${name}`, groups: ['system:nodes', 'system:authenticated'] });
let store: FakeStore;
let authorizer: NodeAuthorizer;
const choiceOf = (release: string) => {
  const features = readFeatureGates(new Map(), { release });
  return { release, feature: (gate: string): boolean => features.isOn(gate) };
};
beforeEach(() => {
  store = new FakeStore();
  authorizer = new NodeAuthorizer(store.live, kubernetes, choiceOf('1.24'));
});
/** 'yes', or the reason why not. */
function may(verb: string, what: string, name = '', namespace = 'ns', user = node('n1'), fieldSelector?: string): string {
  const [full = '', subresource = ''] = what.split('/');
  const dot = full.indexOf('.');
  const resource = dot === -1 ? full : full.slice(0, dot);
  const group = dot === -1 ? '' : full.slice(dot + 1);
  const asked: Attributes = {
    user,
    verb,
    group,
    version: 'v1',
    resource,
    subresource,
    name,
    namespace,
    path: '',
    resourceRequest: true,
    selectors: selectorsIn((key) => (key === 'fieldSelector' ? fieldSelector : undefined)),
  };
  const { decision, reason } = authorizer.authorize(asked);
  return decision === 'allow' ? 'yes' : reason;
}
const pod = (spec: object, name = 'p', more: object = {}) =>
  store.put('', 'pods', { metadata: { namespace: 'ns', name, uid: `uid-${name}`, ...more }, spec: { nodeName: 'n1', ...spec } } as never);
const unrelated = "no relationship found between node 'n1' and this object";

test('what every node may and may not', () => {
  expect(may('get', 'nodes', 'other', '')).toBe('yes');
  expect(may('list', 'pods')).toBe('yes');
  expect(may('patch', 'pods/status', 'p')).toBe('yes');
  expect(may('patch', 'pods', 'p')).toBe('');
  expect(may('list', 'endpoints')).toBe('');
  expect(may('create', 'certificatesigningrequests.certificates.k8s.io', '', '')).toBe('yes');
});

test('only nodes are looked at', () => {
  pod({ imagePullSecrets: [{ name: 's' }] });
  expect(may('get', 'secrets', 's')).toBe('yes');
  expect(may('get', 'secrets', 's', 'ns', { name: 'system:node:n1', groups: ['system:authenticated'] })).toBe('');
  expect(may('get', 'secrets', 's', 'ns', { name: 'n1', groups: ['system:nodes'] })).toBe('');
  expect(may('get', 'secrets', 's', 'ns', node(''))).toBe('unknown node for user "system:node:"');
});

test('every way a pod uses a secret or config map counts', () => {
  const env = (ref: object) => ({ name: 'X', valueFrom: ref });
  pod({
    serviceAccountName: 'robot',
    imagePullSecrets: [{ name: 'pull' }],
    containers: [
      {
        env: [
          env({ secretKeyRef: { name: 'key', key: 'k' } }),
          env({ configMapKeyRef: { name: 'c-key', key: 'k' } }),
          { name: 'Y', value: 'v' },
        ],
        envFrom: [{ secretRef: { name: 'from' } }, { configMapRef: { name: 'c-from' } }],
      },
    ],
    initContainers: [{ envFrom: [{ secretRef: { name: 'init' } }] }],
    ephemeralContainers: [{ envFrom: [{ secretRef: { name: 'debug' } }] }],
    volumes: [
      { name: 'a', secret: { secretName: 'mounted' } },
      { name: 'b', configMap: { name: 'c-mounted' } },
      {
        name: 'c',
        projected: {
          sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'c-projected' } }, { serviceAccountToken: { path: 't' } }],
        },
      },
      { name: 'd', csi: { driver: 'x', nodePublishSecretRef: { name: 'csi' } } },
      { name: 'e', cephfs: { secretRef: { name: 'ceph' } } },
      { name: 'f', azureFile: { secretName: 'azure', shareName: 'x' } },
    ],
  });
  for (const name of ['pull', 'key', 'from', 'init', 'debug', 'mounted', 'projected', 'csi', 'ceph', 'azure'])
    expect([name, may('get', 'secrets', name)]).toEqual([name, 'yes']);
  for (const name of ['c-key', 'c-from', 'c-mounted', 'c-projected'])
    expect([name, may('watch', 'configmaps', name)]).toEqual([name, 'yes']);
  expect(may('get', 'secrets', 'other')).toBe(unrelated);
  expect(may('get', 'secrets', 'mounted', 'elsewhere')).toBe(unrelated);
  expect(may('get', 'secrets', 'mounted', 'ns', node('n2'))).toMatch(/no relationship/);
  expect(may('list', 'secrets')).toBe('No Object name found');
  expect(may('list', 'secrets', '', '')).toBe('can only read namespaced object of this type');
  expect(may('delete', 'secrets', 'mounted')).toBe('can only read resources of this type');
  expect(may('create', 'serviceaccounts/token', 'robot')).toBe('yes');
  expect(may('create', 'serviceaccounts/token', 'default')).toBe(unrelated);
  expect(may('get', 'serviceaccounts', 'robot')).toBe('can only create tokens for individual service accounts');
});

test('needs come and go with pods', () => {
  const spec = { imagePullSecrets: [{ name: 's' }] };
  pod({ ...spec, nodeName: '' });
  expect(may('get', 'secrets', 's')).toBe(unrelated);
  pod(spec);
  expect(may('get', 'secrets', 's')).toBe('yes');
  pod({ ...spec, ephemeralContainers: [{ envFrom: [{ secretRef: { name: 'debug' } }] }] });
  expect(may('get', 'secrets', 'debug')).toBe('yes');
  pod(spec, 'q');
  store.remove('', 'pods', 'ns', 'p');
  expect(may('get', 'secrets', 'debug')).toBe(unrelated);
  expect(may('get', 'secrets', 's')).toBe('yes');
  store.remove('', 'pods', 'ns', 'q');
  expect(may('get', 'secrets', 's')).toBe(unrelated);
  pod(spec, 'm', { annotations: { 'kubernetes.io/config.mirror': 'x' } });
  expect(may('get', 'secrets', 's')).toBe(unrelated);
});

test("a claim, its volume and the volume's secrets open to the node of the pod", () => {
  const volume = (claim: object) =>
    store.put('', 'persistentvolumes', {
      metadata: { name: 'v' },
      spec: {
        claimRef: claim,
        csi: {
          nodeStageSecretRef: { name: 'stage', namespace: 'secret-ns' },
          controllerPublishSecretRef: { name: 'control', namespace: 'secret-ns' },
        },
        azureFile: { secretName: 'azure' },
      },
    } as never);
  volume({ namespace: 'ns', name: 'claim' });
  expect(may('get', 'persistentvolumes', 'v', '')).toBe(unrelated);
  pod({
    volumes: [
      { name: 'x', persistentVolumeClaim: { claimName: 'claim' } },
      { name: 'scratch', ephemeral: {} },
    ],
  });
  expect(may('get', 'persistentvolumeclaims', 'claim')).toBe('yes');
  expect(may('get', 'persistentvolumeclaims', 'p-scratch')).toBe('yes');
  expect(may('patch', 'persistentvolumeclaims/status', 'claim')).toBe('yes');
  expect(may('get', 'persistentvolumeclaims/status', 'claim')).toBe('can only get/update/patch this type');
  expect(may('list', 'persistentvolumeclaims')).toBe('can only get individual resources of this type');
  expect(may('get', 'persistentvolumes', 'v', '')).toBe('yes');
  expect(may('get', 'secrets', 'stage', 'secret-ns')).toBe('yes');
  expect(may('get', 'secrets', 'azure', 'ns')).toBe('yes');
  expect(may('get', 'secrets', 'control', 'secret-ns')).toBe(unrelated);
  volume({ namespace: 'ns', name: 'another' });
  expect(may('get', 'persistentvolumes', 'v', '')).toBe(unrelated);
  expect(may('get', 'secrets', 'stage', 'secret-ns')).toBe(unrelated);
});

test('a node keeps its own lease, its own CSI node and its own attachments', () => {
  const lease = 'leases.coordination.k8s.io';
  expect(may('update', lease, 'n1', 'kube-node-lease')).toBe('yes');
  expect(may('create', lease, '', 'kube-node-lease')).toBe('yes');
  expect(may('get', lease, 'n2', 'kube-node-lease')).toBe('can only access node lease with the same name as the requesting node');
  expect(may('get', lease, 'n1', 'default')).toBe('can only access leases in the "kube-node-lease" system namespace');
  expect(may('list', lease, '', 'kube-node-lease')).toBe('can only get, create, update, patch, or delete a node lease');
  const csi = 'csinodes.storage.k8s.io';
  expect(may('get', csi, 'n1', '')).toBe('yes');
  expect(may('get', csi, 'other', '')).toBe('can only access CSINode with the same name as the requesting node');
  expect(may('list', csi, '', '')).toBe('can only get, create, update, patch, or delete a CSINode');
  const attachment = 'volumeattachments.storage.k8s.io';
  store.put('storage', 'volumeattachments', { metadata: { name: 'va' }, spec: { nodeName: 'n1' } } as never);
  expect(may('get', attachment, 'va', '')).toBe('yes');
  expect(may('get', attachment, 'va', '', node('n2'))).toMatch(/no relationship/);
});

test('pods that were there before count, and rules of nodes cannot be listed', async () => {
  pod({ imagePullSecrets: [{ name: 's' }] });
  authorizer = new NodeAuthorizer(store.live, kubernetes, choiceOf('1.24'));
  expect(may('get', 'secrets', 's')).toBe('yes');
  expect(await authorizer.rulesFor(node('n1'))).toMatchObject({
    incomplete: true,
    error: 'node authorizer does not support user rule resolution',
  });
  expect(await authorizer.rulesFor({ name: 'bob', groups: [] })).toMatchObject({ incomplete: false });
});

test('since 1.32 a node sees its own node and its own pods only', () => {
  pod({});
  pod({ nodeName: 'n2' }, 'elsewhere');
  authorizer = new NodeAuthorizer(store.live, kubernetes, choiceOf('1.32'));
  expect(may('get', 'nodes', 'n1', '')).toBe('yes');
  expect(may('get', 'nodes', 'n2', '')).toBe("node 'n1' cannot read 'n2', only its own Node object");
  expect(may('list', 'nodes', '', '')).toBe("node 'n1' cannot read all nodes, only its own Node object");
  expect(may('delete', 'nodes', 'n1', '')).toBe('');
  expect(may('patch', 'nodes/status', 'n1', '')).toBe('yes');
  expect(may('get', 'pods', 'p')).toBe('yes');
  expect(may('get', 'pods', 'elsewhere')).toBe(unrelated);
  const byNode = 'can only list/watch pods with spec.nodeName field selector';
  expect(may('list', 'pods')).toBe(byNode);
  const listed = (selector: string) => may('watch', 'pods', '', '', node('n1'), selector);
  expect(['spec.nodeName=n1', 'a=b,spec.nodeName==n1'].map(listed)).toEqual(['yes', 'yes']);
  expect(['spec.nodeName=n2', 'spec.nodeName!=n1', 'spec.nodeName='].map(listed)).toEqual([byNode, byNode, byNode]);
  expect(may('create', 'pods/eviction', 'p')).toBe('yes');
  expect(may('create', 'pods/exec', 'p')).toBe('');
  expect(may('patch', 'pods', 'p')).toBe('');
});

test('since 1.34 a node reads accounts and device claims of its pods, and slices of its own', () => {
  pod({ serviceAccountName: 'robot', resourceClaims: [{ name: 'gpu', resourceClaimName: 'shared' }] });
  const made = { resourceClaimStatuses: [{ name: 'x', resourceClaimName: 'made' }] };
  const bound = { metadata: { namespace: 'ns', name: 'q', uid: 'q' }, spec: { nodeName: 'n1' } };
  store.put('', 'pods', bound as never);
  store.put('resource', 'resourceslices', { metadata: { name: 's' }, spec: { nodeName: 'n1' } } as never);
  authorizer = new NodeAuthorizer(store.live, kubernetes, choiceOf('1.34'));
  expect(may('get', 'serviceaccounts', 'robot')).toBe('yes');
  expect(may('get', 'serviceaccounts', 'other')).toBe(unrelated);
  const claims = 'resourceclaims.resource.k8s.io';
  expect(may('get', claims, 'shared')).toBe('yes');
  expect(may('get', claims, 'made')).toBe(unrelated);
  store.put('', 'pods', { ...bound, status: made } as never);
  expect(may('get', claims, 'made')).toBe('yes');
  const slices = 'resourceslices.resource.k8s.io';
  expect(may('get', slices, 's', '')).toBe('yes');
  expect(may('delete', slices, 's', '', node('n2'))).toMatch(/no relationship/);
  expect(may('deletecollection', slices, '', '', node('n1'), 'spec.nodeName=n1')).toBe('yes');
  expect(may('list', slices, '', '')).toBe('can only list/watch/deletecollection resourceslices with nodeName field selector');
  authorizer = new NodeAuthorizer(store.live, kubernetes, choiceOf('1.33'));
  expect(may('get', 'serviceaccounts', 'robot')).toBe('can only create tokens for individual service accounts');
});
