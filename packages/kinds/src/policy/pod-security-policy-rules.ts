/** Validation of pod security policies. */

import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { domainName, type QualifiedName } from '@plat-dev/meta/identity';
import { dns1123Subdomain } from '@plat-dev/meta/names';
import type { KindEnv } from '../kind.ts';
import { each, repeatedTexts } from '../validation/each.ts';
import { report } from '../validation/field-checks.ts';
import { goList } from '../validation/go-list.ts';
import { invalidText } from '../validation/go-text.ts';
import { hasBackstep } from '../validation/paths.ts';
import { validateSysctls } from './pod-security-policy-sysctls.ts';
import type {
  IDRange,
  PodSecurityPolicy,
  PodSecurityPolicySpec,
  RunAsGroupStrategyOptions,
  RuntimeClassStrategyOptions,
} from './schema/pod-security-policy.ts';

const root = Path.of('spec');
const userRules = ['MustRunAs', 'MustRunAsNonRoot', 'RunAsAny'];
const groupRules = ['MayRunAs', 'MustRunAs', 'RunAsAny'];
const labelRules = ['MustRunAs', 'RunAsAny'];
const mountTypes = ['Default', 'Unmasked'];
const anything = '*';
const volumeTypes = [
  anything,
  ...['awsElasticBlockStore', 'azureDisk', 'azureFile', 'cephFS', 'cinder', 'configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral'],
  ...['fc', 'flexVolume', 'flocker', 'gcePersistentDisk', 'gitRepo', 'glusterfs', 'hostPath', 'iscsi', 'nfs', 'persistentVolumeClaim'],
  ...['photonPersistentDisk', 'portworxVolume', 'projected', 'quobyte', 'rbd', 'scaleIO', 'secret', 'storageos', 'vsphereVolume'],
];

export function validatePodSecurityPolicy(policy: PodSecurityPolicy, errors: FieldErrors, env: KindEnv): void {
  validateAnnotations(policy.metadata.annotations ?? {}, errors, env);
  const { spec } = policy;
  validateRule(spec.runAsUser, userRules, root.child('runAsUser'), errors);
  if (spec.runAsGroup !== undefined) validateRunAsGroup(spec.runAsGroup, root.child('runAsGroup'), errors);
  validateRule(spec.seLinux, labelRules, root.child('seLinux'), errors);
  validateRule(spec.supplementalGroups, groupRules, root.child('supplementalGroups'), errors);
  validateRule(spec.fsGroup, groupRules, root.child('fsGroup'), errors);
  for (const volume of spec.volumes ?? [])
    if (!volumeTypes.includes(volume)) errors.notSupported(root.child('volumes'), volume, volumeTypes);
  validateCapabilities(spec, errors);
  if (spec.defaultAllowPrivilegeEscalation && spec.allowPrivilegeEscalation !== true)
    errors.invalid(
      root.child('defaultAllowPrivilegeEscalation'),
      true,
      'Cannot set DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation to true',
    );
  each(spec.allowedProcMountTypes, root.child('allowedProcMountTypes'), (type, at) => {
    if (!mountTypes.includes(type)) errors.notSupported(at, type, mountTypes);
  });
  validateHostPaths(spec, errors);
  validateDrivers(spec, errors);
  validateSysctls(spec, root, errors);
  if (spec.runtimeClass !== undefined) validateRuntimeClass(spec.runtimeClass, root.child('runtimeClass'), errors);
}

/** Ranges are required by some rules, and forbidden by others. */
function validateRunAsGroup(options: RunAsGroupStrategyOptions, at: Path, errors: FieldErrors): void {
  const { rule, ranges = [] } = options;
  if (!groupRules.includes(rule)) {
    errors.notSupported(at.child('rule'), rule, ['MustRunAs', 'RunAsAny', 'MayRunAs']);
    return;
  }
  const rangesText = ranges.map(({ min, max }) => `policy.IDRange{Min:${min}, Max:${max}}`).join(', ');
  if (rule !== 'RunAsAny') {
    if (ranges.length === 0) invalidText(errors, at.child('ranges'), '[]policy.IDRange(nil)', 'must provide at least one range');
    validateRule(options, groupRules, at, errors);
  } else if (ranges.length > 0) invalidText(errors, at.child('ranges'), `[]policy.IDRange{${rangesText}}`, 'Ranges must be empty');
}

function validateRule(
  options: { readonly rule?: string; readonly ranges?: readonly IDRange[] },
  rules: readonly string[],
  at: Path,
  errors: FieldErrors,
): void {
  if (!rules.includes(options.rule ?? '')) errors.notSupported(at.child('rule'), options.rule ?? '', rules);
  each(options.ranges, at.child('ranges'), ({ min, max }, here) => {
    if (min < 0) errors.invalid(here.child('min'), min, 'min cannot be negative');
    if (max < 0) errors.invalid(here.child('max'), max, 'max cannot be negative');
    if (min > max) errors.invalid(here.child('min'), min, 'min cannot be greater than max');
  });
}

