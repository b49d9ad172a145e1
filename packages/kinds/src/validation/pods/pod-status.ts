/** The status of a pod, as its node and controllers report it. */
import type { Integer } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { ipFamily, validIP } from '@plat-dev/meta/ip';
import { dns1123Subdomain } from '@plat-dev/meta/names';
import { isSidecar } from '../../core/pods/pod-amounts.ts';
import type { ContainerStatus } from '../../core/schema/pods/container-status.ts';
import type { Container } from '../../core/schema/pods/containers.ts';
import type { Pod, PodCondition, PodSpec, PodStatus } from '../../core/schema/pods/pod.ts';
import type { KindEnv } from '../../kind.ts';
import { repeatedTexts } from '../each.ts';
import { immutable, label, qualified, report, subdomain } from '../field-checks.ts';
import { metadataUpdateAgain } from '../repeated-metadata.ts';
import { mayRestart, restartsAll } from './container-restarts.ts';
import { validateStatusDetails } from './container-status.ts';
import { validatePodAnnotationUpdate } from './pod-annotations.ts';

const annotationsAt = Path.of('metadata', 'annotations');
const statusAt = Path.of('status');

export function validatePodStatusUpdate(pod: Pod, old: Pod, errors: FieldErrors, env: KindEnv): void {
  metadataUpdateAgain(pod, old, errors, env);
  validatePodAnnotationUpdate(pod.metadata.annotations, old.metadata.annotations, pod.spec, annotationsAt, errors, env);
  validateConditions(pod.status.conditions ?? [], statusAt.child('conditions'), errors, env);
  const { nominatedNodeName: node } = pod.status;
  if (node !== undefined && node !== old.status.nominatedNodeName)
    report(errors, statusAt.child('nominatedNodeName'), node, dns1123Subdomain(node));
  if (
    env.feature('ClearingNominatedNodeNameAfterBinding') &&
    old.spec.nodeName !== undefined &&
    node !== undefined &&
    node !== old.status.nominatedNodeName
  )
    errors.forbidden(statusAt.child('nominatedNodeName'), 'may not be set on pods that are already bound to a node');
  if (env.since('1.33')) validateObserved(pod.status.observedGeneration, statusAt, errors);
  if (env.since('1.32')) immutable(pod.status.qosClass ?? '', old.status.qosClass ?? '', statusAt.child('qosClass'), errors);
  validateTransitions(pod, old, errors, env);
  validateClaims(pod, errors);
  if (env.since('1.28')) validateHostIPs(pod.status, errors);
  validateStatusDetails(pod, errors, env);
  validatePodIPs(pod.status, errors);
}

const ownConditions = ['PodScheduled', 'Ready', 'Initialized'];
function validateConditions(conditions: readonly PodCondition[], at: Path, errors: FieldErrors, env: KindEnv): void {
  conditions.forEach(({ type, observedGeneration }, i) => {
    if (env.since('1.33')) validateObserved(observedGeneration, at.index(i), errors);
    if (!ownConditions.includes(type)) qualified(type, at.index(i).child('Type'), errors);
  });
}
function validateObserved(generation: Integer = 0, at: Path, errors: FieldErrors): void {
  if (generation < 0) errors.invalid(at.child('observedGeneration'), generation, 'must be a non-negative integer');
}

// ---- states ------------------------------------------------------------------------------------------------------

/** A terminated container that is not restarted must stay terminated. */
function validateTransitions({ status }: Pod, { status: old, spec }: Pod, errors: FieldErrors, env: KindEnv): void {
  const anyMayRestart = env.feature('RestartAllContainersOnContainerExits') && restartsAll(spec);
  if (!anyMayRestart) {
    checkStates(status.containerStatuses, old.containerStatuses, 'containerStatuses', containerRule(spec.containers, spec, env), errors);
    const initRule = initContainerRule(spec, env);
    checkStates(status.initContainerStatuses, old.initContainerStatuses, 'initContainerStatuses', initRule, errors);
  }
  checkStates(status.ephemeralContainerStatuses, old.ephemeralContainerStatuses, 'ephemeralContainerStatuses', () => false, errors);
}

/** Whether a container that ended with an exit code may run again. */
type RestartRule = (name: string, exitCode: number) => boolean;

function containerRule(containers: readonly Container[] = [], spec: PodSpec, env: KindEnv): RestartRule {
  if (!env.feature('ContainerRestartRules'))
    return (_name, exitCode) => spec.restartPolicy === 'Always' || (spec.restartPolicy === 'OnFailure' && exitCode !== 0);
  const byName = new Map(containers.map((container) => [container.name, container]));
  return (name, exitCode) => {
    const container = byName.get(name);
    return container !== undefined && mayRestart(container, spec, exitCode);
  };
}
function initContainerRule(spec: PodSpec, env: KindEnv): RestartRule {
  const rule = containerRule(spec.initContainers, spec, env);
  const sidecars = new Set(spec.initContainers?.filter(isSidecar).map(({ name }) => name));
  return (name, exitCode) => rule(name, exitCode) || sidecars.has(name);
}

