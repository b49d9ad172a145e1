/** Kinds that most users look at, in the order in which they are listed. */

import { identities } from '@plat-dev/meta/identity';
import type { Kind } from './kinds.ts';

const usual: readonly (readonly [group: RegExp, resource: string])[] = [
  [/^$/, 'pods'],
  [/^apps$/, 'deployments'],
  [/^apps$/, 'statefulsets'],
  [/^apps$/, 'daemonsets'],
  [/^batch$/, 'jobs'],
  [/^batch$/, 'cronjobs'],
  [/^$/, 'services'],
  [/^networking\./, 'ingresses'],
  [/^$/, 'configmaps'],
  [/^$/, 'secrets'],
  [/^$/, 'persistentvolumeclaims'],
  [/^$/, 'nodes'],
];

/** Groups of the API itself have no domain, or that of an identity. */
export function isBuiltIn({ group }: Kind): boolean {
  return !group.includes('.') || Object.values(identities).some(({ groupSuffix }) => group.endsWith(`.${groupSuffix}`));
}

/** The usual kinds that the server has, then custom ones; at most so many. */
export function usualKinds(kinds: readonly Kind[], maximum: number): Kind[] {
  const common = usual.flatMap(([group, resource]) => kinds.find((kind) => group.test(kind.group) && kind.resource === resource) ?? []);
  const custom = kinds.filter((kind) => !isBuiltIn(kind));
  return [...common, ...custom].slice(0, maximum);
}
