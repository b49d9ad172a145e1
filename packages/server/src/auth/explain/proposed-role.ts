/** The smallest role and its binding that would allow a request, as objects that can be applied. */
import type { PolicyRule, Subject } from '@plat-dev/kinds/rbac/schema/v1';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { dns1123Label } from '@plat-dev/meta/names';
import { rbacGroup } from '../authz/policy-rules.ts';
import { type Attributes, type User, wellKnown } from '../types.ts';

/** A Role or ClusterRole, and the binding that gives it to the user. */
export interface ProposedAccess {
  readonly role: { readonly apiVersion: string; readonly kind: string; readonly metadata: Metadata; readonly rules: readonly PolicyRule[] };
  readonly binding: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: Metadata;
    readonly subjects: readonly Subject[];
    readonly roleRef: { readonly apiGroup: string; readonly kind: string; readonly name: string };
  };
}
interface Metadata {
  readonly name: string;
  readonly namespace?: string;
}

/** The rule that allows this one request and nothing else. */
function smallestRule({ verb, group, resource, subresource, name, path, resourceRequest }: Attributes): PolicyRule {
  if (!resourceRequest) return { verbs: [verb], nonResourceURLs: [path] };
  const resources = [subresource === '' ? resource : `${resource}/${subresource}`];
  return { verbs: [verb], apiGroups: [group], resources, ...(name !== '' && { resourceNames: [name] }) };
}

/** `isTaken`: whether there is a role or binding of that name already, which the proposal must not change. */
export function proposedAccess(identity: Identity, asked: Attributes, isTaken: (name: string) => boolean): ProposedAccess {
  const rbac = groupName(identity, rbacGroup);
  const apiVersion = joinApiVersion(rbac, 'v1');
  const isLocal = asked.resourceRequest && asked.namespace !== '';
  const metadata = { name: freeName(nameOf(asked), isTaken), ...(isLocal && { namespace: asked.namespace }) };
  const kind = isLocal ? 'Role' : 'ClusterRole';
  return {
    role: { apiVersion, kind, metadata, rules: [smallestRule(asked)] },
    binding: {
      apiVersion,
      kind: `${kind}Binding`,
      metadata,
      subjects: [subjectOf(rbac, asked.user)],
      roleRef: { apiGroup: rbac, kind, name: metadata.name },
    },
  };
}

function freeName(name: string, isTaken: (name: string) => boolean): string {
  for (let number = 2, free = name; ; number++) {
    if (!isTaken(free)) return free;
    free = `${name}-${number}`;
  }
}

/** `alice-delete-pods`; parts that are no names are left out. */
function nameOf({ user, verb, resource, subresource, resourceRequest }: Attributes): string {
  const words = [user.name.split(':').at(-1) ?? '', verb, resourceRequest ? resource : 'path', subresource];
  const name = words
    .map((word) => word.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'))
    .join('-')
    .replaceAll(/-+/g, '-')
    .slice(0, 50)
    .replaceAll(/^-|-$/g, '');
  return dns1123Label(name).length === 0 ? name : 'proposed-access';
}

/** Service accounts are bound by their own kind: the binding then says what it is for. */
function subjectOf(rbac: string, { name }: User): Subject {
  const [namespace, account, ...rest] = name.startsWith(wellKnown.serviceAccountPrefix)
    ? name.slice(wellKnown.serviceAccountPrefix.length).split(':')
    : [];
  if (namespace && account && rest.length === 0) return { kind: 'ServiceAccount', namespace, name: account };
  return { kind: 'User', apiGroup: rbac, name };
}
