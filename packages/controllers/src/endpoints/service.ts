/** Services, and the parts of pods that make their endpoints. */

import { isIP } from 'node:net';
import type { Service } from '@plat-dev/kinds/core/schema/service';
import type { Wire } from '@plat-dev/kinds/wire';
import { Slices } from '@plat-dev/lib/slices';
import { domainName, groupName, type Identity, type QualifiedName } from '@plat-dev/meta/identity';
import type { LabelSelectorObject } from '@plat-dev/meta/labels';
import type { SlimPod } from '../runtime/pods.ts';

export type ServiceObject = Wire<Service>;

export interface ResolvedPort {
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  readonly appProtocol?: string;
}
interface PodReference {
  readonly kind: 'Pod';
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}
/** One pod behind a service, in one family of addresses. */
export interface ServiceEndpoint {
  readonly address: string;
  readonly ports: readonly ResolvedPort[];
  /** Ready, as the service defines it. */
  readonly ready: boolean;
  /** The pod itself is ready, even if it is terminating. */
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly targetRef: PodReference;
  readonly nodeName?: string;
  readonly hostname?: string;
}
export type AddressType = 'IPv4' | 'IPv6';

/** Whether its endpoints are made from pods. */
export function hasSelector({ spec }: ServiceObject): boolean {
  if (spec?.type !== 'ExternalName') for (const _ in spec?.selector) return true;
  return false;
}

export const selectorIn = (service: ServiceObject): LabelSelectorObject | undefined =>
  hasSelector(service) ? { matchLabels: service.spec?.selector ?? {} } : undefined;

export const isHeadless = ({ spec }: ServiceObject): boolean => spec?.clusterIP === 'None';
export const headlessLabel = (identity: Identity): QualifiedName => domainName(identity, 'headless', 'service');
export const serviceNameLabel = (identity: Identity): QualifiedName => domainName(identity, 'service-name');
export const managedByLabel = (identity: Identity): QualifiedName => domainName(identity, 'managed-by', 'endpointslice');
export const skipMirrorLabel = (identity: Identity): QualifiedName => domainName(identity, 'skip-mirror', 'endpointslice');
/** The value of `managed-by`: `endpointslice-controller` in the identity's group suffix. */
export const sliceManager = (identity: Identity, name: string): string => groupName(identity, name);

export function familiesOf({ spec }: ServiceObject): AddressType[] {
  const families = (spec?.ipFamilies ?? []).filter((family): family is AddressType => family === 'IPv4' || family === 'IPv6');
  if (families.length > 0) return families;
  return [isIP(spec?.clusterIP ?? '') === 6 ? 'IPv6' : 'IPv4'];
}

const isFamily = (address: string, family: AddressType): boolean => isIP(address) === (family === 'IPv4' ? 4 : 6);

/** The ports of a service on one pod. A named port that the pod does not have is left out. */
function resolvePorts(service: ServiceObject, pod: SlimPod): ResolvedPort[] {
  const portsByName = new Map<string, number>();
  for (const { name, protocol, port } of pod.spec.ports ?? [])
    if (!portsByName.has(`${protocol}/${name}`)) portsByName.set(`${protocol}/${name}`, port);
  return (service.spec?.ports ?? []).flatMap(({ name = '', protocol = 'TCP', port, targetPort, appProtocol }) => {
    const target =
      typeof targetPort === 'string'
        ? portsByName.get(`${protocol}/${targetPort}`)
        : targetPort === undefined || targetPort === 0
          ? port
          : targetPort;
    return target === undefined ? [] : [{ name, protocol, port: target, ...(appProtocol !== undefined && { appProtocol }) }];
  });
}
/** The ports of a service on each pod: the same for all, unless it names ports of the pods. */
function portsOn(service: ServiceObject): (pod: SlimPod) => ResolvedPort[] {
  const names = (service.spec?.ports ?? []).some(({ targetPort }) => typeof targetPort === 'string');
  if (names) return (pod) => resolvePorts(service, pod);
  let same: ResolvedPort[] | undefined;
  return (pod) => {
    same ??= resolvePorts(service, pod);
    return same;
  };
}

/** The endpoints of a service in one family, of the pods that it selects. `withTerminating`: also terminating pods. */
export async function endpointsOf(
  service: ServiceObject,
  pods: readonly SlimPod[],
  family: AddressType,
  withTerminating: boolean,
): Promise<ServiceEndpoint[]> {
  const slices = new Slices();
  const portsOf = portsOn(service);
  const { name: serviceName, namespace: serviceNamespace } = service.metadata;
  const tolerant = service.spec?.publishNotReadyAddresses === true;
  const serviceEndpoints: ServiceEndpoint[] = [];
  for (const pod of pods) {
    if (slices.due) await slices.pause();
    const { metadata, spec, status } = pod;
    const address = (status.ips ?? []).find((ip) => isFamily(ip, family));
    if (address === undefined || status.phase === 'Failed' || status.phase === 'Succeeded') continue;
    const terminating = metadata.deletionTimestamp !== undefined;
    if (terminating && !withTerminating && !tolerant) continue;
    const { name = '', namespace = '', uid = '' } = metadata;
    const hasName = (spec.hostname ?? '') !== '' && spec.subdomain === serviceName && namespace === serviceNamespace;
    serviceEndpoints.push({
      address,
      ports: portsOf(pod),
      ready: tolerant || (status.ready && !terminating),
      serving: status.ready,
      terminating,
      targetRef: { kind: 'Pod', namespace, name, uid },
      ...(spec.nodeName !== undefined && spec.nodeName !== '' && { nodeName: spec.nodeName }),
      ...(hasName && { hostname: spec.hostname as string }),
    });
  }
  return serviceEndpoints;
}

const portKeys = new WeakMap<readonly ResolvedPort[], string>();
/** A text that is the same for the same ports. Endpoints of a service mostly share them. */
export function portsKey(ports: readonly ResolvedPort[]): string {
  let key = portKeys.get(ports);
  if (key === undefined) {
    key = JSON.stringify([...ports].map(({ name, protocol, port, appProtocol }) => [name, protocol, port, appProtocol ?? '']).sort());
    portKeys.set(ports, key);
  }
  return key;
}
