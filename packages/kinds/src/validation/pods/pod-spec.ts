/** Validation of the spec of a pod or of a template. Errors are in the order of a stock server. */
import type { Work } from '@plat-dev/lib/slices';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { parseIP } from '@plat-dev/meta/ip';
import { validateLabels } from '@plat-dev/meta/labels';
import { rangeProblem, underscoredSubdomain } from '@plat-dev/meta/names';
import type { PodDNSConfig, PodSpec } from '../../core/schema/pods/pod.ts';
import type { KindEnv } from '../../kind.ts';
import { label, qualified, report, subdomain, word } from '../field-checks.ts';
import { invalidText, listText } from '../go-text.ts';
import { validateResourceRequirements } from '../resources.ts';
import { validateVolumes } from '../volumes/volumes.ts';
import { validateAffinity } from './affinity.ts';
import { type ContainerScope, validateAllContainers } from './containers.ts';
import { validateFileVolumes } from './env.ts';
import { validateHostProcess, validateOS } from './pod-os.ts';
import { validatePodResources } from './pod-resources.ts';
import { validatePodSecurityContext } from './pod-security-context.ts';
import { claimNamesOf, validatePodClaims } from './resource-claims.ts';
import { validateSchedulingGates, validateTolerations, validateTopologySpread } from './scheduling.ts';
import { validateHostUsers } from './user-namespaces.ts';

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const preemptionPolicies = ['PreemptLowerPriority', 'Never'];
const maxInt32 = 2 ** 31 - 1;

/** The pod of a spec; the spec of a template has none. */
export interface SpecPod {
  readonly name: string;
  /** It stands for a pod that a node runs by itself. */
  readonly isStatic: boolean;
}

/** Yields between parts that may be long. */
export function* validatePodSpec(spec: PodSpec, pod: SpecPod | undefined, at: Path, errors: FieldErrors, env: KindEnv): Work<void> {
  const volumes = validateVolumes(spec.volumes ?? [], pod?.name, at.child('volumes'), errors, env);
  yield;
  const scope: ContainerScope = { spec, volumes, claimNames: claimNamesOf(spec), env };
  if (spec.resourceClaims !== undefined)
    validatePodClaims(spec.resourceClaims, pod?.isStatic === true && env.since('1.32'), at.child('resourceClaims'), errors, env);
  yield* validateAllContainers(scope, at, errors);
  if (spec.resources !== undefined) validatePodResources(spec, spec.resources, scope.claimNames, at.child('resources'), errors, env);
  if (spec.hostNetwork && (env.since('1.28') || spec.securityContext !== undefined))
    validateHostNetwork(spec, pod !== undefined, at.child('containers'), errors, env);
  word(spec.restartPolicy, restartPolicies, at.child('restartPolicy'), errors);
  word(spec.dnsPolicy, dnsPolicies, at.child('dnsPolicy'), errors);
  validateLabels(spec.nodeSelector, at.child('nodeSelector'), errors);
  if (spec.securityContext !== undefined) validatePodSecurityContext(spec.securityContext, spec, at, errors, env);
  if (spec.affinity !== undefined) {
    validateAffinity(spec.affinity, at.child('affinity'), errors, env);
    yield;
  }
  validateDNSConfig(spec.dnsConfig, spec.dnsPolicy, at.child('dnsConfig'), errors, env);
  spec.readinessGates?.forEach(({ conditionType }, i) => {
    qualified(conditionType, at.child('readinessGates').index(i).child('conditionType'), errors);
  });
  if (spec.schedulingGates !== undefined) validateSchedulingGates(spec.schedulingGates, at.child('schedulingGates'), errors);
  if (spec.topologySpreadConstraints !== undefined)
    validateTopologySpread(spec.topologySpreadConstraints, at.child('topologySpreadConstraints'), errors, env);
  yield;
  validateHostProcess(spec, at, errors, env);
  if (spec.hostUsers === false) validateHostUsers(spec, at, errors, env);
  if (spec.hostnameOverride !== undefined) validateHostnameOverride(spec, spec.hostnameOverride, at.child('hostnameOverride'), errors);
  validateNames(spec, at, errors);
  if (spec.tolerations !== undefined) validateTolerations(spec.tolerations, at.child('tolerations'), errors, env);
  if (spec.hostAliases !== undefined) validateHostAliases(spec.hostAliases, at.child('hostAliases'), errors, env);
  validateClasses(spec, at, errors, env);
  if (spec.os !== undefined) validateOS(spec.os, spec, at, errors);
  if (env.since('1.34')) validateFileVolumes(spec, at, errors);
}

const longestHostname = 64;
function validateHostnameOverride(spec: PodSpec, hostname: string, at: Path, errors: FieldErrors): void {
  if (spec.setHostnameAsFQDN) errors.forbidden(at, 'may not be specified when setHostnameAsFQDN is true');
  if (spec.hostNetwork) errors.forbidden(at, 'may not be specified when hostNetwork is true');
  if (hostname.length > longestHostname) errors.tooLong(at, longestHostname);
  subdomain(hostname, at, errors);
}

/** With the host network every container port is a host port; in templates it may be left out, and is filled in in their pods. */
function validateHostNetwork(spec: PodSpec, isPod: boolean, at: Path, errors: FieldErrors, env: KindEnv): void {
  const namesHostPort = env.since('1.28');
  spec.containers?.forEach(({ ports }, i) => {
    ports?.forEach(({ containerPort, hostPort = 0 }, j) => {
      if (hostPort === containerPort || (namesHostPort && !isPod && hostPort === 0)) return;
      const here = at.index(i).child('ports').index(j);
      if (namesHostPort) errors.invalid(here.child('hostPort'), hostPort, 'must match `containerPort` when `hostNetwork` is true');
      else errors.invalid(here.child('containerPort'), containerPort, 'must match `hostPort` when `hostNetwork` is true');
    });
  });
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
  if (overhead !== undefined) validateResourceRequirements({ limits: overhead }, at.child('overhead'), errors, env);
}

/** Before 1.30 these errors named the list, not the alias. */
function validateHostAliases(aliases: NonNullable<PodSpec['hostAliases']>, at: Path, errors: FieldErrors, env: KindEnv): void {
  const namesAlias = env.since('1.30');
  aliases.forEach(({ ip = '', hostnames = [] }, i) => {
    const here = namesAlias ? at.index(i) : at;
    if (parseIP(ip) === undefined) errors.invalid(here.child('ip'), ip, 'must be valid IP address');
    hostnames.forEach((name, j) => {
      subdomain(name, namesAlias ? here.child('hostnames').index(j) : here.child('hostnames'), errors);
    });
  });
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
  const isRelaxed = env.feature('RelaxedDNSSearchValidation');
  searches.forEach((domain, i) => {
    const here = at.child('searches').index(i);
    const name = domain.replace(/\.$/, '');
    if (!isRelaxed) subdomain(name, here, errors);
    else if (domain !== '.') report(errors, here, name, underscoredSubdomain(name));
  });
  options.forEach((option, i) => {
    if (option.name === undefined || option.name === '') errors.required(at.child('options').index(i), 'must not be empty');
  });
}
