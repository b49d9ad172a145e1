/** Whether one set of rules grants everything that another grants, and the missing permissions if not. */

import type { PolicyRule } from './schema/v1.ts';

/** A path without the stars at its end. */
export function withoutStars(path: string): string {
  let end = path.length;
  while (end > 0 && path.charCodeAt(end - 1) === STAR) end--;
  return path.slice(0, end);
}
const STAR = 0x2a;

const each = (list: readonly string[] | undefined): readonly string[] => (list === undefined || list.length === 0 ? [''] : list);

/** A rule as single permissions: one verb on one thing. */
function breakdown(rule: PolicyRule): PolicyRule[] {
  const singles: PolicyRule[] = [];
  for (const group of rule.apiGroups ?? []) {
    for (const resource of rule.resources ?? []) {
      for (const verb of rule.verbs ?? []) {
        for (const name of each(rule.resourceNames)) {
          const names = rule.resourceNames === undefined || rule.resourceNames.length === 0 ? {} : { resourceNames: [name] };
          singles.push({ verbs: [verb], apiGroups: [group], resources: [resource], ...names });
        }
      }
    }
  }
  for (const path of rule.nonResourceURLs ?? []) {
    for (const verb of rule.verbs ?? []) singles.push({ verbs: [verb], nonResourceURLs: [path] });
  }
  return singles;
}

const pathCovers = (owned: string, requested: string): boolean =>
  owned === requested || owned === '*' || (owned.endsWith('*') && requested.startsWith(withoutStars(owned)));

/** A list of a rule, prepared for many lookups. */
class Owned {
  private readonly all: boolean;
  private readonly members: ReadonlySet<string>;

  constructor(list: readonly string[] | undefined) {
    this.members = new Set(list);
    this.all = this.members.has('*');
  }
  has(requested: string): boolean {
    return this.all || this.members.has(requested);
  }
  hasAll(requestedItems: readonly string[] | undefined): boolean {
    return this.all || (requestedItems ?? []).every((one) => this.members.has(one));
  }
}

/** A rule of the user, prepared for many lookups. */
class OwnedRule {
  private readonly verbs: Owned;
  private readonly groups: Owned;
  private readonly resources: Owned;
  private readonly names: Owned | undefined;
  private readonly paths: Owned;
  private readonly patterns: readonly string[];

  constructor(rule: PolicyRule) {
    this.verbs = new Owned(rule.verbs);
    this.groups = new Owned(rule.apiGroups);
    this.resources = new Owned(rule.resources);
    this.names = rule.resourceNames === undefined || rule.resourceNames.length === 0 ? undefined : new Owned(rule.resourceNames);
    this.paths = new Owned(rule.nonResourceURLs);
    this.patterns = (rule.nonResourceURLs ?? []).filter((path) => path.endsWith('*'));
  }

  /** Whether it alone grants everything that another rule grants. */
  covers(requestedRule: PolicyRule): boolean {
    if (!this.verbs.hasAll(requestedRule.verbs)) return false;
    if (!(requestedRule.nonResourceURLs ?? []).every((path) => this.coversPath(path))) return false;
    const { apiGroups = [], resources = [], resourceNames = [] } = requestedRule;
    if (apiGroups.length === 0 || resources.length === 0) return true;
    if (!this.groups.hasAll(apiGroups) || !resources.every((one) => this.coversResource(one))) return false;
    return this.names === undefined || (resourceNames.length > 0 && resourceNames.every((name) => this.names?.has(name)));
  }
  private coversPath(path: string): boolean {
    return this.paths.has(path) || this.patterns.some((pattern) => pathCovers(pattern, path));
  }
  private coversResource(resource: string): boolean {
    if (this.resources.has(resource)) return true;
    const slash = resource.indexOf('/');
    return slash >= 0 && this.resources.has(`*${resource.slice(slash)}`);
  }
}

/** Limits on the permissions that rules are expanded to, and on comparisons: beyond either the write is refused. */
const MAX_PERMISSIONS = 20_000;
const MAX_COMPARISONS = 2_000_000;

/** The rules have too many permissions that no single rule of their writer grants. */
export class TooManyPermissions extends Error {
  constructor() {
    super(`the rules amount to more than ${MAX_PERMISSIONS} single permissions that no one rule of the user gives: grant less at a time`);
  }
}

const permissionsOf = ({ apiGroups = [], resources = [], verbs = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): number =>
  (apiGroups.length * resources.length * Math.max(1, resourceNames.length) + nonResourceURLs.length) * verbs.length;

/**
 * The single permissions of `requestedRules` that no rule of `owned` grants. Mostly one rule grants all of another, which is then not
 * expanded: it has as many permissions as the product of its lists. Throws TooManyPermissions, unless the wanted rules
 * are the server's own.
 */
export function missingFrom(owned: readonly PolicyRule[], requestedRules: readonly PolicyRule[], bounded = true): PolicyRule[] {
  const holding = owned.map((rule) => new OwnedRule(rule));
  const ownedTexts = new Set(owned.map(textOf));
  const others = requestedRules.filter((rule) => !ownedTexts.has(textOf(rule)));
  if (bounded && others.length * holding.length > MAX_COMPARISONS) throw new TooManyPermissions();
  const open = others.filter((rule) => !holding.some((one) => one.covers(rule)));
  const permissions = open.reduce((sum, rule) => sum + permissionsOf(rule), 0);
  if (bounded && (permissions > MAX_PERMISSIONS || permissions * holding.length > MAX_COMPARISONS)) throw new TooManyPermissions();
  return open.flatMap(breakdown).filter((single) => !holding.some((one) => one.covers(single)));
}
const textOf = ({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule): string =>
  JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs]);

/** Single permissions on the same resource, joined again with all their verbs. */
export function compact(singles: readonly PolicyRule[]): PolicyRule[] {
  const together = new Map<string, { rule: PolicyRule; verbs: Set<string> }>();
  for (const rule of singles) {
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames, rule.nonResourceURLs]);
    const existing = together.get(key);
    if (existing === undefined) together.set(key, { rule, verbs: new Set(rule.verbs) });
    else for (const verb of rule.verbs ?? []) existing.verbs.add(verb);
  }
  return [...together.values()].map(({ rule, verbs }) => ({ ...rule, verbs: [...verbs] }));
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
