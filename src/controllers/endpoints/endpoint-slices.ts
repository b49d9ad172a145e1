/** EndpointSlices of services that select pods. */
import { splitKey } from '../../client/informer.ts';
import type { ApiObject } from '../../kinds/kind.ts';
import { domainName } from '../../meta/identity.ts';
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
  serviceNameLabel,
  sliceManager,
} from './service.ts';
import type { EndpointGroup, Slice, SliceEndpoint } from './slices.ts';
import { writeSlices } from './write-slices.ts';

export const endpointSliceController: Controller = {
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
    const known = informers.of<Slice>(slices, { labelSelector: `${managedByLabel(identity)}=${manager}` });
    const nodes = informers.of(refs.nodes, { metadataOnly: true });
    const zoneOf = (node: string | undefined): string | undefined =>
      node === undefined ? undefined : nodes.get('', node)?.metadata.labels?.[zoneLabel];
    const followed = followServices(context, (key) => work.add(key));
    const work = queue(
      async (key) => {
        const { namespace, name } = splitKey(key);
        const service = followed.services.get(namespace, name);
        // Slices of a service that is gone go with it.
        if (service === undefined || service.metadata.deletionTimestamp !== undefined || !hasSelector(service)) return;
        const pods = [...(await followed.pods(namespace))];
        const groups = familiesOf(service).flatMap((family) => groupsOf(family, endpointsOf(service, pods, family, true), zoneOf));
        const existing = [...known.list(namespace)].filter((slice) => slice.metadata.labels?.[nameLabel] === name);
        const { [headless]: _before, ...own } = service.metadata.labels ?? {};
        const labels = isHeadless(service) ? { ...own, [headless]: '' } : own;
        const owner = { ...service, kind: 'Service' } as ApiObject & { kind: string };
        await writeSlices({ identity, client, slices, owner, serviceName: name, manager, labels }, existing, groups);
      },
      { after: [followed.services.synced, known.synced, nodes.synced] },
    );
    // What is taken away or changed by others is put right.
    known.onChange(({ type, object }) => {
      const service = object.metadata.labels?.[nameLabel];
      if (type !== 'added' && service !== undefined) work.add(`${object.metadata.namespace}/${service}`);
    });
  },
};

function groupsOf(
  addressType: AddressType,
  endpoints: readonly ServiceEndpoint[],
  zoneOf: (node?: string) => string | undefined,
): EndpointGroup[] {
  const groups = new Map<string, { ports: ServiceEndpoint['ports']; endpoints: SliceEndpoint[] }>();
  for (const endpoint of endpoints) {
    const key = portsKey(endpoint.ports);
    const group = groups.get(key) ?? { ports: endpoint.ports, endpoints: [] };
    group.endpoints.push(shown(endpoint, zoneOf(endpoint.nodeName)));
    groups.set(key, group);
  }
  if (groups.size === 0) return [{ addressType, ports: [], endpoints: [] }];
  return [...groups.values()].map(({ ports, endpoints: all }) => ({ addressType, ports, endpoints: all }));
}

function shown(
  { address, ready, serving, terminating, hostname, nodeName, targetRef }: ServiceEndpoint,
  zone: string | undefined,
): SliceEndpoint {
  return {
    addresses: [address],
    conditions: { ready, serving, terminating },
    ...(hostname !== undefined && { hostname }),
    targetRef,
    ...(nodeName !== undefined && { nodeName }),
    ...(zone !== undefined && { zone }),
  };
}
