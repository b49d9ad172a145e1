/** Violations of a pod security policy by a pod. */

import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { SELinuxOptions } from '@plat-dev/kinds/core/schema/pods/security-context';
import type { Volume } from '@plat-dev/kinds/core/schema/volumes/volumes';
import type { IDRange, PodSecurityPolicy } from '@plat-dev/kinds/policy/schema/pod-security-policy';
import { equal } from '@plat-dev/lib/equal';
import type { Integer } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import type { Identity } from '@plat-dev/meta/identity';
import { type AnyContainer, eachContainer } from '../pods.ts';
import { safeSysctls } from '../sysctls.ts';

type Spec = PodSecurityPolicy['spec'];

/** Errors, as texts; none: the policy allows the pod. */
export function violationsOf(pod: Pod, policy: PodSecurityPolicy, identity: Identity): string[] {
  const errors = new FieldErrors();
  checkPod(pod, policy.spec, errors);
  checkVolumes(pod.spec.volumes ?? [], policy.spec, errors);
  eachContainer(pod.spec, (container, path) => checkContainer(container, pod, policy, Path.of(path), errors, identity));
  return errors.list.map(({ field, message }) => `${field}: ${message}`);
}

const inRanges = (id: Integer, ranges: readonly IDRange[] | undefined): boolean =>
  (ranges ?? []).some(({ min, max }) => id >= min && id <= max);
const rangesText = (ranges: readonly IDRange[] | undefined): string =>
  `[${(ranges ?? []).map(({ min, max }) => `{${min} ${max}}`).join(' ')}]`;

function checkPod({ spec }: Pod, policy: Spec, errors: FieldErrors): void {
  const at = Path.of('spec', 'securityContext');
  const context = spec.securityContext ?? {};
  const groups = (field: string, rule: Spec['fsGroup'], groupIds: readonly Integer[]): void => {
    if (rule.rule === 'RunAsAny' || rule.rule === undefined) return;
    if (groupIds.length === 0 && rule.rule === 'MustRunAs')
      errors.invalid(at.child(field), groupIds, 'unable to validate empty groups against required ranges');
    for (const id of groupIds)
      if (!inRanges(id, rule.ranges))
        errors.invalid(at.child(field), groupIds, `group ${id} must be in the ranges: ${rangesText(rule.ranges)}`);
  };
  groups('fsGroup', policy.fsGroup, context.fsGroup === undefined ? [] : [context.fsGroup]);
  groups('supplementalGroups', policy.supplementalGroups, context.supplementalGroups ?? []);
  checkSELinux(context.seLinuxOptions, policy, at, errors, false);
  for (const field of ['hostNetwork', 'hostPID', 'hostIPC'] as const)
    if (spec[field] && !policy[field])
      errors.invalid(at.child(field), true, `Host ${field.slice(4).toLowerCase()} is not allowed to be used`);
  const matches = (name: string, patterns: readonly string[] | undefined): boolean =>
    (patterns ?? []).some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
  (context.sysctls ?? []).forEach(({ name }, i) => {
    const here = at.child('sysctls').index(i);
    if (matches(name, policy.forbiddenSysctls)) errors.forbidden(here, `sysctl ${JSON.stringify(name)} is not allowed`);
    else if (!safeSysctls.has(name) && !matches(name, policy.allowedUnsafeSysctls))
      errors.forbidden(here, `unsafe sysctl ${JSON.stringify(name)} is not allowed`);
  });
  const allowed = policy.runtimeClass?.allowedRuntimeClassNames;
  if (
    spec.runtimeClassName !== undefined &&
    policy.runtimeClass !== undefined &&
    !allowed?.some((name) => name === '*' || name === spec.runtimeClassName)
  )
    errors.notSupported(Path.of('spec', 'runtimeClassName'), spec.runtimeClassName, allowed ?? []);
}

function checkSELinux(options: SELinuxOptions | undefined, { seLinux }: Spec, at: Path, errors: FieldErrors, inherits: boolean): void {
  if (seLinux.rule !== 'MustRunAs') return;
  const here = at.child('seLinuxOptions');
  if (options === undefined) {
    if (!inherits) errors.required(here);
  } else if (!equal(options, seLinux.seLinuxOptions))
    errors.invalid(here, options, `must be ${JSON.stringify(seLinux.seLinuxOptions ?? {})}`);
}

