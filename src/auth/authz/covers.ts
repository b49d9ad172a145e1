/** Whether one set of rules gives at least what another gives, and what is missing where it does not. */
import { equal } from '../../lib/equal.ts';
import type { PolicyRule } from './rules.ts';
import { withoutStars } from './rules.ts';

const each = (list: readonly string[] | undefined): readonly string[] => (list === undefined || list.length === 0 ? [''] : list);

/** A rule as single permissions: one verb on one thing. */
export function breakdown(rule: PolicyRule): PolicyRule[] {
  const singles: PolicyRule[] = [];
  for (const group of rule.apiGroups ?? []) {
    for (const resource of rule.resources ?? []) {
      for (const verb of rule.verbs) {
        for (const name of each(rule.resourceNames)) {
          const names = rule.resourceNames === undefined || rule.resourceNames.length === 0 ? {} : { resourceNames: [name] };
          singles.push({ verbs: [verb], apiGroups: [group], resources: [resource], ...names });
        }
      }
    }
  }
  for (const path of rule.nonResourceURLs ?? []) {
    for (const verb of rule.verbs) singles.push({ verbs: [verb], nonResourceURLs: [path] });
  }
  return singles;
}

const hasAll = (owned: readonly string[] | undefined, wanted: readonly string[] | undefined): boolean =>
  owned?.includes('*') === true || (wanted ?? []).every((one) => owned?.includes(one) === true);

const pathCovers = (owned: string, wanted: string): boolean =>
  owned === wanted || owned === '*' || (owned.endsWith('*') && wanted.startsWith(withoutStars(owned)));

function resourcesCover(owned: readonly string[] | undefined, wanted: readonly string[]): boolean {
  if (owned === undefined) return false;
  if (owned.includes('*')) return true;
  return wanted.every((one) => owned.includes(one) || (one.includes('/') && owned.includes(`*${one.slice(one.indexOf('/'))}`)));
}

/** `single` comes from `breakdown`. */
function ruleCovers(owned: PolicyRule, single: PolicyRule): boolean {
  if (!hasAll(owned.verbs, single.verbs)) return false;
  if (single.nonResourceURLs !== undefined) {
    return single.nonResourceURLs.every((wanted) => owned.nonResourceURLs?.some((path) => pathCovers(path, wanted)) ?? false);
  }
  if (!hasAll(owned.apiGroups, single.apiGroups) || !resourcesCover(owned.resources, single.resources ?? [])) return false;
  if (owned.resourceNames === undefined || owned.resourceNames.length === 0) return true;
  return single.resourceNames?.every((name) => owned.resourceNames?.includes(name)) ?? false;
}

/** The single permissions of `wanted` that no rule of `owned` gives. A rule gives all of its own: mostly there is nothing else. */
export const missingFrom = (owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] =>
  wanted
    .filter((rule) => !owned.some((same) => equal(same, rule)))
    .flatMap(breakdown)
    .filter((single) => !owned.some((rule) => ruleCovers(rule, single)));

/** Single permissions on the same thing, put together again with all their verbs. */
export function compact(singles: readonly PolicyRule[]): PolicyRule[] {
  const together = new Map<string, { rule: PolicyRule; verbs: string[] }>();
  for (const rule of singles) {
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames, rule.nonResourceURLs]);
    const before = together.get(key);
    if (before === undefined) together.set(key, { rule, verbs: [...rule.verbs] });
    else before.verbs.push(...rule.verbs.filter((verb) => !before.verbs.includes(verb)));
  }
  return [...together.values()].map(({ rule, verbs }) => ({ ...rule, verbs }));
}

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}` */
export function describe(rule: PolicyRule): string {
  const part = (name: string, list: readonly string[] | undefined): string[] =>
    list === undefined || list.length === 0 ? [] : [`${name}:[${list.map((one) => JSON.stringify(one)).join(' ')}]`];
  const parts = [
    ...part('NonResourceURLs', rule.nonResourceURLs),
    ...part('APIGroups', rule.apiGroups),
    ...part('Resources', rule.resources),
    ...part('ResourceNames', rule.resourceNames),
    ...part('Verbs', rule.verbs),
  ];
  return `{${parts.join(', ')}}`;
}
