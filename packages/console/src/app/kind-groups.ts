/** The order of kinds in the side list. */
import type { Kind } from '../api/kinds.ts';

export interface KindGroup {
  readonly name: string;
  readonly title: string;
  readonly isOpen: boolean;
  readonly kinds: readonly Kind[];
}

/** Groups that are open without being asked for, in this order; all others follow by their names. */
const firstGroups = ['', 'apps', 'batch'];

export function groupsOf(kinds: readonly Kind[]): KindGroup[] {
  const byGroup = new Map<string, Kind[]>();
  for (const kind of kinds) {
    const members = byGroup.get(kind.group);
    if (members === undefined) byGroup.set(kind.group, [kind]);
    else members.push(kind);
  }
  const rank = (name: string): number => (firstGroups.includes(name) ? firstGroups.indexOf(name) : firstGroups.length);
  return [...byGroup]
    .map(([name, members]) => ({
      name,
      title: name === '' ? 'core' : name,
      isOpen: firstGroups.includes(name),
      kinds: members.toSorted((a, b) => compare(a.kind, b.kind)),
    }))
    .sort((a, b) => rank(a.name) - rank(b.name) || compare(a.name, b.name));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
