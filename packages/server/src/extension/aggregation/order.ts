/** The order of groups and versions in discovery, by the priorities of APIServices. */
import type { APIServiceSpec } from '@plat-dev/kinds/apiregistration/schema/v1';
import { byPriority } from '../version-order.ts';

export interface ListedGroup {
  readonly name: string;
  /** Most preferred first. */
  readonly versions: readonly string[];
}
export interface Registered {
  readonly metadata: { readonly name?: string };
  readonly spec: Pick<APIServiceSpec, 'group' | 'version' | 'groupPriorityMinimum' | 'versionPriority'>;
}

/**
 * Higher priorities come first. A group has the highest priority of its versions; equal priorities are ordered by
 * the names of the objects, which begin with the version.
 *
 *   v1.apps 17800/15, v1.things.example.com 1000/10, v2.things.example.com 2000/5  →  apps: v1; things.example.com: v1, v2
 */
export function listedGroups(services: readonly Registered[]): ListedGroup[] {
  const byGroup = new Map<string, Registered[]>();
  for (const service of [...services].sort(byGroupPriority)) {
    const { group = '' } = service.spec;
    const groupServices = byGroup.get(group);
    if (groupServices === undefined) byGroup.set(group, [service]);
    else groupServices.push(service);
  }
  return [...byGroup].map(([name, members]) => ({ name, versions: members.sort(byVersionPriority).map(({ spec }) => spec.version ?? '') }));
}

function byGroupPriority(a: Registered, b: Registered): number {
  const { name: leftName = '' } = a.metadata;
  const { name: right = '' } = b.metadata;
  return b.spec.groupPriorityMinimum - a.spec.groupPriorityMinimum || (leftName < right ? -1 : leftName > right ? 1 : 0);
}
const byVersionPriority = (a: Registered, b: Registered): number =>
  b.spec.versionPriority - a.spec.versionPriority || byPriority(a.spec.version ?? '', b.spec.version ?? '');
