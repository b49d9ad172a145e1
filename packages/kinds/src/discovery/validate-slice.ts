/** Validation of endpoint slices. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { nonSpecialIP, validIPv4, validIPv6 } from '@plat-dev/meta/ip';
import { validateLabels } from '@plat-dev/meta/labels';
import { fullyQualifiedDomainName, labelValue, nameIsSubdomain } from '@plat-dev/meta/names';
import type { KindEnv } from '../kind.ts';
import { each } from '../validation/each.ts';
import { immutable, label, qualified, report, word } from '../validation/field-checks.ts';
import { metadataAgain } from '../validation/repeated-metadata.ts';
import type { Endpoint, EndpointHints, EndpointPort, EndpointSlice } from './schema/v1.ts';

const addressTypes = ['FQDN', 'IPv4', 'IPv6'];
const protocols = ['SCTP', 'TCP', 'UDP'];
const MAX_ENDPOINTS = 1000;
const MAX_ADDRESSES = 100;
const MAX_PORTS = 20_000;
const MAX_TOPOLOGY_LABELS = 16;
const MAX_ZONE_HINTS = 8;

const addressType = Path.of('addressType');

export function validateSlice(slice: EndpointSlice, errors: FieldErrors): void {
  word(slice.addressType, addressTypes, addressType, errors);
  validateEndpoints(slice, Path.of('endpoints'), errors);
  validatePorts(slice.ports ?? [], Path.of('ports'), errors);
}

export function validateSliceUpdate(slice: EndpointSlice, old: EndpointSlice, errors: FieldErrors, env: KindEnv): void {
  metadataAgain(slice, { namespaced: true }, errors, env);
  validateSlice(slice, errors);
  immutable(slice.addressType, old.addressType, addressType, errors);
}

function validateEndpoints({ endpoints = [], addressType }: EndpointSlice, at: Path, errors: FieldErrors): void {
  if (endpoints.length > MAX_ENDPOINTS) errors.tooMany(at, endpoints.length, MAX_ENDPOINTS);
  else each(endpoints, at, (endpoint, here) => validateEndpoint(endpoint, addressType, here, errors));
}

function validateEndpoint(endpoint: Endpoint, type: string, at: Path, errors: FieldErrors): void {
  const { addresses = [], nodeName, hostname, deprecatedTopology = {}, hints } = endpoint;
  const list = at.child('addresses');
  if (addresses.length === 0) errors.required(list, 'must contain at least 1 address');
  else if (addresses.length > MAX_ADDRESSES) errors.tooMany(list, addresses.length, MAX_ADDRESSES);
  each(addresses, list, (address, here) => validateAddress(address, type, here, errors));
  if (nodeName !== undefined) report(errors, at.child('nodeName'), nodeName, nameIsSubdomain(nodeName));
  const topology = at.child('deprecatedTopology');
  const labels = Object.keys(deprecatedTopology).length;
  if (labels > MAX_TOPOLOGY_LABELS) errors.tooMany(topology, labels, MAX_TOPOLOGY_LABELS);
  validateLabels(deprecatedTopology, topology, errors);
  if (hostname !== undefined) label(hostname, at.child('hostname'), errors);
  if (hints !== undefined) validateHints(hints, at.child('hints').child('forZones'), errors);
}

function validateAddress(address: string, type: string, at: Path, errors: FieldErrors): void {
  if (type === 'FQDN') report(errors, at, address, fullyQualifiedDomainName(address));
  if (type !== 'IPv4' && type !== 'IPv6') return;
  report(errors, at, address, type === 'IPv4' ? validIPv4(address) : validIPv6(address));
  report(errors, at, address, nonSpecialIP(address));
}

function validateHints({ forZones = [] }: EndpointHints, at: Path, errors: FieldErrors): void {
  if (forZones.length > MAX_ZONE_HINTS) {
    errors.tooMany(at, forZones.length, MAX_ZONE_HINTS);
    return;
  }
  const zoneNames = new Set<string>();
  each(forZones, at, ({ name }, here) => {
    if (zoneNames.has(name)) errors.duplicate(here.child('name'), name);
    zoneNames.add(name);
    report(errors, here.child('name'), name, labelValue(name));
  });
}

function validatePorts(ports: readonly EndpointPort[], at: Path, errors: FieldErrors): void {
  if (ports.length > MAX_PORTS) {
    errors.tooMany(at, ports.length, MAX_PORTS);
    return;
  }
  const portNames = new Set<string>();
  each(ports, at, ({ name = '', protocol = '', appProtocol }, here) => {
    if (name !== '') label(name, here.child('name'), errors);
    if (portNames.has(name)) errors.duplicate(here.child('name'), name);
    portNames.add(name);
    if (!protocols.includes(protocol)) errors.notSupported(here.child('protocol'), protocol, protocols);
    if (appProtocol !== undefined) qualified(appProtocol, here.child('appProtocol'), errors);
  });
}
