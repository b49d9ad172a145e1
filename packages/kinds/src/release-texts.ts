/** Messages about resources that a release of the API deprecates or does not serve. The facts are in `releases.ts`. */

import { isAtLeast } from '@plat-dev/lib/version';
import { joinApiVersion, splitApiVersion } from '@plat-dev/meta/api-version';
import { baseGroup, groupName, type Identity, identities } from '@plat-dev/meta/identity';
import { allLifetimes, type Lifetime, lifetimeOf, replacementIn, servedByDefault } from './releases.ts';

/** `group` is a base name. */
export interface ResourceVersion {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

export interface Deprecation {
  /** `batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob` */
  readonly warning: string;
  /** The first release without it. */
  readonly removed: string | undefined;
}

/** The deprecation of a resource in a release; undefined if it is not deprecated. */
export function deprecationOf({ group, version, plural }: ResourceVersion, identity: Identity, release: string): Deprecation | undefined {
  const lifetime = lifetimeOf(group, version, plural);
  if (lifetime?.deprecated === undefined || !isAtLeast(release, lifetime.deprecated)) return undefined;
  const { kind, deprecated, removed, announced = removed } = lifetime;
  const replacementText = warnedIn(lifetime, plural, release);
  let warning = `${joinApiVersion(groupName(identity, group), version)} ${kind} is deprecated in v${deprecated}+`;
  if (announced !== undefined) warning += `, unavailable in v${announced}+`;
  if (replacementText !== undefined) {
    const [apiVersion = '', newKind = kind] = replacementText.split(' ');
    warning += `; use ${fullVersion(apiVersion, identity)} ${newKind}`;
  }
  return { warning, removed: announced };
}

/** The replacement that the warning names. Stock servers send warnings since 1.19; older releases get the same text. */
function warnedIn(lifetime: Lifetime, plural: string, release: string): string | undefined {
  if (lifetime.warned === undefined) return replacementIn(lifetime, plural, release);
  let replacementText: string | undefined;
  for (const [since, version] of Object.entries(lifetime.warned)) if (isAtLeast(release, since)) replacementText = version;
  return replacementText;
}

/** `networking/v1` → `networking.plat.dev/v1`. */
function fullVersion(apiVersion: string, identity: Identity): string {
  const { group, version } = splitApiVersion(apiVersion);
  return joinApiVersion(groupName(identity, group), version);
}

/**
 * Why a resource is not served in a release, and what to use instead; undefined for one that no release has.
 *
 *   extensions/v1beta1 Deployment is not served by this server (API of release 1.24): it was removed in 1.16; use apps/v1, and
 *   `plat convert` to convert manifests
 */
export function whyNotServed({ group, version, plural }: ResourceVersion, identity: Identity, release: string): string | undefined {
  const lifetime = lifetimeOf(group, version, plural);
  if (lifetime === undefined) return undefined;
  const apiVersion = joinApiVersion(group, version);
  const { reason, others } = facts([[apiVersion, plural, lifetime]], release);
  const advice = others.length === 0 && lifetime.advice !== undefined ? `; ${lifetime.advice}` : '';
  return `${notServed(`${fullVersion(apiVersion, identity)} ${lifetime.kind}`, release)}: ${reason}${remedy(others, identity)}${advice}`;
}

/** The same for a group and version. */
export function whyVersionNotServed(group: string, version: string, identity: Identity, release: string): string | undefined {
  const apiVersion = joinApiVersion(group, version);
  const rows: Row[] = [];
  for (const [key, lifetime] of allLifetimes())
    if (key.startsWith(`${apiVersion}/`)) rows.push([apiVersion, key.slice(apiVersion.length + 1), lifetime]);
  if (rows.length === 0) return undefined;
  const { reason, others } = facts(rows, release);
  return `${notServed(fullVersion(apiVersion, identity), release)}: ${reason}${remedy(others, identity)}`;
}

/** The same for a group of which no version is served; undefined if it has versions that all releases have. */
export function whyGroupNotServed(group: string, identity: Identity, release: string): string | undefined {
  const rows: Row[] = [];
  for (const [key, lifetime] of allLifetimes()) {
    const plural = key.slice(key.lastIndexOf('/') + 1);
    if (group !== '' && key.startsWith(`${group}/`)) rows.push([key.slice(0, -plural.length - 1), plural, lifetime]);
  }
  if (rows.length === 0) return undefined;
  // A group is as old as its first version.
  const isFirst = ([, , { introduced }]: Row): boolean =>
    introduced === undefined || rows.every(([, , other]) => other.introduced === undefined || isAtLeast(other.introduced, introduced));
  const isToCome = rows.every(([, , { introduced }]) => introduced !== undefined && !isAtLeast(release, introduced));
  const { reason, others } = facts(isToCome ? rows.filter(isFirst) : rows, release);
  if (others.some((one) => splitApiVersion(one).group === group)) return undefined;
  return `${notServed(groupName(identity, group), release)}: ${reason}${remedy(others, identity)}`;
}

/** Whether some release does not serve this version of a kind, under any identity: `plat convert` converts it to those of that release. */
export function canBeConverted(apiVersion: string, kind: string): boolean {
  const { group: full, version } = splitApiVersion(apiVersion);
  for (const identity of Object.values(identities)) {
    const group = baseGroup(identity, full);
    if (group === undefined) continue;
    const prefix = `${joinApiVersion(group, version)}/`;
    for (const [key, lifetime] of allLifetimes()) if (lifetime.kind === kind && key.startsWith(prefix)) return true;
  }
  return false;
}

/** Why the apiVersion and kind of a body are not served. */
export function whyBodyNotServed(apiVersion: string, kind: string, identity: Identity, release: string): string | undefined {
  const { group: full, version } = splitApiVersion(apiVersion);
  const group = baseGroup(identity, full);
  if (group === undefined) return undefined;
  const prefix = `${joinApiVersion(group, version)}/`;
  for (const [key, lifetime] of allLifetimes())
    if (lifetime.kind === kind && key.startsWith(prefix) && !servedByDefault(lifetime, release))
      return whyNotServed({ group, version, plural: key.slice(prefix.length) }, identity, release);
  return undefined;
}

type Row = readonly [apiVersion: string, plural: string, lifetime: Lifetime];

const notServed = (what: string, release: string): string => `${what} is not served by this server (API of release ${release})`;
const remedy = (others: readonly string[], identity: Identity): string =>
  others.length === 0
    ? ''
    : `; use ${others.map((one) => fullVersion(one, identity)).join(' or ')}, and \`plat convert\` to convert manifests`;

/** Why the rows are not served, with the latest release of all of them, and their replacements. */
function facts(rows: readonly Row[], release: string): { reason: string; others: readonly string[] } {
  const last = (values: readonly (string | undefined)[]): string | undefined =>
    values.reduce((a, b) => (a === undefined || (b !== undefined && isAtLeast(b, a)) ? b : a), undefined);
  const isGone = rows.every(([, , { removed }]) => removed !== undefined && isAtLeast(release, removed));
  const isToCome = rows.every(([, , { introduced }]) => introduced !== undefined && !isAtLeast(release, introduced));
  if (isGone) {
    const others = rows.flatMap(([, plural, lifetime]) => replacementIn(lifetime, plural, release) ?? []);
    return { reason: `it was removed in ${last(rows.map(([, , { removed }]) => removed))}`, others: distinct(others) };
  }
  if (isToCome) {
    const others = rows.flatMap(([apiVersion, plural]) => predecessorIn(apiVersion, plural, release) ?? []);
    return { reason: `it was added in ${last(rows.map(([, , { introduced }]) => introduced))}`, others: distinct(others) };
  }
  const others = rows.flatMap(([, plural, lifetime]) => replacementIn(lifetime, plural, release) ?? []);
  const isAlpha = rows.every(([, , { off }]) => off === true);
  return { reason: `it is ${isAlpha ? 'off by default' : 'switched off'} (--runtime-config)`, others: distinct(others) };
}
const distinct = (texts: readonly string[]): string[] => [...new Set(texts)];

/** The version that a release serves instead of one that was added later; preferably of the same group. */
function predecessorIn(apiVersion: string, plural: string, release: string): string | undefined {
  const group = splitApiVersion(apiVersion).group;
  let predecessor: string | undefined;
  for (const [key, lifetime] of allLifetimes()) {
    if (lifetime.replacement !== apiVersion || !key.endsWith(`/${plural}`) || !servedByDefault(lifetime, release)) continue;
    const one = key.slice(0, -plural.length - 1);
    if (predecessor === undefined || splitApiVersion(one).group === group) predecessor = one;
  }
  return predecessor;
}
