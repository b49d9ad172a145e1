/**
 * Reconciles the EndpointSlices of a service with as few writes as possible: an
 * endpoint stays in its slice, new ones fill existing slices, and only the remaining ones make new slices.
 */
import type { Endpoint, EndpointPort, EndpointSlice } from '@plat-dev/kinds/discovery/schema/v1';
import type { Part, Wire } from '@plat-dev/kinds/wire';
import { equal } from '@plat-dev/lib/equal';
import type { Work } from '@plat-dev/lib/slices';
import type { AddressType } from './service.ts';

export type SliceEndpoint = Part<Endpoint>;
type SlicePort = Part<EndpointPort>;
export type Slice = Wire<EndpointSlice>;
/** Endpoints with the same ports. */
export interface EndpointGroup {
  readonly addressType: AddressType;
  readonly ports: readonly SlicePort[];
  readonly endpoints: readonly SliceEndpoint[];
}
export interface SlicePlan {
  readonly create: { addressType: AddressType; ports: SlicePort[]; endpoints: SliceEndpoint[] }[];
  readonly update: Slice[];
  readonly remove: Slice[];
}

/** Maximum endpoints of one slice. */
const CAPACITY = 100;

const identityOf = ({ targetRef, addresses }: SliceEndpoint): string => targetRef?.uid ?? (addresses ?? []).join();
const groupKey = (addressType: string, ports: readonly SlicePort[] | null | undefined): string =>
  `${addressType} ${JSON.stringify([...(ports ?? [])].map((port) => [port.name, port.protocol, port.port, port.appProtocol ?? '']).sort())}`;

/** `metadataOf` returns the wanted metadata of a slice, given the current metadata. */
export function* planSlices(
  existing: readonly Slice[],
  groups: readonly EndpointGroup[],
  metadataOf: (slice: Slice) => Slice['metadata'],
): Work<SlicePlan> {
  const plan: SlicePlan = { create: [], update: [], remove: [] };
  const byKey = new Map<string, Slice[]>();
  for (const slice of existing) {
    const key = groupKey(slice.addressType, slice.ports);
    const sameKey = byKey.get(key);
    if (sameKey === undefined) byKey.set(key, [slice]);
    else sameKey.push(slice);
    yield;
  }
  for (const group of groups) {
    const key = groupKey(group.addressType, group.ports);
    yield* planGroup(plan, byKey.get(key) ?? [], group, metadataOf);
    byKey.delete(key);
  }
  for (const slices of byKey.values()) for (const slice of slices) plan.remove.push(slice);
  return plan;
}

function* planGroup(
  plan: SlicePlan,
  slices: readonly Slice[],
  group: EndpointGroup,
  metadataOf: (slice: Slice) => Slice['metadata'],
): Work<void> {
  const desiredByIdentity = new Map(group.endpoints.map((endpoint) => [identityOf(endpoint), endpoint]));
  yield;
  const keptSlices: { slice: Slice; endpoints: SliceEndpoint[]; isChanged: boolean }[] = [];
  for (const slice of slices) {
    const endpoints: SliceEndpoint[] = [];
    for (const endpoint of slice.endpoints ?? []) {
      const now = desiredByIdentity.get(identityOf(endpoint));
      if (now === undefined) continue;
      desiredByIdentity.delete(identityOf(endpoint));
      endpoints.push(now);
    }
    keptSlices.push({ slice, endpoints, isChanged: !equal(endpoints, slice.endpoints ?? []) });
    yield;
  }
  const newEndpoints = [...desiredByIdentity.values()];
  // Slices that are written anyway are filled first, the fullest of them before the others.
  const order = [...keptSlices].sort((a, b) => Number(b.isChanged) - Number(a.isChanged) || b.endpoints.length - a.endpoints.length);
  for (const { endpoints } of order) endpoints.push(...newEndpoints.splice(0, CAPACITY - endpoints.length));
  // A service without endpoints has one empty slice.
  const emptySlice =
    newEndpoints.length === 0 && keptSlices.every(({ endpoints }) => endpoints.length === 0) ? keptSlices[0]?.slice : undefined;
  for (const { slice, endpoints } of keptSlices) {
    yield;
    if (endpoints.length === 0 && slice !== emptySlice) {
      plan.remove.push(slice);
      continue;
    }
    const metadata = metadataOf(slice);
    if (equal(endpoints, slice.endpoints ?? []) && equal(metadata, slice.metadata)) continue;
    plan.update.push({ ...slice, metadata, endpoints });
  }
  const { addressType } = group;
  while (newEndpoints.length > 0) plan.create.push({ addressType, ports: [...group.ports], endpoints: newEndpoints.splice(0, CAPACITY) });
  if (keptSlices.length === 0 && group.endpoints.length === 0) plan.create.push({ addressType, ports: [...group.ports], endpoints: [] });
}
