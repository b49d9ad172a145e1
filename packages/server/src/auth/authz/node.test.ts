import { FakeStore } from '@plat-dev/kinds/live-view.testing';
import { kubernetes } from '@plat-dev/meta/identity';
import { beforeEach, expect, test } from 'vitest';
import type { Attributes, User } from '../types.ts';
import { NodeAuthorizer } from './node.ts';

const node = (name: string): User => ({ name: `system:node:${name}`, groups: ['system:nodes', 'system:authenticated'] });
let store: FakeStore;
let authorizer: NodeAuthorizer;
beforeEach(() => {
  store = new FakeStore();
  authorizer = new NodeAuthorizer(store.live, kubernetes);
});
/** 'yes', or the reason why not. */
function may(verb: string, what: string, name = '', namespace = 'ns', user = node('n1')): string {
  const [full = '', subresource = ''] = what.split('/');
  const dot = full.indexOf('.');
  const resource = dot === -1 ? full : full.slice(0, dot);
  const group = dot === -1 ? '' : full.slice(dot + 1);
  const asked: Attributes = { user, verb, group, version: 'v1', resource, subresource, name, namespace, path: '', resourceRequest: true };
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
  authorizer = new NodeAuthorizer(store.live, kubernetes);
  expect(may('get', 'secrets', 's')).toBe('yes');
  expect(await authorizer.rulesFor(node('n1'))).toMatchObject({
    incomplete: true,
    error: 'node authorizer does not support user rule resolution',
  });
  expect(await authorizer.rulesFor({ name: 'bob', groups: [] })).toMatchObject({ incomplete: false });
});
