/**
 * Rules are written in one line each: verbs, groups, resources and, if any, names.
 *
 *   'read core pods,services'            get, list and watch in the core group
 *   'update coordination leases mine'    one lease only
 *   'get paths /healthz,/version'        paths instead of resources
 */

import type { PolicyRule } from '@plat-dev/kinds/rbac/schema/v1';
import { own } from '@plat-dev/lib/own';
import { groupName, type Identity } from '@plat-dev/meta/identity';

const verbWords: Readonly<Record<string, readonly string[]>> = {
  read: ['get', 'list', 'watch'],
  write: ['create', 'delete', 'deletecollection', 'patch', 'update'],
};
/** Groups that have no suffix under any identity, and the star. */
const asTheyAre = new Set(['*', 'extensions']);

const fullGroup = (identity: Identity, word: string): string =>
  word === 'core' ? '' : asTheyAre.has(word) ? word : groupName(identity, word);

export function rule(identity: Identity, line: string): PolicyRule {
  const [verbPart = '', groupPart = '', resourcePart = '', namePart] = line.split(' ');
  const verbs = verbPart.split(',').flatMap((word) => own(verbWords, word) ?? [word]);
  verbs.sort();
  const things = resourcePart.split(',');
  if (groupPart === 'paths') return { verbs, nonResourceURLs: things };
  const apiGroups = groupPart.split(',').map((word) => fullGroup(identity, word));
  return { verbs, apiGroups, resources: things, ...(namePart !== undefined && { resourceNames: namePart.split(',') }) };
}

/** The permissions to report events. */
export const events = 'create,patch,update core,events events';