function checkStates(
  statuses: readonly ContainerStatus[] = [],
  old: readonly ContainerStatus[] = [],
  field: string,
  mayRun: RestartRule,
  errors: FieldErrors,
): void {
  const runningNames = new Set(statuses.filter(({ state }) => state.terminated === undefined).map(({ name }) => name));
  old.forEach(({ name, state: { terminated } }, i) => {
    if (terminated !== undefined && runningNames.has(name) && !mayRun(name, terminated.exitCode))
      errors.forbidden(statusAt.child(field).index(i).child('state'), 'may not be transitioned to non-terminated state');
  });
}

// ---- claims ------------------------------------------------------------------------------------------------------

function validateClaims({ spec, status }: Pod, errors: FieldErrors): void {
  const names = new Set(spec.resourceClaims?.map(({ name }) => name));
  const visitedNames = new Set<string>();
  status.resourceClaimStatuses?.forEach(({ name, resourceClaimName }, i) => {
    const here = statusAt.child('resourceClaimStatuses').index(i);
    if (!names.has(name)) errors.invalid(here.child('name'), name, 'must match the name of an entry in `spec.resourceClaims`');
    if (visitedNames.has(name)) errors.duplicate(here.child('name'), name);
    visitedNames.add(name);
    if (resourceClaimName !== undefined) subdomain(resourceClaimName, here.child('resourceClaimName'), errors);
  });
  if (status.extendedResourceClaimStatus !== undefined) validateExtendedClaim(spec, status.extendedResourceClaimStatus, errors);
}

function validateExtendedClaim(spec: PodSpec, claim: NonNullable<PodStatus['extendedResourceClaimStatus']>, errors: FieldErrors): void {
  const at = statusAt.child('extendedResourceClaimStatus');
  const mappingsAt = at.child('requestMappings');
  const { requestMappings = [], resourceClaimName } = claim;
  if (requestMappings.length === 0) errors.required(mappingsAt, 'at least one request mapping is required');
  const containers = new Map([...(spec.initContainers ?? []), ...(spec.containers ?? [])].map((container) => [container.name, container]));
  const visitedMappings = new Set<string>();
  requestMappings.forEach(({ containerName, resourceName, requestName }, i) => {
    const here = mappingsAt.index(i);
    const container = containers.get(containerName);
    const places = (field: string): string => `in spec.initContainers.${field} or spec.containers.${field}`;
    if (container === undefined)
      errors.invalid(here.child('containerName'), containerName, `must match the name of an entry ${places('name')}`);
    else if (own(container.resources.requests, resourceName) === undefined)
      errors.invalid(
        here.child('resourceName'),
        resourceName,
        `must match the extended resource name of an entry ${places('resources.requests')}`,
      );
    label(requestName, at.child('requestName'), errors);
    const mapping = JSON.stringify([containerName, resourceName, requestName]);
    if (visitedMappings.has(mapping)) {
      errors.duplicate(here.child('containerName'), containerName);
      errors.duplicate(here.child('resourceName'), resourceName);
      errors.duplicate(here.child('requestName'), requestName);
    }
    visitedMappings.add(mapping);
  });
  if (resourceClaimName === '') errors.required(at.child('resourceClaimName'));
  else subdomain(resourceClaimName, at.child('resourceClaimName'), errors);
}

// ---- addresses ---------------------------------------------------------------------------------------------------

/** The first of the addresses of the node is the one of the older field. */
function validateHostIPs({ hostIP, hostIPs }: PodStatus, errors: FieldErrors): void {
  if (hostIPs === undefined) return;
  const at = statusAt.child('hostIPs');
  const first = hostIPs[0]?.ip ?? '';
  if (first !== (hostIP ?? '')) errors.invalid(at.index(0).child('ip'), first, 'must be equal to `hostIP`');
  validateAddresses(hostIPs, at, errors);
}

function validatePodIPs({ podIPs }: PodStatus, errors: FieldErrors): void {
  if (podIPs === undefined) return;
  const at = statusAt.child('podIPs');
  const addresses = validateAddresses(podIPs, at, errors);
  const again = repeatedTexts(addresses);
  addresses.forEach((ip, i) => {
    if (again[i] && addresses.length > 1) errors.duplicate(at.index(i), ip);
  });
}

/** One address of each family at most. */
function validateAddresses(list: readonly { readonly ip?: string }[], at: Path, errors: FieldErrors): string[] {
  const addresses = list.map(({ ip = '' }) => ip);
  addresses.forEach((ip, i) => {
    report(errors, at.index(i), ip, validIP(ip));
  });
  if (addresses.length < 2) return addresses;
  const families = new Set(addresses.map(ipFamily));
  if (addresses.length > 2 || !families.has('IPv4') || !families.has('IPv6'))
    errors.invalid(at, list, 'may specify no more than one IP for each IP family');
  return addresses;
}
