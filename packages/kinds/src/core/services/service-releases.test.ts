/** Rules of services that came with later releases. */
import type { ApiRelease } from '@plat-dev/lib/version';
import { expect, test } from 'vitest';
import type { KindEnv } from '../../kind.ts';
import { create, defaulted, inRelease, type Loose, update } from '../../validation/kinds.testing.ts';
import { ServiceKind } from './service.ts';

const ports = [{ port: 80 }];
const service = (spec: Loose, name = 's', metadata: Loose = {}): Loose => ({ metadata: { name, ...metadata }, spec: { ports, ...spec } });
const fieldsOf = (body: Loose, env: KindEnv): string[] =>
  create(ServiceKind, body, env).errors.map((text) => text.split(' | ')[0] as string);

test.each<[ApiRelease, string[], string[]]>([
  ['1.34', [], ['metadata.name']],
  ['1.34', ['RelaxedServiceNameValidation'], []],
  ['1.36', [], []],
  ['1.36', ['-RelaxedServiceNameValidation'], ['metadata.name']],
])('names that begin with a digit in %s with %j', (release, gates, errors) => {
  expect(fieldsOf(service({}, '1st'), inRelease(release, ...gates))).toEqual(errors);
});

test('a service that has such a name can be changed while the feature is off', () => {
  const stored = create(ServiceKind, service({}, '1st'), inRelease('1.36')).object;
  expect(update(ServiceKind, stored, (o) => Object.assign(o.spec, { selector: { a: 'b' } }), '', inRelease('1.34')).errors).toEqual([]);
});

test.each<[ApiRelease, Loose, string[]]>([
  ['1.32', { externalIPs: ['010.1.1.1'] }, []],
  ['1.36', { externalIPs: ['010.1.1.1'] }, ['spec.externalIPs[0]']],
  ['1.36', { externalIPs: ['::ffff:1.2.3.4'] }, ['spec.externalIPs[0]']],
  ['1.29', { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.0/8', 'x'] }, ['spec.LoadBalancerSourceRanges']],
  ['1.30', { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.1/8', 'x'] }, ['spec.LoadBalancerSourceRanges[1]']],
  ['1.36', { type: 'LoadBalancer', loadBalancerSourceRanges: [' 10.0.0.1/8 '] }, ['spec.LoadBalancerSourceRanges[0]']],
])('addresses in %s: %j', (release, spec, errors) => {
  const policy = spec.type === 'LoadBalancer' ? {} : { externalTrafficPolicy: 'Cluster' };
  const allowed = release === '1.32' || release === '1.36' ? policy : {};
  expect(fieldsOf(service({ ...spec, ...allowed }), inRelease(release))).toEqual(errors);
});

test('addresses that are stored stay valid', () => {
  const stored = create(ServiceKind, service({ externalIPs: ['010.1.1.1'] }), inRelease('1.36', '-StrictIPCIDRValidation')).object;
  const change = (externalIPs: string[]): string[] =>
    update(ServiceKind, stored, (o) => Object.assign(o.spec, { externalIPs }), '', inRelease('1.36')).errors;
  expect(change(['010.1.1.1', '10.1.1.2'])).toEqual([]);
  expect(change(['010.1.1.2'])).toHaveLength(1);
});

test.each<[ApiRelease, string[], string | undefined, string[]]>([
  ['1.29', [], 'Odd', []],
  ['1.30', ['ServiceTrafficDistribution'], 'PreferSameZone', ['spec.trafficDistribution']],
  ['1.31', [], 'PreferClose', []],
  ['1.34', [], 'PreferSameNode', []],
  ['1.36', [], 'Odd', ['spec.trafficDistribution']],
])('traffic distribution in %s with %j: %s', (release, gates, trafficDistribution, errors) => {
  expect(fieldsOf(service({ trafficDistribution }), inRelease(release, ...gates))).toEqual(errors);
});

test('external addresses have a traffic policy since 1.29', () => {
  const spec = { ...service({ externalIPs: ['192.0.2.1'] }) };
  expect(defaulted(ServiceKind, spec, inRelease('1.28')).spec).not.toHaveProperty('externalTrafficPolicy');
  expect(defaulted(ServiceKind, spec, inRelease('1.29')).spec.externalTrafficPolicy).toBe('Cluster');
});

test('addresses of load balancers say how they lead to nodes since 1.30', () => {
  const stored = create(ServiceKind, service({ type: 'LoadBalancer' })).object;
  const write = (release: ApiRelease, ...ingress: Loose[]): { object: Loose; errors: string[] } =>
    update(ServiceKind, stored, (o) => Object.assign(o.status, { loadBalancer: { ingress } }), 'status', inRelease(release));
  expect(write('1.28', { ip: '192.0.2.1' }).object.status.loadBalancer.ingress).toEqual([{ ip: '192.0.2.1' }]);
  expect(write('1.30', { ip: '192.0.2.1' }).object.status.loadBalancer.ingress).toEqual([{ ip: '192.0.2.1', ipMode: 'VIP' }]);
  expect(write('1.30', { ip: '192.0.2.1', ipMode: 'Odd' }, { hostname: 'a.b', ipMode: 'VIP' }).errors).toEqual([
    expect.stringContaining('ingress[0].ipMode | NotSupported'),
    expect.stringContaining('ingress[1].ipMode | Forbidden'),
  ]);
});

test('only load balancers have such a status since 1.29', () => {
  const stored = create(ServiceKind, service({})).object;
  const write = (...env: [ApiRelease, ...string[]]): string[] =>
    update(
      ServiceKind,
      stored,
      (o) => Object.assign(o.status, { loadBalancer: { ingress: [{ hostname: 'a.b' }] } }),
      'status',
      inRelease(...env),
    ).errors;
  expect(write('1.28')).toEqual([]);
  expect(write('1.29')).toHaveLength(1);
  expect(write('1.29', 'AllowServiceLBStatusOnNonLB')).toEqual([]);
});

test.each<[ApiRelease, Loose, string[]]>([
  ['1.26', { externalIPs: ['2001:DB8::1'] }, []],
  [
    '1.33',
    { externalIPs: ['2001:DB8::1'] },
    ['spec.externalIPs[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")'],
  ],
  ['1.36', { externalIPs: ['192.0.2.1'] }, ['spec.externalIPs is deprecated and may no longer be implemented in some clusters']],
  [
    '1.34',
    { clusterIP: 'None', clusterIPs: ['None'], loadBalancerIP: '1.2.3.4' },
    ['spec.loadBalancerIP is ignored for headless services'],
  ],
  ['1.28', { externalName: 'a.b' }, ['spec.externalName is ignored when spec.type is not "ExternalName"']],
  ['1.35', { trafficDistribution: 'PreferClose' }, ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"']],
  [
    '1.33',
    { loadBalancerSourceRanges: ['10.0.0.1/8'] },
    ['spec.loadBalancerSourceRanges[0]: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)'],
  ],
])('warnings in %s for %j', (release, spec, warnings) => {
  expect(create(ServiceKind, service(spec), inRelease(release)).warnings).toEqual(warnings);
});
