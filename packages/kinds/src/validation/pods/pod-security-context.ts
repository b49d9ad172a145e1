/** Validation of the security context of a pod. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import type { PodSpec } from '../../core/schema/pods/pod.ts';
import type { PodSecurityContext, Sysctl } from '../../core/schema/pods/security-context.ts';
import type { KindEnv } from '../../kind.ts';
import { validateAppArmorProfile } from './app-armor.ts';
import { validateId, validateSeccompProfile, validateWindowsOptions } from './security-context.ts';

const groupPolicies = ['Always', 'OnRootMismatch'];
const supplementalPolicies = ['Merge', 'Strict'];

/** The policies of a security context. The values that may change while files are labelled depend on a feature of nodes. */
export function validatePodSecurityContext(
  context: PodSecurityContext,
  spec: PodSpec,
  specAt: Path,
  errors: FieldErrors,
  env: KindEnv,
): void {
  const at = specAt.child('securityContext');
  validateId(context.fsGroup, at, 'fsGroup', errors);
  validateId(context.runAsUser, at, 'runAsUser', errors);
  validateId(context.runAsGroup, at, 'runAsGroup', errors);
  context.supplementalGroups?.forEach((group, i) => {
    validateId(group, at, `supplementalGroups[${i}]`, errors);
  });
  if (spec.shareProcessNamespace && spec.hostPID)
    errors.invalid(at.child('shareProcessNamespace'), true, 'ShareProcessNamespace and HostPID cannot both be enabled');
  if (context.sysctls !== undefined) validateSysctls(context.sysctls, spec, at.child('sysctls'), errors, env);
  const policy = context.fsGroupChangePolicy;
  if (policy !== undefined && !groupPolicies.includes(policy)) errors.notSupported(at.child('fsGroupChangePolicy'), policy, groupPolicies);
  if (context.seccompProfile !== undefined) validateSeccompProfile(context.seccompProfile, at.child('seccompProfile'), errors);
  if (context.windowsOptions !== undefined) validateWindowsOptions(context.windowsOptions, at.child('windowsOptions'), errors);
  if (context.appArmorProfile !== undefined) validateAppArmorProfile(context.appArmorProfile, at.child('appArmorProfile'), errors);
  const { supplementalGroupsPolicy: groups, seLinuxChangePolicy: labels } = context;
  if (groups !== undefined && !supplementalPolicies.includes(groups))
    errors.notSupported(at.child('supplementalGroupsPolicy'), groups, supplementalPolicies);
  const labelPolicies = env.feature('SELinuxMount') ? ['MountOption', 'Recursive'] : ['Recursive'];
  if (labels !== undefined && !labelPolicies.includes(labels)) errors.notSupported(at.child('seLinuxChangePolicy'), labels, labelPolicies);
}

const sysctlPattern = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?\\.)*[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const sysctlName = new RegExp(`^${sysctlPattern}$`);
/** Since 1.25 the parts of a name may be separated by slashes. */
const slashedPattern = `^${sysctlPattern.replace('\\.', '[\\./]')}$`;
const slashedName = new RegExp(slashedPattern);
const maxSysctl = 253;

function validateSysctls(sysctls: readonly Sysctl[], spec: PodSpec, at: Path, errors: FieldErrors, env: KindEnv): void {
  const checksNamespaces = env.since('1.29') && !env.feature(sysctlsOfHost);
  const [form, pattern] = env.since('1.25') ? [slashedName, slashedPattern] : [sysctlName, sysctlPattern];
  const names = new Set<string>();
  sysctls.forEach(({ name }, i) => {
    const here = at.index(i).child('name');
    if (name === '') errors.required(here);
    else if (name.length > maxSysctl || !form.test(name))
      errors.invalid(here, name, `must have at most ${maxSysctl} characters and match regex ${pattern}`);
    else if (names.has(name)) errors.duplicate(here, name);
    names.add(name);
    const flag = checksNamespaces ? sharedNamespace(name, spec) : undefined;
    if (flag !== undefined) errors.invalid(here, name, `may not be specified when '${flag}' is true`);
  });
}

/** What is stored may stay: no gate of its own, but a rule of pod-gates.ts says when an update may keep it. */
export const sysctlsOfHost = 'sysctlsOfHost';

const interProcessNames = new Set(
  ['sem', 'shm', 'shmall', 'shmmax', 'shmmni', 'shm_rmid_forced', 'msg', 'msgmax', 'msgmnb', 'msgmni'].map((name) => `kernel.${name}`),
);
/** The field by which a pod shares with the host the namespace that a setting of the kernel belongs to. */
export function sharedNamespace(sysctl: string, { hostNetwork, hostIPC }: Pick<PodSpec, 'hostNetwork' | 'hostIPC'>): string | undefined {
  // The first separator decides what separates the parts of a name.
  const dotted = /^[^./]*\//.test(sysctl) ? sysctl.replaceAll(/[./]/g, (separator) => (separator === '/' ? '.' : '/')) : sysctl;
  if (hostNetwork && dotted.startsWith('net.')) return 'hostNetwork';
  return hostIPC && (interProcessNames.has(dotted) || dotted.startsWith('fs.mqueue.')) ? 'hostIPC' : undefined;
}
