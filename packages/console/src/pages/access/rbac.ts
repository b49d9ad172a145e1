/** What roles and bindings allow, worked out in the page: for servers that do not explain it themselves, and for matrices of other users. */

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}
export interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}
interface Named {
  readonly metadata: { readonly name: string; readonly namespace?: string };
}
export interface Role extends Named {
  readonly rules?: readonly PolicyRule[] | null;
}
export interface Binding extends Named {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly Subject[] | null;
}
/** The objects that decide within a namespace, or without one. */
export interface Policy {
  readonly clusterRoles: readonly Role[];
  readonly roles: readonly Role[];
  readonly clusterRoleBindings: readonly Binding[];
  readonly roleBindings: readonly Binding[];
}

export interface Person {
  readonly name: string;
  readonly groups: readonly string[];
}

export interface ResourceAction {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}
interface PathAction {
  readonly verb: string;
  readonly path: string;
}
export type Action = ResourceAction | PathAction;

/** Members may do everything, whatever roles say. */
export const SUPERUSERS = 'system:masters';

const has = (list: readonly string[] | undefined, wanted: string): boolean =>
  list !== undefined && (list.includes('*') || list.includes(wanted));

/** What a rule lacks to allow an action; nothing: it allows it. */
export function lacksOf(rule: PolicyRule, action: Action): string[] {
  const verb = has(rule.verbs, action.verb) ? [] : ['verb'];
  if ('path' in action) return [...verb, ...(matchesPath(rule.nonResourceURLs, action.path) ? [] : ['path'])];
  const names = rule.resourceNames ?? [];
  return [
    ...verb,
    ...(has(rule.apiGroups, action.group) ? [] : ['apiGroup']),
    ...(matchesResource(rule.resources, action) ? [] : ['resource']),
    ...(names.length === 0 || names.includes(action.name) ? [] : ['resourceName']),
  ];
}

function matchesResource(resources: readonly string[] | undefined, { resource, subresource }: ResourceAction): boolean {
  if (subresource === '') return has(resources, resource);
  return has(resources, `${resource}/${subresource}`) || resources?.includes(`*/${subresource}`) === true;
}

function matchesPath(paths: readonly string[] = [], wanted: string): boolean {
  return paths.some((path) => path === '*' || path === wanted || (path.endsWith('*') && wanted.startsWith(path.slice(0, -1))));
}

export function isSubject(subject: Subject, { name, groups }: Person): boolean {
  if (subject.kind === 'User') return subject.name === name;
  if (subject.kind === 'Group') return groups.includes(subject.name);
  return subject.kind === 'ServiceAccount' && name === `system:serviceaccount:${subject.namespace ?? ''}:${subject.name}`;
}

/** The groups that every user of that name has, besides those that are given. */
export function personOf(name: string, groups: readonly string[]): Person {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(name) ?? [];
  const own = namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return { name, groups: [...new Set([...groups, ...own, 'system:authenticated'])] };
}

export interface Reference {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}
interface BoundRole {
  readonly binding: Reference;
  readonly role: Reference;
  readonly subjects: readonly Subject[];
  /** Undefined: the role does not exist. */
  readonly rules: readonly PolicyRule[] | undefined;
}

/** The bindings that count within a namespace, or without one, each with the rules of its role. */
export function* boundRoles(policy: Policy, namespace: string): Generator<BoundRole> {
  const rulesOf = (roles: readonly Role[], name: string, place?: string) => {
    const role = roles.find(({ metadata }) => metadata.name === name && metadata.namespace === place);
    return role === undefined ? undefined : (role.rules ?? []);
  };
  for (const { metadata, roleRef, subjects } of policy.clusterRoleBindings) {
    const binding = { kind: 'ClusterRoleBinding', name: metadata.name };
    yield { binding, role: roleRef, subjects: subjects ?? [], rules: rulesOf(policy.clusterRoles, roleRef.name) };
  }
  for (const { metadata, roleRef, subjects } of policy.roleBindings) {
    if (metadata.namespace !== namespace) continue;
    const isCluster = roleRef.kind === 'ClusterRole';
    yield {
      binding: { kind: 'RoleBinding', name: metadata.name, namespace },
      role: { kind: roleRef.kind, name: roleRef.name, ...(isCluster ? {} : { namespace }) },
      subjects: subjects ?? [],
      rules: isCluster ? rulesOf(policy.clusterRoles, roleRef.name) : rulesOf(policy.roles, roleRef.name, namespace),
    };
  }
}

const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/** All rules that a person has within a namespace. */
export function rulesOfPerson(policy: Policy, person: Person, namespace: string): readonly PolicyRule[] {
  if (person.groups.includes(SUPERUSERS)) return everything;
  return [...boundRoles(policy, namespace)].flatMap(({ subjects, rules }) =>
    subjects.some((subject) => isSubject(subject, person)) ? (rules ?? []) : [],
  );
}
