/** Validation of network policies. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { cidrContains, parseCIDR, readCIDR } from '@plat-dev/meta/ip';
import { validateLabelSelector } from '@plat-dev/meta/labels';
import { portName, portNumber } from '@plat-dev/meta/names';
import type { KindEnv } from '../kind.ts';
import { range, rangeWarnings } from '../validation/addresses.ts';
import { each } from '../validation/each.ts';
import { report } from '../validation/field-checks.ts';
import { goList } from '../validation/go-list.ts';
import { invalidText } from '../validation/go-text.ts';
import type { IPBlock, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from './schema/network-policy.ts';

const root = Path.of('spec');
const protocols = ['TCP', 'UDP', 'SCTP'];
const policyTypes = ['Ingress', 'Egress'];

/** Rules of the ranges: releases from 1.33 on keep what the stored policy has. */
interface Ranges {
  readonly env: KindEnv;
  readonly stored: readonly string[];
}
const peersOf = ({ spec }: NetworkPolicy): NetworkPolicyPeer[] => [
  ...(spec.ingress ?? []).flatMap(({ from = [] }) => from),
  ...(spec.egress ?? []).flatMap(({ to = [] }) => to),
];

export function validateNetworkPolicy(policy: NetworkPolicy, errors: FieldErrors, env: KindEnv, old?: NetworkPolicy): void {
  const { spec } = policy;
  const stored = old === undefined ? [] : peersOf(old).flatMap(({ ipBlock }) => [ipBlock?.cidr ?? '', ...(ipBlock?.except ?? [])]);
  const ranges: Ranges = { env, stored };
  validateLabelSelector(spec.podSelector, root.child('podSelector'), errors);
  each(spec.ingress, root.child('ingress'), ({ ports, from }, at) => {
    each(ports, at.child('ports'), (port, here) => validatePort(port, here, errors));
    each(from, at.child('from'), (peer, here) => validatePeer(peer, here, errors, ranges));
  });
  each(spec.egress, root.child('egress'), ({ ports, to }, at) => {
    each(ports, at.child('ports'), (port, here) => validatePort(port, here, errors));
    each(to, at.child('to'), (peer, here) => validatePeer(peer, here, errors, ranges));
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

function validatePeer({ podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer, at: Path, errors: FieldErrors, ranges: Ranges): void {
  validateLabelSelector(podSelector, at.child('podSelector'), errors);
  validateLabelSelector(namespaceSelector, at.child('namespaceSelector'), errors);
  const selects = podSelector !== undefined || namespaceSelector !== undefined;
  if (ipBlock !== undefined) validateBlock(ipBlock, at.child('ipBlock'), errors, ranges);
  else if (!selects) errors.required(at, 'must specify a peer');
  if (ipBlock !== undefined && selects) errors.forbidden(at, 'may not specify both ipBlock and another peer');
}

const invalidRange = 'not a valid CIDR';

function validateBlock({ cidr, except }: IPBlock, at: Path, errors: FieldErrors, { env, stored }: Ranges): void {
  if (cidr === '') {
    errors.required(at.child('cidr'));
    return;
  }
  range(cidr, at.child('cidr'), errors, env, { stored, invalidRange });
  const outer = env.since('1.33') ? readCIDR(cidr) : parseCIDR(cidr);
  if (outer === undefined) return;
  each(except, at.child('except'), (text, here) => {
    range(text, here, errors, env, { stored, invalidRange });
    const hole = env.since('1.33') ? readCIDR(text) : parseCIDR(text);
    if (hole === undefined) return;
    // Since 1.33 a hole that is the whole block is none.
    const tooWide = env.since('1.33') ? outer.bits >= hole.bits : outer.bits > hole.bits;
    if (!cidrContains(outer, hole.first) || tooWide) errors.invalid(here, text, 'must be a strict subset of `cidr`');
  });
}

export function networkPolicyWarnings(policy: NetworkPolicy, _old: NetworkPolicy | undefined, env: KindEnv): string[] {
  if (!env.since('1.33')) return [];
  const warnings: string[] = [];
  const peers = (list: readonly NetworkPolicyPeer[] | undefined, at: Path): void =>
    each(list, at, ({ ipBlock }, here) => {
      if (ipBlock === undefined) return;
      const block = here.child('ipBlock');
      warnings.push(...rangeWarnings(ipBlock.cidr, block.child('cidr'), env));
      each(ipBlock.except, block.child('except'), (text, hole) => warnings.push(...rangeWarnings(text, hole, env)));
    });
  each(policy.spec.ingress, root.child('ingress'), ({ from }, at) => peers(from, at.child('from')));
  each(policy.spec.egress, root.child('egress'), ({ to }, at) => peers(to, at.child('to')));
  return warnings;
}
