import { kubernetes, plat } from '@plat-dev/meta/identity';
import type { MessageType } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { homeOf, registeredKindOf } from './registered-kinds.ts';
import { schemaOf } from './schemas.ts';

const schema = (group: string, version: string, kind: string): MessageType => schemaOf(group, version, kind, kubernetes) as MessageType;
const configMap = schema('', 'v1', 'ConfigMap');
const found = (apiVersion: string, kind: string, target = configMap) => {
  const known = registeredKindOf(apiVersion, kind, target, kubernetes);
  return known === undefined ? 'unknown' : `${known.type} of ${known.home}`;
};

test.each([
  ['v1', 'Secret', 'v1.Secret of core.Secret'],
  ['v1', 'SecretList', 'v1.SecretList of core.SecretList'],
  ['v1', 'List', 'v1.List of meta.List'],
  ['v1', 'PodExecOptions', 'v1.PodExecOptions of core.PodExecOptions'],
  ['apps/v1', 'ReplicaSet', 'v1.ReplicaSet of apps.ReplicaSet'],
  ['rbac.authorization.k8s.io/v1', 'Role', 'v1.Role of rbac.Role'],
  ['flowcontrol.apiserver.k8s.io/v1beta1', 'FlowSchema', 'v1beta1.FlowSchema of flowcontrol.FlowSchema'],
  ['policy/v1beta1', 'Eviction', 'v1beta1.Eviction of policy.Eviction'],
  ['autoscaling/v1', 'Scale', 'v1.Scale of autoscaling.Scale'],
  ['authentication.k8s.io/v1', 'TokenRequest', 'v1.TokenRequest of authentication.TokenRequest'],
  ['v2', 'Secret', 'unknown'],
  ['apps/v1', 'Secret', 'unknown'],
  ['policy/v1', 'Budget', 'unknown'],
  ['example.com/v1', 'Nothing', 'unknown'],
  ['apps/v1', 'List', 'unknown'],
  ['v1', 'Table', 'unknown'],
  ['audit.k8s.io/v1', 'Event', 'unknown'],
])('%s %s: %s', (apiVersion, kind, text) => {
  expect(found(apiVersion, kind)).toBe(text);
});

test('versions that are served no more are known, and where their kinds have gone', () => {
  expect(found('apps/v1beta2', 'Deployment')).toBe('v1beta2.Deployment of apps.Deployment');
  expect(found('extensions/v1beta1', 'DeploymentList')).toBe('v1beta1.DeploymentList of apps.DeploymentList');
  expect(found('extensions/v1beta1', 'Ingress')).toBe('v1beta1.Ingress of networking.Ingress');
  expect(found('apps/v1beta1', 'Scale')).toBe('v1beta1.Scale of autoscaling.Scale');
  expect(found('apps/v1beta1', 'ScaleList')).toBe('unknown');
  expect(found('rbac.authorization.k8s.io/v1alpha1', 'RoleBinding')).toBe('v1alpha1.RoleBinding of rbac.RoleBinding');
  expect(found('authorization.k8s.io/v1beta1', 'SubjectAccessReview')).toBe(
    'v1beta1.SubjectAccessReview of authorization.SubjectAccessReview',
  );
  expect(homeOf(schema('events', 'v1', 'Event'))).toBe('core.Event');
});

test('options are known in every version that there is, answers in any', () => {
  expect(found('apps/v1', 'DeleteOptions')).toBe('v1.DeleteOptions of meta.DeleteOptions');
  expect(found('apps/v1beta1', 'WatchEvent')).toBe('v1.WatchEvent of meta.WatchEvent');
  expect(found('apps/v7', 'DeleteOptions')).toBe('unknown');
  expect(found('example.com/v7', 'Status')).toBe('v1.Status of meta.Status');
});

test('definitions of custom kinds and of aggregated groups are known to parts of their own', () => {
  const definition = schema('apiextensions', 'v1', 'CustomResourceDefinition');
  expect(found('v1', 'Secret', definition)).toBe('unknown');
  expect(found('apiregistration.k8s.io/v1', 'APIService', definition)).toBe('unknown');
  expect(found('apiextensions.k8s.io/v1', 'CustomResourceDefinitionList', definition)).toBe(
    'v1.CustomResourceDefinitionList of apiextensions.CustomResourceDefinitionList',
  );
  expect(found('apiextensions.k8s.io/v1', 'CustomResourceDefinition')).toBe('unknown');
});

test('groups go by the names of the identity', () => {
  const lease = schema('coordination', 'v1', 'Lease');
  expect(registeredKindOf('coordination.plat.dev/v1', 'LeaseList', lease, plat)?.home).toBe('coordination.LeaseList');
  expect(registeredKindOf('coordination.k8s.io/v1', 'LeaseList', lease, plat)).toBeUndefined();
});
