/** Mirrors manually created Endpoints, of services without a selector, into EndpointSlices. */

import { isIP } from 'node:net';
import { keyOf, splitKey } from '@plat-dev/client/informer';
import type { EndpointAddress, EndpointSubset, Endpoints } from '@plat-dev/kinds/core/schema/service';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { without } from '@plat-dev/lib/own';
import { inSlices, Slices, type Work } from '@plat-dev/lib/slices';
import { clientSideApply } from '@plat-dev/meta/identity';
import { builtin, type Controller, refs } from '../runtime/controller.ts';
import {
  type AddressType,
  hasSelector,
  managedByLabel,
  type ServiceObject,
  serviceNameLabel,
  skipMirrorLabel,
  sliceManager,
} from './service.ts';
import type { EndpointGroup, Slice, SliceEndpoint } from './slices.ts';
import { triggerTimeAnnotation } from './trigger-times.ts';
import { writeSlices } from './write-slices.ts';

/** Most addresses that are mirrored of one subset. */
const SUBSET_LIMIT = 1000;

export const endpointSliceMirroring: Controller = {
  name: 'endpointslicemirroring',
  needs: { group: 'discovery', plural: 'endpointslices' },
  account: 'endpointslicemirroring-controller',
  start({ queue, client, identity, informers }) {
    const slices = builtin(identity, 'discovery', 'v1', 'endpointslices');
    const manager = sliceManager(identity, 'endpointslicemirroring-controller');
    const nameLabel = serviceNameLabel(identity);
    const skip = skipMirrorLabel(identity);
    const triggerTime = triggerTimeAnnotation(identity);
    const lastApplied = clientSideApply.annotation;
    const endpoints = informers.of<Endpoints>(refs.endpoints);
    const services = informers.of<ServiceObject>(refs.services);
    const sliceInformer = informers.of<Slice>(slices, { labelSelector: `${managedByLabel(identity)}=${manager}` });
    const work = queue(
      async (key) => {
        const { namespace, name } = splitKey(key);
        const source = endpoints.get(namespace, name);
        const service = services.get(namespace, name);
        const existing = [...sliceInformer.list(namespace)].filter((slice) => slice.metadata.labels?.[nameLabel] === name);
        const mirrored =
          source !== undefined && service !== undefined && !hasSelector(service) && source.metadata.labels?.[skip] !== 'true';
        if (!mirrored && existing.length === 0) return;
        const groups = mirrored ? await inSlices(groupsOf(source.subsets ?? []), new Slices()) : [];
        const { metadata } = source ?? { metadata: { name, namespace } };
        const owner = { kind: 'Endpoints', metadata } as ApiObject & { kind: string };
        const labels = metadata.labels ?? {};
        const annotations = without(without(metadata.annotations ?? {}, triggerTime), lastApplied);
        const all = { identity, client, slices, owner, serviceName: name, manager, labels, annotations };
        await writeSlices(all, existing, groups);
      },
      { after: [endpoints.synced, services.synced, sliceInformer.synced] },
    );
    endpoints.onChange(({ object }) => work.add(keyOf(object)));
    services.onChange(({ object }) => work.add(keyOf(object)));
    sliceInformer.onChange(({ type, object }) => {
      const name = object.metadata.labels?.[nameLabel];
      if (type !== 'added' && name !== undefined) work.add(`${object.metadata.namespace}/${name}`);
    });
  },
};

/** Slices per family and set of ports; subsets with the same ports are joined. */
function* groupsOf(subsets: readonly EndpointSubset[]): Work<EndpointGroup[]> {
  const groups = new Map<string, { addressType: AddressType; ports: EndpointGroup['ports']; endpoints: SliceEndpoint[] }>();
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    const all = [
      ...addresses.map((address) => ({ address, ready: true })),
      ...notReadyAddresses.map((address) => ({ address, ready: false })),
    ].slice(0, SUBSET_LIMIT);
    const slicePorts = ports.map(({ name = '', port, protocol = 'TCP', appProtocol }) => ({
      name,
      protocol,
      port,
      ...(appProtocol !== undefined && { appProtocol }),
    }));
    const portsText = JSON.stringify(slicePorts);
    for (const { address, ready } of all) {
      yield;
      const version = isIP(address.ip);
      if (version === 0) continue;
      const addressType = version === 6 ? 'IPv6' : 'IPv4';
      const key = `${addressType} ${portsText}`;
      const group = groups.get(key) ?? { addressType, ports: slicePorts, endpoints: [] };
      group.endpoints.push(endpointOf(address, ready));
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}

const endpointOf = ({ ip, hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): SliceEndpoint => ({
  addresses: [ip],
  conditions: { ready },
  ...(hostname !== undefined && { hostname }),
  ...(targetRef !== undefined && { targetRef }),
  ...(nodeName !== undefined && { nodeName }),
});