// ---- volumes -------------------------------------------------------------------------------------------------------

const typeOf = (volume: Volume): string =>
  Object.keys(volume).find((key) => key !== 'name' && volume[key as keyof Volume] !== undefined) ?? '';

function checkVolumes(volumes: readonly Volume[], policy: Spec, errors: FieldErrors): void {
  const allowed = new Set(policy.volumes ?? []);
  volumes.forEach((volume, i) => {
    const at = Path.of('spec', 'volumes').index(i);
    const type = typeOf(volume);
    if (!allowed.has('*') && !allowed.has(type)) {
      errors.invalid(at, type, `${type} volumes are not allowed to be used`);
      return;
    }
    const { hostPath, flexVolume, csi } = volume;
    if (hostPath !== undefined && (policy.allowedHostPaths ?? []).length > 0) {
      const rule = policy.allowedHostPaths?.find(({ pathPrefix }) => isWithin(hostPath.path, pathPrefix ?? ''));
      if (rule === undefined) errors.invalid(at.child('hostPath').child('pathPrefix'), hostPath.path, 'is not allowed to be used');
    }
    if (
      flexVolume !== undefined &&
      (policy.allowedFlexVolumes ?? []).length > 0 &&
      !policy.allowedFlexVolumes?.some(({ driver }) => driver === flexVolume.driver)
    )
      errors.invalid(at.child('driver'), flexVolume.driver, 'Flexvolume driver is not allowed to be used');
    if (
      csi !== undefined &&
      (policy.allowedCSIDrivers ?? []).length > 0 &&
      !policy.allowedCSIDrivers?.some(({ name }) => name === csi.driver)
    )
      errors.invalid(at.child('csi').child('driver'), csi.driver, 'Inline CSI driver is not allowed to be used');
  });
}
/** `/foo` allows `/foo` and `/foo/bar`, and not `/food`. */
function isWithin(path: string, prefix: string): boolean {
  if (path.split('/').includes('..')) return false;
  const [own, parent] = [path, prefix].map((text) => text.split('/').filter((part) => part !== '')) as [string[], string[]];
  return parent.every((part, i) => own[i] === part);
}

// ---- containers ----------------------------------------------------------------------------------------------------

function checkContainer(
  container: AnyContainer,
  pod: Pod,
  { metadata, spec: policy }: PodSecurityPolicy,
  path: Path,
  errors: FieldErrors,
  identity: Identity,
): void {
  const at = path.child('securityContext');
  const context = container.securityContext ?? {};
  const ofPod = pod.spec.securityContext ?? {};
  checkUser(context.runAsUser ?? ofPod.runAsUser, context.runAsNonRoot ?? ofPod.runAsNonRoot, policy, at, errors);
  const group = context.runAsGroup ?? ofPod.runAsGroup;
  if (policy.runAsGroup !== undefined && policy.runAsGroup.rule !== 'RunAsAny') {
    if (group === undefined) {
      if (policy.runAsGroup.rule === 'MustRunAs') errors.required(at.child('runAsGroup'));
    } else if (!inRanges(group, policy.runAsGroup.ranges))
      errors.invalid(at.child('runAsGroup'), group, `must be in the ranges: ${rangesText(policy.runAsGroup.ranges)}`);
  }
  checkSELinux(context.seLinuxOptions, policy, at, errors, ofPod.seLinuxOptions !== undefined);
  if (context.privileged && !policy.privileged) errors.invalid(at.child('privileged'), true, 'Privileged containers are not allowed');
  checkCapabilities(context.capabilities, policy, at.child('capabilities'), errors);
  (container.ports ?? []).forEach(({ hostPort = 0 }, i) => {
    if (hostPort !== 0 && !(policy.hostPorts ?? []).some(({ min, max }) => hostPort >= min && hostPort <= max))
      errors.invalid(
        path.child('ports').index(i).child('hostPort'),
        hostPort,
        `Host port ${hostPort} is not allowed to be used. Allowed ports: ${rangesText(policy.hostPorts)}`,
      );
  });
  if (policy.readOnlyRootFilesystem && context.readOnlyRootFilesystem !== true)
    errors.invalid(
      at.child('readOnlyRootFilesystem'),
      context.readOnlyRootFilesystem ?? false,
      'ReadOnlyRootFilesystem must be set to true',
    );
  if (policy.allowPrivilegeEscalation === false && context.allowPrivilegeEscalation !== false)
    errors.invalid(
      at.child('allowPrivilegeEscalation'),
      context.allowPrivilegeEscalation ?? true,
      'Allowing privilege escalation for containers is not allowed',
    );
  const mounts = policy.allowedProcMountTypes ?? [];
  const mount = context.procMount ?? 'Default';
  if (mount !== 'Default' && !mounts.includes(mount)) errors.invalid(at.child('procMount'), mount, 'ProcMountType is not allowed');
  checkProfiles(container, pod, metadata.annotations ?? {}, errors, identity);
}