/** A capability is dropped or allowed, not both. */
function validateCapabilities(spec: PodSecurityPolicySpec, errors: FieldErrors): void {
  const dropped = spec.requiredDropCapabilities ?? [];
  if (dropped.length > 0 && spec.allowedCapabilities?.includes(anything))
    invalidText(
      errors,
      Path.of('requiredDropCapabilities'),
      goList('core.Capability', dropped),
      'must be empty when all capabilities are allowed by a wildcard',
    );
  const droppedCapabilities = new Set(dropped);
  for (const field of ['defaultAddCapabilities', 'allowedCapabilities'] as const)
    for (const capability of spec[field] ?? [])
      if (droppedCapabilities.has(capability))
        errors.invalid(Path.of(field), capability, `capability is listed in ${field} and requiredDropCapabilities`);
}

function validateHostPaths({ allowedHostPaths = [] }: PodSecurityPolicySpec, errors: FieldErrors): void {
  const paths = root.child('allowedHostPaths');
  for (const [i, { pathPrefix = '' }] of allowedHostPaths.entries()) {
    if (pathPrefix === '') {
      errors.required(paths.index(i), 'is required');
      return;
    }
    if (hasBackstep(pathPrefix)) errors.invalid(paths.index(i), pathPrefix, "must not contain '..'");
  }
}

function validateDrivers({ allowedFlexVolumes, allowedCSIDrivers }: PodSecurityPolicySpec, errors: FieldErrors): void {
  // The paths of these errors have the list twice, as in a stock server.
  each(allowedFlexVolumes, root.child('allowedFlexVolumes').child('allowedFlexVolumes'), ({ driver }, at) => {
    if (driver === '') errors.required(at.child('driver'), 'must specify a driver');
  });
  each(allowedCSIDrivers, root.child('allowedCSIDrivers').child('allowedCSIDriver'), ({ name }, at) => {
    const here = at.child('name');
    if (name === '') errors.required(here);
    if (name.length > 63) errors.tooLong(here, 63);
    report(errors, here, name, dns1123Subdomain(name.toLowerCase()));
  });
}

function validateRuntimeClass(options: RuntimeClassStrategyOptions, at: Path, errors: FieldErrors): void {
  const { allowedRuntimeClassNames: allowed = [], defaultRuntimeClassName: defaultName } = options;
  const names = at.child('allowedRuntimeClassNames');
  const again = repeatedTexts(allowed);
  each(allowed, names, (name, here, i) => {
    if (name !== anything) report(errors, here, name, dns1123Subdomain(name));
    if (again[i]) errors.duplicate(here, name);
  });
  if (defaultName === undefined) return;
  report(errors, at.child('defaultRuntimeClassName'), defaultName, dns1123Subdomain(defaultName));
  if (!allowed.includes(defaultName) && !allowed.includes(anything))
    errors.required(names, `default ${JSON.stringify(defaultName)} must be allowed`);
}

// ---- annotations -------------------------------------------------------------------------------------------------

const local = 'localhost/';
const confinements = new Set(['', 'runtime/default', 'unconfined']);
const filters = new Set(['runtime/default', 'docker/default', 'unconfined']);

function validateAnnotations(annotations: Readonly<Record<string, string>>, errors: FieldErrors, env: KindEnv): void {
  const at = Path.of('metadata', 'annotations');
  const key = (name: string, prefix: string): QualifiedName => domainName(env.identity, name, prefix);
  const armor = (name: string, text: string): void => {
    const full = key(name, 'apparmor.security.beta');
    for (const profile of text.split(','))
      if (!confinements.has(profile) && !profile.startsWith(local))
        errors.invalid(at.key(full), text, `invalid AppArmor profile name: ${JSON.stringify(profile)}`);
  };
  const filter = (name: string, profile: string): void => {
    const here = at.key(key(name, 'seccomp.security.alpha'));
    if (profile.startsWith(local)) {
      const path = profile.slice(local.length);
      if (path.startsWith('/')) errors.invalid(here, path, 'must be a relative path');
      if (hasBackstep(path)) errors.invalid(here, path, "must not contain '..'");
    } else if (!filters.has(profile)) errors.invalid(here, profile, 'must be a valid seccomp profile');
  };
  const annotationOf = (name: string, prefix: string): string | undefined => annotations[key(name, prefix)];
  armor('defaultProfileName', annotationOf('defaultProfileName', 'apparmor.security.beta') ?? '');
  armor('allowedProfileNames', annotationOf('allowedProfileNames', 'apparmor.security.beta') ?? '');
  const defaultProfile = annotationOf('defaultProfileName', 'seccomp.security.alpha');
  if (defaultProfile !== undefined && defaultProfile !== '') filter('defaultProfileName', defaultProfile);
  const allowed = annotationOf('allowedProfileNames', 'seccomp.security.alpha') ?? '';
  for (const profile of allowed === '' ? [] : allowed.split(',')) if (profile !== anything) filter('allowedProfileNames', profile);
}
