/** Who may do something: the subjects of all bindings whose role allows it. */
import type { LiveSource } from '@plat-dev/kinds/live-view';
import type { ClusterRole, Subject } from '@plat-dev/kinds/rbac/schema/v1';
import type { Wire } from '@plat-dev/kinds/wire';
import type { Work } from '@plat-dev/lib/slices';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { fromLabelSelector } from '@plat-dev/meta/labels';
import { rbacGroup, ruleAllows } from '../authz/policy-rules.ts';
import { type Attributes, wellKnown } from '../types.ts';
import { type BindingGrant, bindingGrants, type MayList } from './granted-access.ts';

export interface AllowedSubject {
  readonly subject: Subject;
  readonly binding?: BindingGrant['binding'];
  readonly role?: BindingGrant['role'];
  /** The cluster roles from which an aggregated role has the rule. */
  readonly aggregatedFrom?: readonly string[];
}

/** The request without a user: no binding is anybody's own. */
const nobody = { name: '', groups: [] };

export function* allowedSubjects(identity: Identity, live: LiveSource, asked: Attributes, mayList: MayList): Work<AllowedSubject[]> {
  const masters: Subject = { kind: 'Group', apiGroup: groupName(identity, rbacGroup), name: wellKnown.masters };
  const allowed: AllowedSubject[] = [{ subject: masters }];
  for (const grant of yield* bindingGrants(live, { ...asked, user: nobody }, mayList)) {
    if (grant.lacks.some((lack) => lack !== 'subject')) continue;
    yield;
    const { binding, role } = grant;
    const sources = role.kind === 'ClusterRole' ? yield* aggregationSources(live, role.name, asked) : [];
    const aggregatedFrom = sources.length > 0 ? { aggregatedFrom: sources } : {};
    for (const subject of grant.subjects) allowed.push({ subject, binding, role, ...aggregatedFrom });
  }
  return allowed;
}

/** The roles that an aggregated role gathers and that have a rule for the request; none for an ordinary role. */
function* aggregationSources(live: LiveSource, name: string, asked: Attributes): Work<string[]> {
  const roles = live<Wire<ClusterRole>>(rbacGroup, 'clusterroles');
  const selectors = roles.get('', name)?.aggregationRule?.clusterRoleSelectors ?? [];
  const sources: string[] = [];
  for (const selector of selectors.map((one) => fromLabelSelector(one)))
    for (const { metadata, rules = [] } of roles.list()) {
      yield;
      const source = metadata.name ?? '';
      if (source === name || sources.includes(source) || !selector.matches(metadata.labels)) continue;
      if (rules.some((rule) => ruleAllows(rule, asked))) sources.push(source);
    }
  return sources;
}
