/** Validation of the spec of a pod or of a template. Errors are in the order of a stock server. */
import type { Work } from '@plat-dev/lib/slices';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { parseIP } from '@plat-dev/meta/ip';
import { validateLabels } from '@plat-dev/meta/labels';
import { rangeProblem } from '@plat-dev/meta/names';
import type { PodDNSConfig, PodSpec } from '../../core/schema/pods/pod.ts';
import type { PodSecurityContext, Sysctl } from '../../core/schema/pods/security-context.ts';
import type { KindEnv } from '../../kind.ts';
import { label, qualified, subdomain, word } from '../field-checks.ts';
import { invalidText, listText } from '../go-text.ts';
import { validateResourceRequirements } from '../resources.ts';
import { validateVolumes } from '../volumes/volumes.ts';
import { validateAllContainers } from './containers.ts';
import { validateHostProcess, validateOS } from './pod-os.ts';
import { validateAffinity, validateTolerations, validateTopologySpread } from './scheduling.ts';
import { validateId, validateSeccompProfile, validateWindowsOptions } from './security-context.ts';

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const preemptionPolicies = ['PreemptLowerPriority', 'Never'];
const maxInt32 = 2 ** 31 - 1;

/** `podName` is undefined in templates. Yields between parts that may be long. */
export function* validatePodSpec(spec: PodSpec, podName: string | undefined, at: Path, errors: FieldErrors, env: KindEnv): Work<void> {
  const volumes = validateVolumes(spec.volumes ?? [], podName, at.child('volumes'), errors, env);
  yield;
  yield* validateAllContainers(spec, volumes, at, errors, env);
  word(spec.restartPolicy, restartPolicies, at.child('restartPolicy'), errors);
  word(spec.dnsPolicy, dnsPolicies, at.child('dnsPolicy'), errors);
  validateLabels(spec.nodeSelector, at.child('nodeSelector'), errors);
  if (spec.securityContext !== undefined) validatePodSecurityContext(spec.securityContext, spec, at, errors);
  if (spec.affinity !== undefined) {
    validateAffinity(spec.affinity, at.child('affinity'), errors);
    yield;
  }
  validateDNSConfig(spec.dnsConfig, spec.dnsPolicy, at.child('dnsConfig'), errors, env);
  spec.readinessGates?.forEach(({ conditionType }, i) => {
    qualified(conditionType, at.child('readinessGates').index(i).child('conditionType'), errors);
  });
  if (spec.topologySpreadConstraints !== undefined)
    validateTopologySpread(spec.topologySpreadConstraints, at.child('topologySpreadConstraints'), errors);
  yield;
  validateHostProcess(spec, at, errors, env);
  validateNames(spec, at, errors);
  if (spec.tolerations !== undefined) validateTolerations(spec.tolerations, at.child('tolerations'), errors);
  if (spec.hostAliases !== undefined) validateHostAliases(spec.hostAliases, at.child('hostAliases'), errors);
  validateClasses(spec, at, errors, env);
  if (spec.os !== undefined) validateOS(spec.os, spec, at, errors);
}

function validateNames(spec: PodSpec, at: Path, errors: FieldErrors): void {
  const { serviceAccountName, nodeName, activeDeadlineSeconds: deadline, hostname, subdomain: domain } = spec;
  if (serviceAccountName !== undefined) subdomain(serviceAccountName, at.child('serviceAccountName'), errors);
  if (nodeName !== undefined) subdomain(nodeName, at.child('nodeName'), errors);
  if (deadline !== undefined && (deadline < 1 || deadline > maxInt32))
    errors.invalid(at.child('activeDeadlineSeconds'), deadline, rangeProblem(1, maxInt32));
  if (hostname !== undefined) label(hostname, at.child('hostname'), errors);
  if (domain !== undefined) label(domain, at.child('subdomain'), errors);
}

/** Validation of priority, runtime class and overhead. */
function validateClasses(spec: PodSpec, at: Path, errors: FieldErrors, env: KindEnv): void {
  const { priorityClassName, runtimeClassName, preemptionPolicy, overhead } = spec;
  if (priorityClassName !== undefined) subdomain(priorityClassName, at.child('priorityClassName'), errors);
  if (runtimeClassName !== undefined) subdomain(runtimeClassName, at.child('runtimeClassName'), errors);
  if (preemptionPolicy !== undefined) word(preemptionPolicy, preemptionPolicies, at.child('preemptionPolicy'), errors);
  if (overhead !== undefined) validateResourceRequirements({ limits: overhead }, at.child('overhead'), errors, env.identity);
}

/** These errors name the list, not the alias, as in a stock server. */
function validateHostAliases(aliases: NonNullable<PodSpec['hostAliases']>, at: Path, errors: FieldErrors): void {
  for (const { ip = '', hostnames = [] } of aliases) {
    if (parseIP(ip) === undefined) errors.invalid(at.child('ip'), ip, 'must be valid IP address');
    for (const name of hostnames) subdomain(name, at.child('hostnames'), errors);
  }
}

