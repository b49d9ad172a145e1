/** Validation of endpoint slices. */

import { equal } from '@plat-dev/lib/equal';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { domainName } from '@plat-dev/meta/identity';
import { canonicalIP, ipFamily, nonSpecialIP, validIPv4, validIPv6 } from '@plat-dev/meta/ip';
import { validateLabels } from '@plat-dev/meta/labels';
import { fullyQualifiedDomainName, labelValue, nameIsSubdomain } from '@plat-dev/meta/names';
import type { KindEnv } from '../kind.ts';
import { address, addressWarnings } from '../validation/addresses.ts';
import { each } from '../validation/each.ts';
import { immutable, label, qualified, report, word } from '../validation/field-checks.ts';
import { metadataAgain } from '../validation/repeated-metadata.ts';
import type { Endpoint, EndpointPort, EndpointSlice } from './schema/v1.ts';

const addressTypes = ['FQDN', 'IPv4', 'IPv6'];
const protocols = ['SCTP', 'TCP', 'UDP'];
const MAX_ENDPOINTS = 1000;
const MAX_ADDRESSES = 100;
const MAX_PORTS = 20_000;
const MAX_TOPOLOGY_LABELS = 16;
const MAX_HINTS = 8;

const addressType = Path.of('addressType');

export function validateSlice(slice: EndpointSlice, errors: FieldErrors, env: KindEnv): void {
  word(slice.addressType, addressTypes, addressType, errors);
  validateEndpoints(slice, Path.of('endpoints'), errors, env);
  validatePorts(slice.ports ?? [], Path.of('ports'), errors);
}

export function validateSliceUpdate(slice: EndpointSlice, old: EndpointSlice, errors: FieldErrors, env: KindEnv): void {
  metadataAgain(slice, { namespaced: true }, errors, env);
  // Addresses that did not change may stay, whatever later rules say.
  if (env.since('1.33') && equal(slice.endpoints ?? [], old.endpoints ?? [])) validateSlice({ ...slice, endpoints: [] }, errors, env);
  else validateSlice(slice, errors, env);
  immutable(slice.addressType, old.addressType, addressType, errors);
}

function validateEndpoints({ endpoints = [], addressType }: EndpointSlice, at: Path, errors: FieldErrors, env: KindEnv): void {
  if (endpoints.length > MAX_ENDPOINTS) errors.tooMany(at, endpoints.length, MAX_ENDPOINTS);
  else each(endpoints, at, (endpoint, here) => validateEndpoint(endpoint, addressType, here, errors, env));
}

function validateEndpoint(endpoint: Endpoint, type: string, at: Path, errors: FieldErrors, env: KindEnv): void {
  const { addresses = [], nodeName, hostname, deprecatedTopology = {}, hints } = endpoint;
  const list = at.child('addresses');
  if (addresses.length === 0) errors.required(list, 'must contain at least 1 address');
  else if (addresses.length > MAX_ADDRESSES) errors.tooMany(list, addresses.length, MAX_ADDRESSES);
  each(addresses, list, (text, here) => {
    if (env.since('1.33') && type !== 'FQDN') validateIP(text, type, list, here, errors, env);
    else validateAddress(text, type, here, errors);
  });
  if (nodeName !== undefined) report(errors, at.child('nodeName'), nodeName, nameIsSubdomain(nodeName));
  const topology = at.child('deprecatedTopology');
  const labels = Object.keys(deprecatedTopology).length;
  if (labels > MAX_TOPOLOGY_LABELS) errors.tooMany(topology, labels, MAX_TOPOLOGY_LABELS);
  validateLabels(deprecatedTopology, topology, errors);
  if (hostname !== undefined) label(hostname, at.child('hostname'), errors);
  if (hints === undefined) return;
  validateHints(hints.forZones ?? [], at.child('hints').child('forZones'), errors, labelValue);
  validateHints(hints.forNodes ?? [], at.child('hints').child('forNodes'), errors, nameIsSubdomain);
}

function validateAddress(address: string, type: string, at: Path, errors: FieldErrors): void {
  if (type === 'FQDN') report(errors, at, address, fullyQualifiedDomainName(address));
  if (type !== 'IPv4' && type !== 'IPv6') return;
  report(errors, at, address, type === 'IPv4' ? validIPv4(address) : validIPv6(address));
  report(errors, at, address, nonSpecialIP(address));
}

/** The rules since 1.33. That of the family names the list, as stock servers do. */
function validateIP(text: string, type: string, list: Path, at: Path, errors: FieldErrors, env: KindEnv): void {
  if (type === 'IPv4' ? !address(text, at, errors, env) : type !== 'IPv6' || !canonical(text, at, errors)) return;
  if (ipFamily(text) !== type) errors.invalid(list, text, `must be an ${type} address`);
  report(errors, at, text, nonSpecialIP(text));
}
function canonical(text: string, at: Path, errors: FieldErrors): boolean {
  const problems = canonicalIP(text);
  report(errors, at, text, problems);
  return problems.length === 0;
}

/** Zones or nodes that should use an endpoint. */
function validateHints(
  hints: readonly { readonly name: string }[],
  at: Path,
  errors: FieldErrors,
  nameRule: (name: string) => string[],
): void {
  if (hints.length > MAX_HINTS) {
    errors.tooMany(at, hints.length, MAX_HINTS);
    return;
  }
  const names = new Set<string>();
  each(hints, at, ({ name }, here) => {
    if (names.has(name)) errors.duplicate(here.child('name'), name);
    names.add(name);
    report(errors, here.child('name'), name, nameRule(name));
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

/** The controllers of slices write canonical addresses. */
const ownWriters = ['endpointslice-controller', 'endpointslicemirroring-controller'];

export function sliceWarnings(slice: EndpointSlice, old: EndpointSlice | undefined, env: KindEnv): string[] {
  const deprecated = old === undefined && slice.addressType === 'FQDN' && env.since('1.27');
  const warnings = deprecated ? ['spec.addressType: FQDN endpoints are deprecated'] : [];
  const writer = slice.metadata.labels?.[domainName(env.identity, 'managed-by', 'endpointslice')] ?? '';
  if (!env.since('1.33') || ownWriters.some((name) => writer.startsWith(name))) return warnings;
  each(slice.endpoints, Path.of('endpoints'), ({ addresses }, at) => {
    each(addresses, at.child('addresses'), (text, here) => warnings.push(...addressWarnings(text, here, env)));
  });
  return warnings;
}
