/**
 * Every admission plug-in, in the order in which they run, both when they mutate and when they validate. Those
 * that call webhooks with the object as a whole or charge quota for it come last.
 */
import { type ApiRelease, apiRelease, isAtLeast } from '@plat-dev/lib/version';

export interface PluginFacts {
  readonly name: string;
  /** On by default. */
  readonly default: boolean;
  /** Why it is deprecated. */
  readonly deprecated?: string;
  /** The first release that has it. */
  readonly since?: ApiRelease;
}

const on = <const N extends string>(name: N): PluginFacts & { readonly name: N } => ({ name, default: true });
const onSince = <const N extends string>(since: ApiRelease, name: N): PluginFacts & { readonly name: N } => ({
  name,
  default: true,
  since,
});
const off = <const N extends string>(name: N, deprecated?: string): PluginFacts & { readonly name: N } => ({
  name,
  default: false,
  ...(deprecated !== undefined && { deprecated }),
});

export const orderedPlugins = [
  off('AlwaysAdmit', 'it has no effect'),
  off('NamespaceAutoProvision'),
  on('NamespaceLifecycle'),
  off('NamespaceExists'),
  off('SecurityContextDeny'),
  off('LimitPodHardAntiAffinityTopology'),
  on('LimitRanger'),
  on('ServiceAccount'),
  off('NodeRestriction'),
  on('TaintNodesByCondition'),
  off('AlwaysPullImages'),
  off('ImagePolicyWebhook'),
  on('PodSecurity'),
  off('PodSecurityPolicy', 'PodSecurity takes its place'),
  off('PodNodeSelector'),
  on('Priority'),
  on('DefaultTolerationSeconds'),
  off('PodTolerationRestriction'),
  off('EventRateLimit'),
  off('ExtendedResourceToleration'),
  off('PersistentVolumeLabel', 'those who make volumes label them'),
  on('DefaultStorageClass'),
  on('StorageObjectInUseProtection'),
  off('OwnerReferencesPermissionEnforcement'),
  on('PersistentVolumeClaimResize'),
  on('RuntimeClass'),
  on('CertificateApproval'),
  on('CertificateSigning'),
  on('CertificateSubjectRestriction'),
  on('DefaultIngressClass'),
  off('DenyServiceExternalIPs'),
  onSince('1.32', 'MutatingAdmissionPolicy'),
  on('MutatingAdmissionWebhook'),
  onSince('1.26', 'ValidatingAdmissionPolicy'),
  on('ValidatingAdmissionWebhook'),
  on('ResourceQuota'),
  off('AlwaysDeny', 'it serves tests only'),
] as const;

/** The plug-ins that take settings from the configuration file. */
const configurable: ReadonlySet<string> = new Set<PluginName>([
  'PersistentVolumeLabel',
  'ImagePolicyWebhook',
  'PodSecurity',
  'PodNodeSelector',
  'PodTolerationRestriction',
  'EventRateLimit',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
]);
export const isConfigurable = (name: string): boolean => configurable.has(name);

export type PluginName = (typeof orderedPlugins)[number]['name'];
export const pluginNames: readonly PluginName[] = orderedPlugins.map(({ name }) => name);

/** The plug-ins that run, in order. A name that is both enabled and disabled is refused when the flags are parsed. */
export function enabledPlugins(enable: readonly string[], disable: readonly string[], release: ApiRelease = apiRelease): PluginName[] {
  return (orderedPlugins as readonly (PluginFacts & { readonly name: PluginName })[])
    .filter(({ since }) => since === undefined || isAtLeast(release, since))
    .filter((one) => (one.default || enable.includes(one.name)) && !disable.includes(one.name))
    .map(({ name }) => name);
}

/** The enabled plug-ins that are deprecated, and why. */
export function deprecatedPlugins(enabled: readonly string[]): { readonly plugin: string; readonly reason: string }[] {
  return (orderedPlugins as readonly PluginFacts[]).flatMap(({ name, deprecated }) =>
    deprecated !== undefined && enabled.includes(name) ? [{ plugin: name, reason: deprecated }] : [],
  );
}
