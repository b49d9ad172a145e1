/**
 * The usage of an object for quotas: one of its kind, and for some kinds the resources that it requests. Used by the plug-in
 * that charges a quota on create and by the controller that recounts.
 *
 *   a Pod that requests 100m of cpu     pods=1, count/pods=1, cpu=100m, requests.cpu=100m
 *   a Lease                             count/leases.coordination.DOMAIN=1
 */
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { quantityOf } from '@plat-dev/meta/quantity';
import { timeMillis } from '@plat-dev/meta/time';
import { type Amounts, podAmounts } from '../core/pods/pod-amounts.ts';
import type { Pod } from '../core/schema/pods/pod.ts';
import type { Service } from '../core/schema/service.ts';
import type { PersistentVolumeClaim } from '../core/schema/volumes/persistent-volume-claims.ts';
import { amount, isExtendedResource, isHugePages } from '../validation/resources.ts';

/** Resource name → amount. */
export type Usage = Amounts;

/** A kind by its full group name and plural. */
export interface CountedResource {
  readonly group: string;
  readonly name: string;
}

const one = quantityOf(1);
/** Kinds of the core group that may be counted by their plain name. */
const plainNames = new Set([
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
]);
/** Kinds whose objects use more than one of their kind. */
const measured = new Set(['pods', 'services', 'persistentvolumeclaims']);

/** Whether the usage of a kind depends on its objects; all others are simply counted. */
export const isMeasured = ({ group, name }: CountedResource): boolean => group === '' && measured.has(name);

/** `count/deployments.apps`, `count/secrets` */
const countName = ({ group, name }: CountedResource): string => `count/${name}${group === '' ? '' : `.${group}`}`;

/** The names under which objects of a kind are counted. */
export function countNames(resource: CountedResource): string[] {
  return resource.group === '' && plainNames.has(resource.name) ? [countName(resource), resource.name] : [countName(resource)];
}

/** The usage of an object, which is in the stored version of its kind. */
export function usageOf(resource: CountedResource, object: unknown, identity: Identity, now: number): Usage {
  if (resource.group === '') {
    if (resource.name === 'pods') return podUsage(object as Pod, identity, now);
    if (resource.name === 'services') return serviceUsage(object as Service, resource);
    if (resource.name === 'persistentvolumeclaims') return claimUsage(object as PersistentVolumeClaim, resource, identity);
  }
  return countUsage(resource);
}

const countUsage = (resource: CountedResource): Usage => new Map(countNames(resource).map((name) => [name, one]));

/** The kind whose objects count for a resource name. Undefined for names without usage. */
export function resourceCounted(name: string, identity: Identity): CountedResource | undefined {
  if (name.startsWith('count/')) {
    const rest = name.slice('count/'.length);
    const dot = rest.indexOf('.');
    return dot === -1 ? { group: '', name: rest } : { group: rest.slice(dot + 1), name: rest.slice(0, dot) };
  }
  if (plainNames.has(name)) return { group: '', name };
  if (name.startsWith('services.')) return { group: '', name: 'services' };
  if (name === 'requests.storage' || name.includes(classMark(identity))) return { group: '', name: 'persistentvolumeclaims' };
  return isComputeResource(name) ? { group: '', name: 'pods' } : undefined;
}

const computeResources = new Set(['cpu', 'memory', 'ephemeral-storage']);
const withoutPrefix = (name: string): string => name.replace(/^(requests|limits)\./, '');

/** Whether a name counts the requests or limits of pods. */
export function isComputeResource(name: string): boolean {
  const bare = withoutPrefix(name);
  if (computeResources.has(bare)) return true;
  if (name.startsWith('limits.')) return false;
  return isHugePages(bare) || (name.startsWith('requests.') && bare.includes('/'));
}

// ---- pods --------------------------------------------------------------------------------------------------------

/** Whether a pod still counts: not if it is finished, or past its grace period. */
function podCounts(pod: Pod, now: number): boolean {
  const { phase } = pod.status ?? {};
  if (phase === 'Failed' || phase === 'Succeeded') return false;
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  if (deletionTimestamp == null || deletionGracePeriodSeconds == null) return true;
  return now <= timeMillis(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000;
}

function podUsage(pod: Pod, identity: Identity, now: number): Usage {
  const usage: Usage = new Map([['count/pods', one]]);
  if (!podCounts(pod, now)) return usage;
  usage.set('pods', one);
  for (const [name, quantity] of podAmounts(pod.spec, 'requests')) {
    if (computeResources.has(name) || isHugePages(name)) {
      usage.set(name, quantity);
      usage.set(`requests.${name}`, quantity);
    } else if (isExtendedResource(name, identity)) usage.set(`requests.${name}`, quantity);
  }
  for (const [name, quantity] of podAmounts(pod.spec, 'limits')) if (computeResources.has(name)) usage.set(`limits.${name}`, quantity);
  return usage;
}

// ---- services and claims -----------------------------------------------------------------------------------------

function serviceUsage({ spec }: Service, resource: CountedResource): Usage {
  const usage = countUsage(resource);
  const ports = spec.ports ?? [];
  const nodePortCount = ports.filter((port) => (port.nodePort ?? 0) !== 0).length;
  if (spec.type === 'NodePort') usage.set('services.nodeports', quantityOf(ports.length));
  else if (spec.type === 'LoadBalancer') {
    usage.set('services.nodeports', quantityOf(spec.allocateLoadBalancerNodePorts === false ? nodePortCount : ports.length));
    usage.set('services.loadbalancers', one);
  }
  return usage;
}

/** `fast.storageclass.storage.DOMAIN/requests.storage`: the suffix after the name of a class. */
const classMark = (identity: Identity): string => `.storageclass.${groupName(identity, 'storage')}/`;

function claimUsage(claim: PersistentVolumeClaim, resource: CountedResource, identity: Identity): Usage {
  const usage = countUsage(resource);
  const storage = claim.spec?.resources?.requests?.storage;
  const size = storage === undefined ? undefined : amount(storage);
  if (size !== undefined) usage.set('requests.storage', size);
  // The annotation is older than the field.
  const className = claim.metadata.annotations?.[`volume.beta.${identity.domain}/storage-class`] ?? claim.spec?.storageClassName ?? '';
  if (className === '') return usage;
  usage.set(`${className}${classMark(identity)}persistentvolumeclaims`, one);
  if (size !== undefined) usage.set(`${className}${classMark(identity)}requests.storage`, size);
  return usage;
}