// ---- DNS ---------------------------------------------------------------------------------------------------------

const maxNameservers = 3;
/** Limits of the number of search paths, and of their total length with separators. */
const searchLimits = { paths: 6, characters: 256 };
const expandedSearchLimits = { paths: 32, characters: 2048 };
/** Whether search paths need the feature ExpandedDNSConfig. */
export const isExpandedSearch = (searches: readonly string[]): boolean =>
  searches.length > searchLimits.paths || searches.join(' ').length > searchLimits.characters;

function validateDNSConfig(
  config: PodDNSConfig | undefined,
  policy: string | undefined,
  at: Path,
  errors: FieldErrors,
  env: KindEnv,
): void {
  if (policy === 'None' && config === undefined) errors.required(at, 'must provide `dnsConfig` when `dnsPolicy` is None');
  if (config === undefined) return;
  if (policy === 'None' && (config.nameservers ?? []).length === 0) {
    errors.required(at.child('nameservers'), 'must provide at least one DNS nameserver when `dnsPolicy` is None');
    return;
  }
  const { nameservers = [], searches = [], options = [] } = config;
  const tooMany = (field: string, list: readonly string[], text: string) =>
    invalidText(errors, at.child(field), listText(list), `must not have more than ${text}`);
  if (nameservers.length > maxNameservers) tooMany('nameservers', nameservers, `${maxNameservers} nameservers`);
  nameservers.forEach((server, i) => {
    if (parseIP(server) === undefined) errors.invalid(at.child('nameservers').index(i), server, 'must be valid IP address');
  });
  const limits = env.feature('ExpandedDNSConfig') ? expandedSearchLimits : searchLimits;
  if (searches.length > limits.paths) tooMany('searches', searches, `${limits.paths} search paths`);
  if (searches.join(' ').length > limits.characters)
    tooMany('searches', searches, `${limits.characters} characters (including spaces) in the search list`);
  searches.forEach((domain, i) => {
    subdomain(domain.replace(/\.$/, ''), at.child('searches').index(i), errors);
  });
  options.forEach((option, i) => {
    if (option.name === undefined || option.name === '') errors.required(at.child('options').index(i), 'must not be empty');
  });
}

// ---- security context of the pod ---------------------------------------------------------------------------------

const groupPolicies = ['Always', 'OnRootMismatch'];

function validatePodSecurityContext(context: PodSecurityContext, spec: PodSpec, specAt: Path, errors: FieldErrors): void {
  const at = specAt.child('securityContext');
  if (spec.hostNetwork) validateHostNetwork(spec, specAt.child('containers'), errors);
  validateId(context.fsGroup, at, 'fsGroup', errors);
  validateId(context.runAsUser, at, 'runAsUser', errors);
  validateId(context.runAsGroup, at, 'runAsGroup', errors);
  context.supplementalGroups?.forEach((group, i) => {
    validateId(group, at, `supplementalGroups[${i}]`, errors);
  });
  if (spec.shareProcessNamespace && spec.hostPID)
    errors.invalid(at.child('shareProcessNamespace'), true, 'ShareProcessNamespace and HostPID cannot both be enabled');
  if (context.sysctls !== undefined) validateSysctls(context.sysctls, at.child('sysctls'), errors);
  const policy = context.fsGroupChangePolicy;
  if (policy !== undefined && !groupPolicies.includes(policy)) errors.notSupported(at.child('fsGroupChangePolicy'), policy, groupPolicies);
  if (context.seccompProfile !== undefined) validateSeccompProfile(context.seccompProfile, at.child('seccompProfile'), errors);
  if (context.windowsOptions !== undefined) validateWindowsOptions(context.windowsOptions, at.child('windowsOptions'), errors);
}

/** With the host network every container port is a host port. */
function validateHostNetwork(spec: PodSpec, at: Path, errors: FieldErrors): void {
  spec.containers?.forEach(({ ports }, i) => {
    ports?.forEach(({ containerPort, hostPort = 0 }, j) => {
      if (hostPort !== containerPort)
        errors.invalid(
          at.index(i).child('ports').index(j).child('containerPort'),
          containerPort,
          'must match `hostPort` when `hostNetwork` is true',
        );
    });
  });
}

const sysctlPattern = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?\\.)*[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const sysctlName = new RegExp(`^${sysctlPattern}$`);
const maxSysctl = 253;

function validateSysctls(sysctls: readonly Sysctl[], at: Path, errors: FieldErrors): void {
  const names = new Set<string>();
  sysctls.forEach(({ name }, i) => {
    const here = at.index(i).child('name');
    if (name === '') errors.required(here);
    else if (name.length > maxSysctl || !sysctlName.test(name))
      errors.invalid(here, name, `must have at most ${maxSysctl} characters and match regex ${sysctlPattern}`);
    else if (names.has(name)) errors.duplicate(here, name);
    names.add(name);
  });
}
