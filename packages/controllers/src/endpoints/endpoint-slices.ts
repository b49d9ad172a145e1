/** EndpointSlices of services that select pods. */
import { keyOf, splitKey } from '@plat-dev/client/informer';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { domainName } from '@plat-dev/meta/identity';
import { builtin, type Controller, refs } from '../runtime/controller.ts';
import { followServices } from './follow.ts';
import {
  type AddressType,
  endpointsOf,
  familiesOf,
  hasSelector,
  headlessLabel,
  isHeadless,
  managedByLabel,
  portsKey,
  type ServiceEndpoint,
  type ServiceObject,
  serviceNameLabel,
  sliceManager,
} from './service.ts';
import type { EndpointGroup, Slice, SliceEndpoint } from './slices.ts';
import { asksForHints, zoneHints } from './topology-hints.ts';
import { TriggerTimes, triggerTimeAnnotation, withTriggerTime } from './trigger-times.ts';
import { writeSlices } from './write-slices.ts';

export interface SliceFeatures {
  /** EndpointSliceTerminatingCondition: also pods that are on their way out, with what they still can do. */
  readonly terminating: boolean;
  /** TopologyAwareHints: zones that should use an endpoint, for services that ask for it. */
  readonly hints: boolean;
}

export const endpointSliceController = (features: SliceFeatures): Controller => ({
  name: 'endpointslice',
  needs: { group: 'discovery', plural: 'endpointslices' },
  account: 'endpointslice-controller',
  start(context) {
    const { queue, client, identity, informers } = context;
    const slices = builtin(identity, 'discovery', 'v1', 'endpointslices');
    const manager = sliceManager(identity, 'endpointslice-controller');
    const nameLabel = serviceNameLabel(identity);
    const zoneLabel = domainName(identity, 'zone', 'topology');
    const headless = headlessLabel(identity);
    const triggerTimes = new TriggerTimes();
    const sliceInformer = informers.of<Slice>(slices, { labelSelector: `${managedByLabel(identity)}=${manager}` });
    const nodes = informers.of(refs.nodes, { metadataOnly: true });
    const zoneOf = (node: string | undefined): string | undefined =>
      node === undefined ? undefined : nodes.get('', node)?.metadata.labels?.[zoneLabel];
    const zones = features.hints
      ? zoneHints(context, () => {
          for (const service of followed.services.list()) if (asksForHints(identity, service)) work.add(keyOf(service));
        })
      : undefined;
    const followed = followServices(context, (key) => work.add(key));
    const work = queue(
      async (key) => {
        const { namespace, name } = splitKey(key);
        const service = followed.services.get(namespace, name);
        if (service === undefined) triggerTimes.forget(key);
        // Slices of a service that is gone go with it.
        if (service === undefined || service.metadata.deletionTimestamp !== undefined || !hasSelector(service)) return;
        const pods = await followed.podsOf(service);
        const triggerTime = triggerTimes.observe(key, service, pods);
        const existing = [...sliceInformer.list(namespace)].filter((slice) => slice.metadata.labels?.[nameLabel] === name);
        const groups: EndpointGroup[] = [];
        for (const family of familiesOf(service)) {
          const endpoints = await endpointsOf(service, pods, family, features.terminating);
          const hints = zones?.hintsFor(service, endpoints, (one) => zoneOf(one.nodeName), hintedIn(existing, family));
          const byTopology = zones !== undefined && asksForHints(identity, service);
          const show = (one: ServiceEndpoint): SliceEndpoint => {
            const zone = zoneOf(one.nodeName);
            const hinted = hints?.get(one.targetRef.uid);
            const own = byTopology ? zoneHint(hinted) : nearHints(service, one, zone);
            return endpointOf(one, zone, features.terminating, own);
          };
          groups.push(...groupsOf(family, endpoints, show));
        }
        const { [headless]: _before, ...own } = service.metadata.labels ?? {};
        const labels = isHeadless(service) ? { ...own, [headless]: '' } : own;
        const owner = { ...service, kind: 'Service' } as ApiObject & { kind: string };
        const annotate = (annotations: Slice['metadata']['annotations']) =>
          withTriggerTime(annotations, triggerTimeAnnotation(identity), triggerTime);
        await writeSlices({ identity, client, slices, owner, serviceName: name, manager, labels, annotate }, existing, groups);
      },
      { after: [followed.services.synced, sliceInformer.synced, nodes.synced] },
    );
    // Slices that others deleted or changed are repaired.
    sliceInformer.onChange(({ type, object }) => {
      const service = object.metadata.labels?.[nameLabel];
      if (type !== 'added' && service !== undefined) work.add(`${object.metadata.namespace}/${service}`);
    });
  },
});

function groupsOf(
  addressType: AddressType,
  endpoints: readonly ServiceEndpoint[],
  show: (endpoint: ServiceEndpoint) => SliceEndpoint,
): EndpointGroup[] {
  const groups = new Map<string, { ports: ServiceEndpoint['ports']; endpoints: SliceEndpoint[] }>();
  for (const endpoint of endpoints) {
    const key = portsKey(endpoint.ports);
    const group = groups.get(key) ?? { ports: endpoint.ports, endpoints: [] };
    group.endpoints.push(show(endpoint));
    groups.set(key, group);
  }
  if (groups.size === 0) return [{ addressType, ports: [], endpoints: [] }];
  return [...groups.values()].map(({ ports, endpoints: all }) => ({ addressType, ports, endpoints: all }));
}

function endpointOf(
  { address, ready, serving, terminating, hostname, nodeName, targetRef }: ServiceEndpoint,
  zone: string | undefined,
  withTerminating: boolean,
  hints: SliceEndpoint['hints'],
): SliceEndpoint {
  return {
    addresses: [address],
    conditions: withTerminating ? { ready, serving, terminating } : { ready },
    ...(hostname !== undefined && { hostname }),
    targetRef,
    ...(nodeName !== undefined && { nodeName }),
    ...(zone !== undefined && { zone }),
    ...(hints !== undefined && { hints }),
  };
}

const zoneHint = (zone: string | undefined): SliceEndpoint['hints'] => (zone === undefined ? undefined : { forZones: [{ name: zone }] });

/** `spec.trafficDistribution`: endpoints that are ready are for clients of their own zone, or of their own node. */
function nearHints({ spec }: ServiceObject, { ready, nodeName }: ServiceEndpoint, zone: string | undefined): SliceEndpoint['hints'] {
  const distribution = spec?.trafficDistribution ?? '';
  if (!ready || !distributions.has(distribution)) return undefined;
  const forNodes = distribution === 'PreferSameNode' && nodeName !== undefined ? [{ name: nodeName }] : undefined;
  const forZone = zoneHint(zone);
  return forZone === undefined && forNodes === undefined ? undefined : { ...forZone, ...(forNodes && { forNodes }) };
}
const distributions: ReadonlySet<string> = new Set(['PreferClose', 'PreferSameZone', 'PreferSameNode']);

/** The zones that endpoints are hinted for now, by the uid of their pod. */
function hintedIn(slices: readonly Slice[], family: AddressType): ReadonlyMap<string, string> {
  const hinted = new Map<string, string>();
  for (const { addressType, endpoints } of slices) {
    if (addressType !== family) continue;
    for (const { targetRef, hints } of endpoints ?? []) {
      const zone = hints?.forZones?.[0]?.name;
      if (targetRef?.uid !== undefined && zone !== undefined) hinted.set(targetRef.uid, zone);
    }
  }
  return hinted;
}
