/**
 * The topology of an endpoint. Version 1beta1 has one map of labels; version 1 has fields for the node and the zone, and
 * keeps the rest of the map in a field that its clients can read but not write.
 */

import { equal } from '@plat-dev/lib/equal';
import { domainName, type Identity, type QualifiedName } from '@plat-dev/meta/identity';
import { nameIsSubdomain } from '@plat-dev/meta/names';
import type * as v1 from './schema/v1.ts';
import type * as v1beta1 from './schema/v1beta1.ts';

const zoneLabel = (identity: Identity): QualifiedName => domainName(identity, 'zone', 'topology');
const nodeLabel = (identity: Identity): QualifiedName => domainName(identity, 'hostname');

export function fromVersion1beta1(slice: v1beta1.EndpointSlice, identity: Identity): v1.EndpointSlice {
  const endpoints = slice.endpoints?.map((endpoint) => {
    const { topology, ...rest } = endpoint;
    if (topology === undefined) return rest;
    const { [zoneLabel(identity)]: zone, ...others } = topology;
    // The name of the node is restored from its field.
    if (rest.nodeName !== undefined && others[nodeLabel(identity)] === rest.nodeName) delete others[nodeLabel(identity)];
    return {
      ...rest,
      ...(Object.keys(others).length > 0 && { deprecatedTopology: others }),
      ...(zone !== undefined && { zone }),
    };
  });
  return { ...slice, ...(endpoints && { endpoints }) };
}

export function toVersion1beta1(slice: v1.EndpointSlice, identity: Identity): v1beta1.EndpointSlice {
  const endpoints = slice.endpoints?.map((endpoint) => {
    const { zone, deprecatedTopology, ...rest } = endpoint;
    const topology = { ...deprecatedTopology };
    if (zone !== undefined) topology[zoneLabel(identity)] = zone;
    // Labels of version 1beta1 may name another host than the node.
    if (rest.nodeName !== undefined) topology[nodeLabel(identity)] ||= rest.nodeName;
    return Object.keys(topology).length === 0 ? rest : { ...rest, topology };
  });
  return { ...slice, ...(endpoints && { endpoints }) };
}

/** Clients of version 1 cannot write the old labels; a node name that they had is kept. */
export function dropTopology(slice: v1.EndpointSlice, old: v1.EndpointSlice | undefined, identity: Identity): void {
  if (old !== undefined && equal(old.endpoints, slice.endpoints)) return;
  const key = nodeLabel(identity);
  const oldNodes = new Set((old?.endpoints ?? []).map(({ deprecatedTopology }) => deprecatedTopology?.[key] || undefined));
  for (const endpoint of slice.endpoints ?? []) {
    const node = endpoint.deprecatedTopology?.[key];
    if (endpoint.nodeName === undefined && node !== undefined && oldNodes.has(node) && nameIsSubdomain(node).length === 0)
      endpoint.nodeName = node;
    delete endpoint.deprecatedTopology;
  }
}
