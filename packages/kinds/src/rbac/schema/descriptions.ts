import type { Descriptions } from '../../description-texts.ts';

export const rbac: Descriptions = {
  'rbac.Role': {
    $: 'A set of permissions within one namespace.',
    rules: 'Permissions of the role. They only add up; nothing is denied.',
  },
  'rbac.ClusterRole': {
    $: 'A set of permissions in the whole cluster, or in one namespace if a RoleBinding refers to it.',
    rules: 'Permissions of the role. With an aggregationRule the controller overwrites them.',
    aggregationRule: 'Roles whose rules are collected into this one. It makes rules managed by the controller.',
  },
  'rbac.AggregationRule': {
    $: 'Which roles are collected into a ClusterRole.',
    clusterRoleSelectors: 'Label selectors: the rules of every ClusterRole that matches any of them are added.',
  },
  'rbac.PolicyRule': {
    $: 'A permission to perform verbs on resources or paths.',
    verbs: 'Verbs that are allowed on everything the rule names. * means all.',
    apiGroups: 'API groups of the resources; the empty text is the core group. * means all.',
    resources: 'Resources that the rule applies to, with subresources after a slash. * means all.',
    resourceNames:
      'Names of the objects that the rule applies to. Empty means all; names cannot restrict create, list or watch without a name.',
    nonResourceURLs:
      'Paths that are allowed, with a * as the last step only. Only in ClusterRoles bound by ClusterRoleBindings; excludes resources.',
  },
  'rbac.RoleBinding': {
    $: 'Grants the permissions of a role to subjects, in the namespace of the binding.',
    subjects: 'Users, groups and service accounts that get the permissions.',
    roleRef: 'Role of the same namespace, or ClusterRole. Cannot be changed.',
  },
  'rbac.ClusterRoleBinding': {
    $: 'Grants the permissions of a ClusterRole to subjects, in the whole cluster.',
    subjects: 'Users, groups and service accounts that get the permissions.',
    roleRef: 'ClusterRole that is granted. Cannot be changed.',
  },
  'rbac.RoleRef': {
    $: 'A reference to the role that a binding grants.',
    apiGroup: 'API group of the role: that of role-based access control itself.',
    kind: 'Role or ClusterRole.',
    name: 'Name of the role that is granted.',
  },
  'rbac.Subject': {
    $: 'A user, group or service account that a binding grants permissions to.',
    kind: 'User, Group or ServiceAccount.',
    apiGroup:
      'API group of the subject: empty for service accounts, that of role-based access control for users and groups. Filled in by default.',
    name: 'Name of the user, group or service account.',
    namespace: 'Namespace of a service account. Must be empty for users and groups.',
  },
};
