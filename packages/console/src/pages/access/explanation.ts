/** Why a request is allowed or refused, from the server or from roles and bindings. Both have one form. */
import type { Api } from '../../api/api.ts';
import { explain } from '../../api/explain.ts';
import type { Kind } from '../../api/kinds.ts';
import {
  type Action,
  boundRoles,
  isSubject,
  lacksOf,
  type Person,
  type Policy,
  type PolicyRule,
  type Reference,
  SUPERUSERS,
  type Subject,
} from './rbac.ts';

export interface Grant {
  readonly binding: Reference;
  readonly role: Reference;
  readonly rule?: PolicyRule | null;
  readonly subjects?: readonly Subject[] | null;
  /** subject, role, verb, apiGroup, resource, resourceName, path. */
  readonly lacks?: readonly string[] | null;
}
/** An object of the API, ready to be created. */
export interface Proposed {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}
export interface Explanation {
  readonly allowed: boolean;
  readonly authorizers?: readonly { readonly name: string; readonly decision: string; readonly reason?: string }[] | null;
  readonly allowedBy?: readonly Grant[] | null;
  readonly nearest?: readonly Grant[] | null;
  readonly proposal?: { readonly role: Proposed; readonly binding: Proposed } | null;
}

/** A question about an action, as reviews have it. */
export function attributesOf(action: Action): object {
  if ('path' in action) return { nonResourceAttributes: { verb: action.verb, path: action.path } };
  const { verb, group, resource, subresource, namespace, name } = action;
  const parts = Object.entries({ verb, group, resource, subresource, namespace, name });
  return { resourceAttributes: Object.fromEntries(parts.filter(([, value]) => value !== '')) };
}

/** Asks the server. `person` is undefined for the user who asks. */
export function askExplanation(
  api: Pick<Api, 'json'>,
  kind: Kind,
  action: Action,
  person: Person | undefined,
  signal: AbortSignal,
): Promise<Explanation> {
  const subject = person === undefined ? {} : { user: person.name, groups: person.groups };
  return explain<Explanation>(api, kind, { ...attributesOf(action), ...subject }, signal);
}

const MOST_LACKS = 2;
const SHOWN_GRANTS = 10;

/** The same from roles and bindings. What other authorizers of the server decide is not known. */
export function explainByPolicy(policy: Policy, action: Action, person: Person, roleVersion: string): Explanation {
  if (person.groups.includes(SUPERUSERS)) {
    return { allowed: true, authorizers: [{ name: 'superuser', decision: 'allow', reason: `members of ${SUPERUSERS} may do everything` }] };
  }
  const grants = grantsOf(policy, action, person);
  const allowedBy = grants.filter(({ lacks }) => lacks.length === 0);
  const nearest = grants
    .filter(({ lacks }) => lacks.length > 0 && (lacks.includes('subject') ? lacks.length === 1 : lacks.length <= MOST_LACKS))
    .sort((one, other) => one.lacks.length - other.lacks.length)
    .slice(0, SHOWN_GRANTS);
  const allowed = allowedBy.length > 0;
  return {
    allowed,
    authorizers: [{ name: 'RBAC', decision: allowed ? 'allow' : 'none' }],
    allowedBy,
    nearest: allowed ? [] : nearest,
    proposal: allowed ? null : proposalOf(action, person, roleVersion),
  };
}

type PolicyGrant = Grant & { readonly lacks: readonly string[] };

/** Each binding with the rule of its role that comes nearest. */
function grantsOf(policy: Policy, action: Action, person: Person): PolicyGrant[] {
  const namespace = 'path' in action ? '' : action.namespace;
  return [...boundRoles(policy, namespace)].map(({ binding, role, subjects, rules }) => {
    const own = subjects.filter((subject) => isSubject(subject, person));
    const others = own.length === 0 ? ['subject'] : [];
    const nearest = rules
      ?.map((rule) => ({ rule, lacks: lacksOf(rule, action) }))
      .sort((one, other) => one.lacks.length - other.lacks.length)[0];
    const lacks = rules === undefined ? ['role'] : (nearest?.lacks ?? ['verb', 'resource', 'apiGroup']);
    return { binding, role, rule: nearest?.rule ?? null, subjects: own.length === 0 ? subjects : own, lacks: [...others, ...lacks] };
  });
}

/** The smallest role and binding that would allow an action; `roleVersion` is the group and version of roles on the server. */
function proposalOf(action: Action, person: Person, roleVersion: string): NonNullable<Explanation['proposal']> {
  const isInNamespace = !('path' in action) && action.namespace !== '';
  const [roleKind, bindingKind] = isInNamespace ? ['Role', 'RoleBinding'] : ['ClusterRole', 'ClusterRoleBinding'];
  const what = 'path' in action ? 'path' : [action.resource, action.subresource].filter(Boolean).join('-');
  const name = `${action.verb}-${what}-${person.name}`
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 200);
  const metadata = { name, ...(isInNamespace ? { namespace: action.namespace } : {}) };
  const apiGroup = roleVersion.split('/')[0] as string;
  return {
    role: { apiVersion: roleVersion, kind: roleKind, metadata, rules: [ruleFor(action)] } as Proposed,
    binding: {
      apiVersion: roleVersion,
      kind: bindingKind,
      metadata,
      roleRef: { apiGroup, kind: roleKind, name },
      subjects: [{ kind: 'User', apiGroup, name: person.name }],
    } as Proposed,
  };
}

function ruleFor(action: Action): PolicyRule {
  if ('path' in action) return { verbs: [action.verb], nonResourceURLs: [action.path] };
  const { verb, group, resource, subresource, name } = action;
  return {
    verbs: [verb],
    apiGroups: [group],
    resources: [subresource === '' ? resource : `${resource}/${subresource}`],
    ...(name === '' ? {} : { resourceNames: [name] }),
  };
}

export interface AllowedSubject {
  readonly subject: Subject;
  readonly binding?: Reference | null;
  readonly role?: Reference | null;
}
export interface SubjectList {
  readonly subjects?: readonly AllowedSubject[] | null;
  readonly incomplete?: readonly string[] | null;
}

/** Who may do something, from roles and bindings. */
export function subjectsByPolicy(policy: Policy, action: Action): SubjectList {
  const namespace = 'path' in action ? '' : action.namespace;
  const subjects = [...boundRoles(policy, namespace)].flatMap(({ binding, role, subjects: all, rules }) =>
    rules?.some((rule) => lacksOf(rule, action).length === 0) ? all.map((subject) => ({ subject, binding, role })) : [],
  );
  return { subjects, incomplete: ['authorizers other than RBAC are not known to the console'] };
}