function checkUser(user: Integer | undefined, nonRoot: boolean | undefined, { runAsUser }: Spec, at: Path, errors: FieldErrors): void {
  const here = at.child('runAsUser');
  if (runAsUser.rule === 'MustRunAs') {
    if (user === undefined) errors.required(here);
    else if (!inRanges(user, runAsUser.ranges)) errors.invalid(here, user, `must be in the ranges: ${rangesText(runAsUser.ranges)}`);
  } else if (runAsUser.rule === 'MustRunAsNonRoot') {
    if (nonRoot === undefined && user === undefined) errors.required(at.child('runAsNonRoot'), 'must be true');
    else if (nonRoot === false) errors.invalid(at.child('runAsNonRoot'), nonRoot, 'must be true');
    else if (user === 0) errors.invalid(here, user, 'running with the root UID is forbidden');
  }
}

function checkCapabilities(
  capabilities: { add?: string[]; drop?: string[] } | undefined,
  policy: Spec,
  at: Path,
  errors: FieldErrors,
): void {
  const allowed = new Set([...(policy.allowedCapabilities ?? []), ...(policy.defaultAddCapabilities ?? [])]);
  const addedCapabilities = capabilities?.add ?? [];
  if (!allowed.has('*'))
    for (const name of addedCapabilities) if (!allowed.has(name)) errors.invalid(at.child('add'), name, 'capability may not be added');
  const required = policy.requiredDropCapabilities ?? [];
  for (const name of required) {
    if (addedCapabilities.includes(name) || (name === 'ALL' && addedCapabilities.length > 0 && !allowed.has('*')))
      errors.invalid(at.child('add'), addedCapabilities, `capability ${name} must be dropped`);
    if (!capabilities?.drop?.includes(name) && !capabilities?.drop?.includes('ALL'))
      errors.invalid(at.child('drop'), capabilities?.drop ?? [], `${name} must be dropped`);
  }
}

/** AppArmor and seccomp profiles are annotations, both of the policy and of the pod. */
function checkProfiles(
  container: AnyContainer,
  pod: Pod,
  policy: Readonly<Record<string, string>>,
  errors: FieldErrors,
  identity: Identity,
): void {
  const check = (list: string | undefined, key: string, value: string): void => {
    if (list === undefined) return;
    const allowed = list.split(',');
    if (allowed.includes('*') || allowed.includes(value)) return;
    errors.forbidden(Path.of('metadata', 'annotations').key(key), `${value} is not an allowed profile. Allowed values: ${list}`);
  };
  const annotations = pod.metadata.annotations ?? {};
  const seccompKey = `container.seccomp.security.alpha.${identity.domain}/${container.name}`;
  const seccomp = own(annotations, seccompKey) ?? annotations[`seccomp.security.alpha.${identity.domain}/pod`] ?? '';
  check(policy[`seccomp.security.alpha.${identity.domain}/allowedProfileNames`], seccompKey, seccomp);
  const appArmorKey = `container.apparmor.security.beta.${identity.domain}/${container.name}`;
  check(policy[`apparmor.security.beta.${identity.domain}/allowedProfileNames`], appArmorKey, own(annotations, appArmorKey) ?? '');
}
