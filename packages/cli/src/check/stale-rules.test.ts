import { groupName, identities, kubernetes } from '@plat-dev/meta/identity';
import type { JsonObject } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { Catalogue } from '../convert/catalogue.ts';
import { ruleFindings } from './stale-rules.ts';

const catalogue = new Catalogue(kubernetes);
const role = (...rules: JsonObject[]): JsonObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: { name: 'r', namespace: 'shop' },
  rules,
});
const rule = (apiGroups: string[], resources: string[], apiVersions?: string[]): JsonObject => ({
  apiGroups,
  resources,
  ...(apiVersions !== undefined && { apiVersions }),
});
const hooks = (...rules: JsonObject[]): JsonObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'hooks' },
  webhooks: [{ name: 'a.example.com', rules }],
});
const found = (object: JsonObject, release: string): string[] =>
  ruleFindings(object, catalogue, release).map(
    ({ level, type, apiVersion, kind, where, use }) => `${level} ${type} ${apiVersion} ${kind} ${where} ${use}`,
  );

test('a role that permits a kind in a removed group alone', () => {
  const old = role(rule(['extensions'], ['ingresses', 'ingresses/status']));
  expect(found(old, '1.21')).toEqual([]);
  expect(found(old, '1.22')).toEqual(['removed role extensions/v1beta1 Ingress Role shop/r networking.k8s.io/v1']);
  const both = role(rule(['extensions'], ['ingresses']), rule(['networking.k8s.io'], ['ingresses']));
  expect(found(both, '1.22')).toEqual([]);
});

test('a role that permits a whole group, and one that permits all', () => {
  expect(found(role(rule(['extensions'], ['*'])), '1.22').map((line) => line.split(' ')[3])).toEqual(
    expect.arrayContaining(['Deployment', 'DaemonSet', 'ReplicaSet', 'Ingress', 'NetworkPolicy']),
  );
  expect(found(role(rule(['*'], ['*'])), '1.22')).toEqual([]);
  // What is named is not there yet.
  expect(found(role(rule(['resource.k8s.io'], ['deviceclasses'])), '1.22').join()).toContain('DeviceClass');
});

test('a kind that has no version any more', () => {
  const policies = role(rule(['policy'], ['podsecuritypolicies', 'poddisruptionbudgets']));
  expect(found(policies, '1.24')).toEqual([]);
  expect(found(policies, '1.25')).toEqual(['removed role policy/v1beta1 PodSecurityPolicy Role shop/r undefined']);
});

test('a webhook is not called for versions that are removed', () => {
  const old = hooks(rule(['apps', 'extensions'], ['deployments'], ['v1beta1', 'v1beta2']));
  expect(found(old, '1.15')).toEqual([]);
  expect(found(old, '1.16')).toEqual([
    expect.stringMatching(/^removed webhook .* Deployment ValidatingWebhookConfiguration hooks, webhook a\.example\.com apps\/v1$/),
  ]);
  expect(found(hooks(rule(['apps'], ['deployments'], ['v1', 'v1beta1'])), '1.25')).toEqual([]);
  expect(found(hooks(rule(['*'], ['deployments/*'], ['*'])), '1.25')).toEqual([]);
});

test('what a server keeps up to date, what is of another kind or group, and rules that are none', () => {
  const old = role(rule(['extensions'], ['ingresses']));
  const own = { ...old, metadata: { name: 'r', annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' } } };
  expect(found(own, '1.22')).toEqual([]);
  expect(found({ ...old, apiVersion: 'example.com/v1' }, '1.22')).toEqual([]);
  expect(found({ ...old, kind: 'RoleBinding' }, '1.22')).toEqual([]);
  for (const rules of [null, 1, 'x', [1, null, {}, { apiGroups: 1, resources: [2] }]] as JsonObject[string][])
    expect(found({ ...old, rules }, '1.22')).toEqual([]);
});

test('under another identity', () => {
  const identity = identities.plat as NonNullable<(typeof identities)[string]>;
  const object = { ...role(rule(['extensions'], ['ingresses'])), apiVersion: `${groupName(identity, 'rbac.authorization')}/v1` };
  expect(ruleFindings(object, new Catalogue(identity), '1.22')).toMatchObject([{ use: `${groupName(identity, 'networking')}/v1` }]);
});
