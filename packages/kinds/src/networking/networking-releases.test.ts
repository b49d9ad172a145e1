/** Rules of networking that came with later releases. */
import type { ApiRelease } from '@plat-dev/lib/version';
import { expect, test } from 'vitest';
import { EndpointsKind } from '../core/endpoints.ts';
import { EndpointSliceKind } from '../discovery/endpoint-slice.ts';
import { create, inRelease, type Loose, update } from '../validation/kinds.testing.ts';
import { IngressKind } from './ingress.ts';
import { NetworkPolicyKind } from './network-policy.ts';

const fields = (errors: readonly string[]): string[] => errors.map((text) => text.split(' | ')[0] as string);
const policy = (cidr: string, except: string[] = []): Loose => ({
  spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr, except } }] }] },
});
const block = 'spec.ingress[0].from[0].ipBlock';

test('blocks of network policies are strict since 1.36, and keep what is stored', () => {
  expect(create(NetworkPolicyKind, policy('10.0.0.1/8'), inRelease('1.32')).errors).toEqual([]);
  expect(fields(create(NetworkPolicyKind, policy('10.0.0.1/8'), inRelease('1.36')).errors)).toEqual([`${block}.cidr`]);
  const stored = create(NetworkPolicyKind, policy('10.0.0.1/8'), inRelease('1.32')).object;
  const changed = update(
    NetworkPolicyKind,
    stored,
    (o) => Object.assign(o.spec, { policyTypes: ['Ingress'], egress: [] }),
    '',
    inRelease('1.36'),
  );
  expect(changed.errors).toEqual([]);
});
test('a hole that is the whole block is refused since 1.33', () => {
  expect(create(NetworkPolicyKind, policy('10.0.0.0/8', ['10.0.0.0/8']), inRelease('1.32')).errors).toEqual([]);
  expect(fields(create(NetworkPolicyKind, policy('10.0.0.0/8', ['10.0.0.0/8']), inRelease('1.33')).errors)).toEqual([`${block}.except[0]`]);
});
test('a network policy has no status since 1.28, and is changed all the same', () => {
  const stored = create(NetworkPolicyKind, policy('10.0.0.0/8'), inRelease('1.28')).object;
  expect(
    update(NetworkPolicyKind, stored, (o) => Object.assign(o.spec, { podSelector: { matchLabels: { a: 'b' } } }), '', inRelease('1.28'))
      .errors,
  ).toEqual([]);
});

const slice = (addressType: string, ...addresses: string[]): Loose => ({ addressType, endpoints: [{ addresses }] });
test('addresses of endpoint slices', () => {
  const errors = (body: Loose, release: ApiRelease): string[] => fields(create(EndpointSliceKind, body, inRelease(release)).errors);
  expect(errors(slice('IPv4', '010.1.1.1'), '1.36')).toEqual(['endpoints[0].addresses[0]']);
  expect(errors(slice('IPv4', '010.1.1.1'), '1.32')).toEqual([]);
  expect(errors(slice('IPv4', '2001:db8::1'), '1.33')).toEqual(['endpoints[0].addresses']);
  expect(errors(slice('IPv6', '2001:DB8::1'), '1.33')).toEqual(['endpoints[0].addresses[0]']);
  const nodes = { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.1.1'], hints: { forNodes: [{ name: 'n' }, { name: 'n' }] } }] };
  expect(errors(nodes, '1.34')).toEqual(['endpoints[0].hints.forNodes[1].name']);
  expect(errors(nodes, '1.33')).toEqual([]);
});
test('stored addresses of slices and endpoints stay', () => {
  const stored = create(EndpointSliceKind, slice('IPv4', '010.1.1.1'), inRelease('1.32')).object;
  const label = (o: Loose): Loose => Object.assign(o.metadata, { labels: { a: 'b' } });
  expect(update(EndpointSliceKind, stored, label, '', inRelease('1.36')).errors).toEqual([]);
  const endpoints = create(EndpointsKind, { subsets: [{ addresses: [{ ip: '010.1.1.1' }] }] }, inRelease('1.32')).object;
  expect(update(EndpointsKind, endpoints, label, '', inRelease('1.36')).errors).toEqual([]);
  expect(create(EndpointsKind, { subsets: endpoints.subsets }, inRelease('1.36')).errors).toHaveLength(1);
});
test('warnings of slices and endpoints', () => {
  expect(create(EndpointSliceKind, slice('FQDN', 'a.b'), inRelease('1.27')).warnings).toEqual([
    'spec.addressType: FQDN endpoints are deprecated',
  ]);
  expect(create(EndpointSliceKind, slice('FQDN', 'a.b'), inRelease('1.26')).warnings).toEqual([]);
  expect(create(EndpointsKind, { subsets: [{ addresses: [{ ip: '010.1.1.1' }] }] }, inRelease('1.33')).warnings).toEqual([
    'subsets[0].addresses[0].ip: non-standard IP address "010.1.1.1" is invalid: use "10.1.1.1"',
  ]);
});

const ingress = (className?: string, service = 's'): Loose => ({
  metadata: { name: 'i', annotations: { 'kubernetes.io/ingress.class': 'a' } },
  spec: { ...(className && { ingressClassName: className }), defaultBackend: { service: { name: service, port: { number: 80 } } } },
});
test('the class of an ingress may be named twice since 1.27, if it is the same', () => {
  const errors = (body: Loose, release: ApiRelease): string[] => create(IngressKind, body, inRelease(release)).errors;
  expect(errors(ingress('a'), '1.26')).toHaveLength(1);
  expect(errors(ingress('a'), '1.27')).toEqual([]);
  expect(errors(ingress('b'), '1.27')).toHaveLength(1);
  expect(create(IngressKind, ingress(), inRelease('1.27')).warnings).toHaveLength(1);
});
test('an ingress that names a service with a digit in front keeps it while the feature is off', () => {
  const stored = create(IngressKind, ingress('a', '1st'), inRelease('1.36')).object;
  const change = (o: Loose): Loose => Object.assign(o.spec, { rules: [] });
  expect(create(IngressKind, ingress('a', '1st'), inRelease('1.35')).errors).toHaveLength(1);
  expect(update(IngressKind, stored, change, '', inRelease('1.35')).errors).toEqual([]);
});
