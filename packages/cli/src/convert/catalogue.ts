/** Every kind and version that this program knows, and the version that an object is to be converted to. */

import { builtinKinds } from '@plat-dev/kinds';
import { alphaKinds } from '@plat-dev/kinds/alpha-kinds';
import { newerKinds } from '@plat-dev/kinds/newer-kinds';
import { withOlderVersions } from '@plat-dev/kinds/older-kinds';
import { existsIn, type Lifetime, lifetimeOf, servedByDefault } from '@plat-dev/kinds/releases';
import { type ServedKind, serve } from '@plat-dev/kinds/served-kind';
import { own } from '@plat-dev/lib/own';
import { isAtLeast } from '@plat-dev/lib/version';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { baseGroup, type Identity } from '@plat-dev/meta/identity';

/** What an object is to be converted to. */
export interface Goal {
  /** Of the API. */
  readonly release: string;
  /** `networking.plat.dev/v1`: only objects of kinds that this version has are converted. */
  readonly outputVersion?: string;
  /** Convert to the newest version, also where the one of the object is served and not deprecated. */
  readonly newest: boolean;
}

/** `to`: the version; undefined where the object stays as it is, and `why`. `isGone`: the release has no version of it. */
export interface Target {
  readonly to?: ServedKind;
  readonly why?: string;
  readonly isGone?: boolean;
}

/** A version that some documents name, though no release had it, and the one with its fields. */
const otherNames: Readonly<Record<string, string>> = { 'apps/v1beta1 ReplicaSet': 'extensions/v1beta1' };

export class Catalogue {
  readonly identity: Identity;
  private readonly all = new Map<string, ServedKind>();

  constructor(identity: Identity) {
    this.identity = identity;
    const kinds = withOlderVersions([...builtinKinds(identity, 'all'), ...alphaKinds, ...newerKinds], identity);
    for (const kind of kinds) {
      const shared = kind.sharesStoreOf;
      const store = shared && kinds.find(({ group, plural }) => group === shared.group && plural === shared.plural);
      for (const served of serve(kind, identity, { all: true, ...(store && { store }) }))
        this.all.set(`${served.apiVersion} ${kind.kind}`, served);
    }
  }

  find(apiVersion: string, kind: string): ServedKind | undefined {
    const name = `${apiVersion} ${kind}`;
    const other = own(otherNames, name);
    return this.all.get(other === undefined ? name : `${other} ${kind}`);
  }
  /** Whether a group is one of the API itself rather than one of custom kinds. */
  isBuiltIn(apiVersion: string): boolean {
    return baseGroup(this.identity, splitApiVersion(apiVersion).group) !== undefined;
  }
  /** Every version of a kind, under all its groups. */
  versionsOf(served: ServedKind): ServedKind[] {
    return [...this.all.values()].filter(({ kind, hub }) => kind.kind === served.kind.kind && hub.apiVersion === served.hub.apiVersion);
  }
  /** All of them. */
  every(): Iterable<ServedKind> {
    return this.all.values();
  }

  target(served: ServedKind, apiVersion: string, goal: Goal): Target {
    const others = this.versionsOf(served);
    if (goal.outputVersion !== undefined) {
      const to = others.find((one) => one.apiVersion === goal.outputVersion);
      return to === undefined ? { why: `${goal.outputVersion} has no ${served.kind.kind}` } : { to };
    }
    const isNamed = served.apiVersion === apiVersion;
    if (isNamed && !goal.newest && isCurrent(served, goal.release)) return { to: served };
    // A kind that two groups have (Event) stays in its group.
    const available = others.filter((one) => servedByDefault(lifetime(one), goal.release));
    const inGroup = available.filter((one) => one.group === served.group);
    const best = (inGroup.length > 0 && isNamed ? [...inGroup, ...available] : available).reduce<ServedKind | undefined>(
      (a, b) => (a === undefined || rank(b, served, goal.release) > rank(a, served, goal.release) ? b : a),
      undefined,
    );
    if (best !== undefined) return { to: best };
    const { advice, removed, introduced } = lifetime(served) ?? {};
    const isGone = removed !== undefined && isAtLeast(goal.release, removed);
    const reason = isGone ? `it was removed in ${removed}` : `it was added in ${introduced ?? 'a later release'}`;
    return {
      why: `release ${goal.release} has no ${served.kind.kind}: ${reason}${advice === undefined ? '' : `; ${advice}`}`,
      isGone: true,
    };
  }
}

export const lifetime = ({ kind, version }: ServedKind): Lifetime | undefined => lifetimeOf(kind.group, version, kind.plural);
const isDeprecated = (served: ServedKind, release: string): boolean => {
  const since = lifetime(served)?.deprecated;
  return since !== undefined && isAtLeast(release, since);
};
/** Served by default and not deprecated. */
export const isCurrent = (served: ServedKind, release: string): boolean =>
  servedByDefault(lifetime(served), release) && !isDeprecated(served, release);
export const isRemovedIn = (served: ServedKind, release: string): boolean => !existsIn(lifetime(served), release);

/** Versions that are not deprecated first, then those of the same group, then the newest. */
function rank(one: ServedKind, from: ServedKind, release: string): number {
  return (isDeprecated(one, release) ? 0 : 2_000_000) + (one.group === from.group ? 1_000_000 : 0) + age(one.version);
}
/** `v2` > `v1` > `v1beta2` > `v1beta1` > `v1alpha1`. */
function age(version: string): number {
  const [, major = '0', stage = '', minor = '0'] = /^v(\d+)(alpha|beta)?(\d+)?$/.exec(version) ?? [];
  const level = stage === '' ? 2 : stage === 'beta' ? 1 : 0;
  return level * 100_000 + Number(major) * 1000 + Number(minor);
}
