/** Roles and role bindings of version 1alpha1: other tags in rules, and a version where subjects have a group. */
import { always, type Infer, list, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';
import * as v1 from './v1.ts';

const version = 'rbac.v1alpha1';

const PolicyRule = message(`${version}.PolicyRule`, {
  verbs: req(1, list(string)),
  apiGroups: opt(3, list(string)),
  resources: opt(4, list(string)),
  resourceNames: opt(5, list(string)),
  nonResourceURLs: opt(6, list(string)),
});

export const ClusterRole = object(`${version}.ClusterRole`, {
  metadata: always(1, ObjectMeta),
  rules: always(2, list(PolicyRule)),
  aggregationRule: ptr(3, inVersion(v1.AggregationRule, version)),
});
export const Role = object(`${version}.Role`, {
  metadata: always(1, ObjectMeta),
  rules: always(2, list(PolicyRule)),
});

export const Subject = message(
  `${version}.Subject`,
  {
    kind: req(1, string),
    apiVersion: opt(2, string),
    name: req(3, string),
    namespace: opt(4, string),
  },
  { atomic: true },
);
export type Subject = Infer<typeof Subject>;

const bindingFields = {
  metadata: always(1, ObjectMeta),
  subjects: opt(2, list(Subject)),
  roleRef: req(3, inVersion(v1.RoleRef, version)),
};
export const ClusterRoleBinding = object(`${version}.ClusterRoleBinding`, bindingFields);
export const RoleBinding = object(`${version}.RoleBinding`, bindingFields);
export type RoleBinding = Infer<typeof RoleBinding>;
