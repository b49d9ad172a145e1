/** Fields that do not apply to the operating system of a pod. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import type { PodOS, PodSpec } from '../../core/schema/pods/pod.ts';
import type { KindEnv } from '../../kind.ts';
import { eachContainer } from './each-container.ts';

const systems = ['linux', 'windows'];

export function validateOS(os: PodOS, spec: PodSpec, at: Path, errors: FieldErrors): void {
  if (os.name === '') errors.required(at.child('os').child('name'), 'cannot be empty');
  else if (!systems.includes(os.name)) errors.notSupported(at.child('os'), os.name, systems);
  else if (os.name === 'linux') validateLinux(spec, at, errors);
  else validateWindows(spec, at, errors);
}

function validateLinux(spec: PodSpec, at: Path, errors: FieldErrors): void {
  const check = (context: { windowsOptions?: unknown } | undefined, here: Path) => {
    if (context?.windowsOptions !== undefined)
      errors.forbidden(here.child('securityContext').child('windowsOptions'), 'windows options cannot be set for a linux pod');
  };
  check(spec.securityContext, at);
  eachContainer(spec, at, (container, here) => check(container.securityContext, here));
}

const notOnWindows = 'cannot be set for a windows pod';
const containerFields = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const;

function validateWindows(spec: PodSpec, at: Path, errors: FieldErrors): void {
  const context = spec.securityContext;
  if (context !== undefined) {
    const contextAt = at.child('securityContext');
    const forbid = (set: boolean, where: Path) => {
      if (set) errors.forbidden(where, notOnWindows);
    };
    forbid(context.appArmorProfile !== undefined, contextAt.child('appArmorProfile'));
    forbid(context.seLinuxOptions !== undefined, contextAt.child('seLinuxOptions'));
    forbid(spec.hostUsers !== undefined, at.child('hostUsers'));
    forbid(spec.hostPID === true, at.child('hostPID'));
    forbid(spec.hostIPC === true, at.child('hostIPC'));
    forbid(context.seccompProfile !== undefined, contextAt.child('seccompProfile'));
    forbid(context.fsGroup !== undefined, contextAt.child('fsGroup'));
    forbid(context.fsGroupChangePolicy !== undefined, contextAt.child('fsGroupChangePolicy'));
    forbid((context.sysctls ?? []).length > 0, contextAt.child('sysctls'));
    forbid(spec.shareProcessNamespace !== undefined, at.child('shareProcessNamespace'));
    forbid(context.runAsUser !== undefined, contextAt.child('runAsUser'));
    forbid(context.runAsGroup !== undefined, contextAt.child('runAsGroup'));
    forbid(context.supplementalGroups !== undefined, contextAt.child('supplementalGroups'));
    forbid(context.supplementalGroupsPolicy !== undefined, contextAt.child('supplementalGroupsPolicy'));
    forbid(context.seLinuxChangePolicy !== undefined, contextAt.child('seLinuxChangePolicy'));
  }
  eachContainer(spec, at, ({ securityContext }, here) => {
    if (securityContext === undefined) return;
    for (const field of containerFields)
      if (securityContext[field] !== undefined) errors.forbidden(here.child('securityContext').child(field), notOnWindows);
  });
}

const gateOff = "feature gate 'WindowsHostProcessContainers' is not enabled";
const notEnabled = `not allowed when ${gateOff}`;

/** If one container is a Windows host process, all must be, and the pod must use the host network. */
export function validateHostProcess(spec: PodSpec, at: Path, errors: FieldErrors, env: KindEnv): void {
  if (!usesHostProcess(spec)) return;
  const pod = spec.securityContext?.windowsOptions?.hostProcess;
  const allowed = env.feature('WindowsHostProcessContainers');
  if (!allowed && pod !== undefined) {
    errors.forbidden(at.child('securityContext').child('windowsOptions').child('hostProcess'), notEnabled);
    return;
  }
  let all = 0;
  let host = 0;
  const count = ({ securityContext }: { securityContext?: NonNullable<PodSpec['containers']>[number]['securityContext'] }, here: Path) => {
    all++;
    const own = securityContext?.windowsOptions?.hostProcess;
    if (!allowed && own !== undefined)
      errors.forbidden(here.child('securityContext').child('windowsOptions').child('hostProcess'), notEnabled);
    if (pod !== undefined && own !== undefined && pod !== own)
      errors.invalid(
        here.child('securityContext').child('windowsOptions').child('hostProcess'),
        own,
        `pod hostProcess value must be identical if both are specified, was ${pod}`,
      );
    if (own ?? pod) host++;
  };
  eachContainer(spec, at, count);
  if (host === 0) return;
  if (!allowed) {
    errors.forbidden(at, `pod must not contain Windows hostProcess containers when ${gateOff}`);
    return;
  }
  if (host !== all) errors.invalid(at, '', 'If pod contains any hostProcess containers then all containers must be HostProcess containers');
  if (!spec.hostNetwork)
    errors.invalid(at.child('hostNetwork'), false, 'hostNetwork must be true if pod contains any hostProcess containers');
  if (!env.allowPrivileged) errors.forbidden(at, 'hostProcess containers are disallowed by cluster policy');
}

/** Whether a pod or one of its containers sets `hostProcess`. */
export function usesHostProcess(spec: PodSpec): boolean {
  const uses = (container: { securityContext?: { windowsOptions?: { hostProcess?: boolean } } }): boolean =>
    container.securityContext?.windowsOptions?.hostProcess !== undefined;
  return (
    uses(spec) ||
    (spec.containers?.some(uses) ?? false) ||
    (spec.initContainers?.some(uses) ?? false) ||
    (spec.ephemeralContainers?.some(uses) ?? false)
  );
}
