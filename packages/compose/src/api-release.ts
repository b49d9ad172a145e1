/** The kinds of a server and their served versions, from `--api-release` and `--runtime-config`. */

import { builtinKinds } from '@plat-dev/kinds';
import { alphaKinds } from '@plat-dev/kinds/alpha-kinds';
import { explainGroup, explainKinds } from '@plat-dev/kinds/explain-kinds';
import type { Kind } from '@plat-dev/kinds/kind';
import { existsIn, lifetimeOf, servedByDefault } from '@plat-dev/kinds/releases';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { FlagError } from '@plat-dev/lib/flags';
import { apiRelease as defaultRelease, isAtLeast } from '@plat-dev/lib/version';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import type { RuntimeConfig, RuntimeSetting } from './config/runtime-config.ts';
import type { ServerOptions } from './config/server-options.ts';

type Choice = Pick<ServerOptions, 'apiRelease' | 'runtimeConfig'>;

/** The built-in kinds in all versions that may be served. Versions that 1.24 does not have are loaded only if the flags need them. */
export async function kindsOf(identity: Identity, { apiRelease, runtimeConfig }: Choice): Promise<readonly Kind[]> {
  const usual = [...builtinKinds(identity, 'all'), ...alphaKinds, ...explainKinds];
  if (apiRelease === defaultRelease && runtimeConfig.settings.every((setting) => isKnown(setting, usual, identity))) return usual;
  const [{ withOlderVersions }, { newerKinds }] = await Promise.all([
    import('@plat-dev/kinds/older-kinds'),
    import('@plat-dev/kinds/newer-kinds'),
  ]);
  return withOlderVersions([...usual, ...newerKinds], identity);
}
const isKnown = ({ group, version }: RuntimeSetting, kinds: readonly Kind[], identity: Identity): boolean =>
  kinds.some((kind) => groupName(identity, kind.group) === group && Object.hasOwn(kind.versions, version));

/** Whether a version of a built-in kind is served. */
export function isServed({ apiRelease, runtimeConfig }: Choice): (served: ServedKind) => boolean {
  return ({ group, version, kind, identity }) => {
    if (kind.group === explainGroup) return explains(runtimeConfig, identity, version, kind.plural);
    const lifetime = lifetimeOf(kind.group, version, kind.plural);
    return runtimeConfig.enabled(group, version, kind.plural, servedByDefault(lifetime, apiRelease), existsIn(lifetime, apiRelease));
  };
}

const explains = (config: RuntimeConfig, identity: Identity, version: string, plural: string): boolean =>
  config.enabled(groupName(identity, explainGroup), version, plural, identity.explainKinds !== 'named');

/** The version under which history is served, as `--runtime-config` names it. */
export const historyVersion = (identity: Identity): string => `${groupName(identity, explainGroup)}/v1alpha1`;

/** Whether requests for history are answered: without them nothing is kept for them. */
export const servesHistory = ({ runtimeConfig }: Pick<Choice, 'runtimeConfig'>, identity: Identity): boolean =>
  explains(runtimeConfig, identity, 'v1alpha1', 'accessexplanations');

/** The plug-in and its kind were removed together. */
const removedPlugin = { name: 'PodSecurityPolicy', removed: '1.25' } as const;

/** Throws FlagError for an admission plug-in that the release has removed. */
export function checkPlugins({ apiRelease, enableAdmissionPlugins }: Pick<ServerOptions, 'apiRelease' | 'enableAdmissionPlugins'>): void {
  const { name, removed } = removedPlugin;
  if (!enableAdmissionPlugins.includes(name) || !isAtLeast(apiRelease, removed)) return;
  throw new FlagError(
    `--enable-admission-plugins: ${name} was removed in ${removed} and cannot run with --api-release ${apiRelease}; use PodSecurity, or a release before ${removed}`,
  );
}
