/**
 * Rules are written in one line each: verbs, groups, resources and, if any, names.
 *
 *   'read core pods,services'            get, list and watch in the core group
 *   'update coordination leases mine'    one lease only
 *   'get paths /healthz,/version'        paths instead of resources
 *
 * Behind them stands which releases have the rule, and the feature gate that it is for:
 *
 *   'get core nodes/metrics since=1.34'   'get core pods until=1.31'   'get core pods gate=PodDisruptionConditions'
 */

import type { PolicyRule } from '@plat-dev/kinds/rbac/schema/v1';
import { own } from '@plat-dev/lib/own';
import { isAtLeast } from '@plat-dev/lib/version';
import { groupName, type Identity } from '@plat-dev/meta/identity';

const verbWords: Readonly<Record<string, readonly string[]>> = {
  read: ['get', 'list', 'watch'],
  write: ['create', 'delete', 'deletecollection', 'patch', 'update'],
};
/** Groups that have no suffix under any identity, and the star. */
const asTheyAre = new Set(['*', 'extensions']);

const fullGroup = (identity: Identity, word: string): string =>
  word === 'core' ? '' : asTheyAre.has(word) ? word : groupName(identity, word);

/** What rules depend on. */
export interface ReleaseChoice {
  /** Release of the API. */
  readonly release: string;
  /** Whether a feature gate is on. */
  feature(gate: string): boolean;
}

const conditions: Readonly<Record<string, (choice: ReleaseChoice, value: string) => boolean>> = {
  since: ({ release }, value) => isAtLeast(release, value),
  until: ({ release }, value) => isAtLeast(value, release),
  gate: (choice, value) => choice.feature(value),
};

/** The lines that a release has, without what they say of releases. */
export const chosen = (choice: ReleaseChoice, lines: readonly string[]): string[] =>
  lines.flatMap((line) => {
    const words = line.split(' ');
    const isCondition = (word: string): boolean => /^(since|until|gate)=/.test(word);
    const holds = words.filter(isCondition).every((word) => {
      const [name = '', value = ''] = word.split('=');
      return own(conditions, name)?.(choice, value) === true;
    });
    return holds ? [words.filter((word) => !isCondition(word)).join(' ')] : [];
  });

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
