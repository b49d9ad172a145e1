/** Roles and role bindings. */
import { always, type Infer, list, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { LabelSelector, ObjectMeta } from '../../meta.ts';

export const AggregationRule = message('rbac.v1.AggregationRule', {
  clusterRoleSelectors: opt(1, list(LabelSelector)),
});
export type AggregationRule = Infer<typeof AggregationRule>;

export const PolicyRule = message('rbac.v1.PolicyRule', {
  verbs: req(1, list(string)),
  apiGroups: opt(2, list(string)),
  resources: opt(3, list(string)),
  resourceNames: opt(4, list(string)),
  nonResourceURLs: opt(5, list(string)),
});
export type PolicyRule = Infer<typeof PolicyRule>;

export const ClusterRole = object('rbac.v1.ClusterRole', {
  metadata: always(1, ObjectMeta),
  rules: always(2, list(PolicyRule)),
  aggregationRule: ptr(3, AggregationRule),
});
export type ClusterRole = Infer<typeof ClusterRole>;

export const Subject = message(
  'rbac.v1.Subject',
  {
    kind: req(1, string),
    apiGroup: opt(2, string),
    name: req(3, string),
    namespace: opt(4, string),
  },
  { atomic: true },
);
export type Subject = Infer<typeof Subject>;

export const RoleRef = message(
  'rbac.v1.RoleRef',
  {
    apiGroup: req(1, string, { from: { '1.36': { required: false } } }),
    kind: req(2, string),
    name: req(3, string),
  },
  { atomic: true },
);
export type RoleRef = Infer<typeof RoleRef>;

export const ClusterRoleBinding = object('rbac.v1.ClusterRoleBinding', {
  metadata: always(1, ObjectMeta),
  subjects: opt(2, list(Subject)),
  roleRef: req(3, RoleRef),
});
export type ClusterRoleBinding = Infer<typeof ClusterRoleBinding>;

export const Role = object('rbac.v1.Role', {
  metadata: always(1, ObjectMeta),
  rules: always(2, list(PolicyRule)),
});
export type Role = Infer<typeof Role>;

export const RoleBinding = object('rbac.v1.RoleBinding', {
  metadata: always(1, ObjectMeta),
  subjects: opt(2, list(Subject)),
  roleRef: req(3, RoleRef),
});
export type RoleBinding = Infer<typeof RoleBinding>;
