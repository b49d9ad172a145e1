/**
 * Defaults for namespaces without labels, and exemptions.
 *
 *   apiVersion: pod-security.admission.config.<pd>/v1beta1
 *   kind: PodSecurityConfiguration
 *   defaults: { enforce: baseline, enforce-version: latest, audit: …, warn: … }
 *   exemptions: { usernames: [], runtimeClasses: [], namespaces: [] }
 */
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { checkType, object, refuseUnknown, stringList } from '../configuration.ts';
import type { PluginConfiguration } from '../plugin.ts';
import { allPrivileged, type LevelVersion, levels, type Mode, modes, type Policy, readLevel, readVersion } from './policy.ts';

export interface PodSecurityConfiguration {
  readonly defaults: Policy;
  readonly usernames: ReadonlySet<string>;
  readonly namespaces: ReadonlySet<string>;
  readonly runtimeClasses: ReadonlySet<string>;
}

export function readPodSecurity(configuration: PluginConfiguration | undefined, identity: Identity): PodSecurityConfiguration {
  if (configuration === undefined)
    return { defaults: allPrivileged, usernames: new Set(), namespaces: new Set(), runtimeClasses: new Set() };
  const group = groupName(identity, 'pod-security.admission.config');
  const value = checkType(
    configuration.value,
    'PodSecurityConfiguration',
    ['v1', 'v1beta1', 'v1alpha1'].map((version) => `${group}/${version}`),
  );
  refuseUnknown(value, ['apiVersion', 'kind', 'defaults', 'exemptions'], 'the configuration');
  const defaults = object(value.defaults ?? {}, 'defaults');
  refuseUnknown(
    defaults,
    modes.flatMap((mode) => [mode, `${mode}-version`]),
    'defaults',
  );
  const exemptions = object(value.exemptions ?? {}, 'exemptions');
  refuseUnknown(exemptions, ['usernames', 'namespaces', 'runtimeClasses'], 'exemptions');
  const policy: Record<Mode, LevelVersion> = { ...allPrivileged };
  for (const mode of modes) policy[mode] = readDefault(mode, defaults[mode], defaults[`${mode}-version`]);
  return {
    defaults: policy,
    usernames: new Set(stringList(exemptions.usernames, 'exemptions.usernames')),
    namespaces: new Set(stringList(exemptions.namespaces, 'exemptions.namespaces')),
    runtimeClasses: new Set(stringList(exemptions.runtimeClasses, 'exemptions.runtimeClasses')),
  };
}

function readDefault(mode: Mode, levelText: unknown, versionText: unknown): LevelVersion {
  const level = readLevel(String(levelText ?? 'privileged'));
  const version = readVersion(String(versionText ?? 'latest'));
  if (level === undefined) throw new Error(`defaults.${mode} must be one of ${levels.join(', ')}`);
  if (version === undefined) throw new Error(`defaults.${mode}-version must be "latest" or "v1.x"`);
  return { level, version };
}
