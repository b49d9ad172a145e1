/** Validation of network policies. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { cidrContains, parseCIDR } from '@plat-dev/meta/ip';
import { validateLabelSelector } from '@plat-dev/meta/labels';
import { portName, portNumber } from '@plat-dev/meta/names';
import { each } from '../validation/each.ts';
import { report } from '../validation/field-checks.ts';
import { goList } from '../validation/go-list.ts';
import { invalidText } from '../validation/go-text.ts';
import type { IPBlock, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from './schema/network-policy.ts';

const root = Path.of('spec');
const protocols = ['TCP', 'UDP', 'SCTP'];
const policyTypes = ['Ingress', 'Egress'];

export function validateNetworkPolicy({ spec }: NetworkPolicy, errors: FieldErrors): void {
  validateLabelSelector(spec.podSelector, root.child('podSelector'), errors);
  each(spec.ingress, root.child('ingress'), ({ ports, from }, at) => {
    each(ports, at.child('ports'), (port, here) => validatePort(port, here, errors));
    each(from, at.child('from'), (peer, here) => validatePeer(peer, here, errors));
  });
  each(spec.egress, root.child('egress'), ({ ports, to }, at) => {
    each(ports, at.child('ports'), (port, here) => validatePort(port, here, errors));
    each(to, at.child('to'), (peer, here) => validatePeer(peer, here, errors));
  });
  validateTypes(spec.policyTypes ?? [], root.child('policyTypes'), errors);
}

function validateTypes(types: readonly string[], at: Path, errors: FieldErrors): void {
  if (types.length > policyTypes.length) {
    invalidText(errors, at, goList('networking.PolicyType', types), 'may not specify more than two policyTypes');
    return;
  }
  each(types, at, (type, here) => {
    if (!policyTypes.includes(type)) errors.notSupported(here, type, policyTypes);
  });
}

function validatePort({ protocol, port, endPort }: NetworkPolicyPort, at: Path, errors: FieldErrors): void {
  const end = at.child('endPort');
  if (protocol !== undefined && !protocols.includes(protocol)) errors.notSupported(at.child('protocol'), protocol, protocols);
  if (port === undefined) {
    if (endPort !== undefined) errors.invalid(end, endPort, 'may not be specified when `port` is not specified');
  } else if (typeof port === 'number') {
    report(errors, at.child('port'), port, portNumber(port));
    if (endPort === undefined) return;
    // The error shows the value of `port`, as in a stock server.
    if (endPort < port) errors.invalid(end, port, 'must be greater than or equal to `port`');
    report(errors, end, endPort, portNumber(endPort));
  } else {
    if (endPort !== undefined) errors.invalid(end, endPort, 'may not be specified when `port` is non-numeric');
    report(errors, at.child('port'), port, portName(port));
  }
}

function validatePeer({ podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer, at: Path, errors: FieldErrors): void {
  validateLabelSelector(podSelector, at.child('podSelector'), errors);
  validateLabelSelector(namespaceSelector, at.child('namespaceSelector'), errors);
  const selects = podSelector !== undefined || namespaceSelector !== undefined;
  if (ipBlock !== undefined) validateBlock(ipBlock, at.child('ipBlock'), errors);
  else if (!selects) errors.required(at, 'must specify a peer');
  if (ipBlock !== undefined && selects) errors.forbidden(at, 'may not specify both ipBlock and another peer');
}

function validateBlock({ cidr, except }: IPBlock, at: Path, errors: FieldErrors): void {
  const range = parseCIDR(cidr);
  if (cidr === '') errors.required(at.child('cidr'));
  else if (range === undefined) errors.invalid(at.child('cidr'), cidr, 'not a valid CIDR');
  if (range === undefined) return;
  each(except, at.child('except'), (text, here) => {
    const hole = parseCIDR(text);
    if (hole === undefined) errors.invalid(here, text, 'not a valid CIDR');
    else if (!cidrContains(range, hole.first) || range.bits > hole.bits) errors.invalid(here, text, 'must be a strict subset of `cidr`');
  });
}
