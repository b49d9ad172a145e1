/** Why a request is allowed or refused: each authorizer's answer, the bindings that come nearest, and what would allow it. */
import type { LiveSource } from '@plat-dev/kinds/live-view';
import { inSlices, type Slices } from '@plat-dev/lib/slices';
import type { Identity } from '@plat-dev/meta/identity';
import { groupName } from '@plat-dev/meta/identity';
import { rbacGroup } from '../authz/policy-rules.ts';
import type { Attributes, Authorizer, Decision, User } from '../types.ts';
import { type BindingGrant, bindingGrants, type MayList, nearestGrants } from './granted-access.ts';
import { type ProposedAccess, proposedAccess } from './proposed-role.ts';

export interface AccessExplanation {
  readonly decision: Decision['decision'];
  /** Those that were asked, in their order: the last one decided, or none did. */
  readonly authorizers: readonly { readonly name: string; readonly decision: Decision['decision']; readonly reason: string }[];
  /** The bindings that allow the request. */
  readonly allowedBy: readonly BindingGrant[];
  /** Those that nearly allow it. */
  readonly nearest: readonly BindingGrant[];
  /** What would allow it; absent where it is allowed, or where no role can allow it. */
  readonly proposal?: ProposedAccess;
}

export interface ExplanationSources {
  readonly identity: Identity;
  readonly live: LiveSource;
  /** The authorizers of the server, in their order. */
  readonly authorizers: readonly Authorizer[];
}

/** `asker`: who wants to know. Roles and bindings that they may not list are not spoken of. */
export async function explainAccess(
  sources: ExplanationSources,
  asked: Attributes,
  asker: User,
  slices: Slices,
): Promise<AccessExplanation> {
  const { identity, live, authorizers } = sources;
  const answers: { name: string; decision: Decision['decision']; reason: string }[] = [];
  for (const authorizer of authorizers) {
    const { decision, reason } = await authorizer.authorize(asked);
    answers.push({ name: authorizer.name, decision, reason });
    if (decision !== 'none') break;
  }
  const decision = answers.at(-1)?.decision ?? 'none';
  const hasRoles = authorizers.some(({ name }) => name === 'RBAC');
  const mayList = hasRoles ? await listRights(sources, asker, asked.namespace) : () => false;
  const grants = await inSlices(bindingGrants(live, asked, mayList), slices);
  return {
    decision,
    authorizers: answers,
    allowedBy: grants.filter(({ lacks }) => lacks.length === 0),
    nearest: decision === 'allow' ? [] : nearestGrants(grants),
    ...(decision === 'none' && hasRoles && { proposal: proposedAccess(identity, asked, (name) => isTaken(sources, asked, mayList, name)) }),
  };
}

/** Whether a role or a binding of that name is there, as far as the asker may know. */
function isTaken({ live }: ExplanationSources, { resourceRequest, namespace }: Attributes, mayList: MayList, name: string): boolean {
  const place = resourceRequest ? namespace : '';
  const plurals = place === '' ? (['clusterroles', 'clusterrolebindings'] as const) : (['roles', 'rolebindings'] as const);
  return plurals.some((plural) => mayList(plural, place) && live(rbacGroup, plural).get(place, name) !== undefined);
}

/** What the asker may list of roles and bindings, in the cluster and in the namespace of the request. */
export async function listRights({ identity, authorizers }: ExplanationSources, asker: User, namespace: string): Promise<MayList> {
  const allowed = new Set<string>();
  const places = [
    ['clusterroles', ''],
    ['clusterrolebindings', ''],
    ['roles', namespace],
    ['rolebindings', namespace],
  ] as const;
  for (const [resource, place] of places) {
    const asked: Attributes = {
      user: asker,
      verb: 'list',
      group: groupName(identity, rbacGroup),
      version: 'v1',
      resource,
      subresource: '',
      name: '',
      namespace: place,
      path: '',
      resourceRequest: true,
    };
    if (await isAllowed(authorizers, asked)) allowed.add(`${resource}/${place}`);
  }
  return (resource, place) => allowed.has(`${resource}/${place}`);
}

export async function isAllowed(authorizers: readonly Authorizer[], asked: Attributes): Promise<boolean> {
  for (const authorizer of authorizers) {
    const { decision } = await authorizer.authorize(asked);
    if (decision !== 'none') return decision === 'allow';
  }
  return false;
}
