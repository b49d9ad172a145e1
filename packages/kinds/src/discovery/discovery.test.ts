import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { fromHubNow, serve, toHubNow } from '../served-kind.ts';
import { create, type Loose, testEnv, update } from '../validation/kinds.testing.ts';
import { EndpointSliceKind } from './endpoint-slice.ts';

const like = (texts: string[]): Loose[] => texts.map((text) => expect.stringContaining(text));
const slice = (fields: Loose): Loose => ({ metadata: { name: 's' }, addressType: 'IPv4', ...fields });
const at = (address: string, more: Loose = {}): Loose => ({ addresses: [address], ...more });

test.each<[string, Loose, string[]]>([
  ['no type', { addressType: '' }, ['addressType | Required']],
  ['an odd type', { addressType: 'IP' }, ['addressType | NotSupported']],
  ['no address', { endpoints: [{}] }, ['endpoints[0].addresses | Required']],
  ['addresses of another family', { endpoints: [at('2001:db8::1'), at('127.0.0.1')] }, ['must be a valid IPv4 address', 'loopback range']],
  ['names', { addressType: 'FQDN', endpoints: [at('Bad_Host')] }, ['endpoints[0].addresses[0] | Invalid']],
  [
    'nodes and hosts',
    { endpoints: [at('10.1.1.1', { nodeName: 'Bad Node', hostname: 'Bad Host' })] },
    ['nodeName | Invalid', 'hostname | Invalid'],
  ],
  [
    'hints',
    { endpoints: [at('10.1.1.1', { hints: { forZones: [{ name: 'a' }, { name: 'a' }] } })] },
    ['hints.forZones[1].name | Duplicate'],
  ],
  [
    'ports',
    { ports: [{ port: 1 }, { port: 2 }, { name: 'Up', protocol: 'ICMP', appProtocol: 'b!' }] },
    ['ports[1].name | Duplicate', 'ports[2].name | Invalid', 'ports[2].protocol | NotSupported', 'appProtocol | Invalid'],
  ],
  ['too many', { endpoints: Array.from({ length: 1001 }, () => at('10.1.1.1')) }, ['endpoints | TooMany | Too many: 1001']],
])('an endpoint slice refuses %s', (_name, fields, texts) => {
  expect(create(EndpointSliceKind, slice(fields)).errors).toEqual(like(texts));
});

test('ports get a name and a protocol, and the type of addresses stays', () => {
  const { object } = create(EndpointSliceKind, slice({ ports: [{ port: 80 }] }));
  expect(object.ports).toEqual([{ name: '', protocol: 'TCP', port: 80 }]);
  expect(update(EndpointSliceKind, object, (o) => Object.assign(o, { addressType: 'FQDN' })).errors).toEqual(
    like(['addressType | Invalid']),
  );
});

test('labels of a slice count as a new generation', () => {
  const { object } = create(EndpointSliceKind, slice({}));
  expect(update(EndpointSliceKind, object, (o) => Object.assign(o.metadata, { labels: { a: 'b' } })).object.metadata.generation).toBe(2);
  expect(update(EndpointSliceKind, object, (o) => Object.assign(o.metadata, { annotations: { a: 'b' } })).object.metadata.generation).toBe(
    1,
  );
});

const host = 'kubernetes.io/hostname';
const zone = 'topology.kubernetes.io/zone';
const beta = serve(EndpointSliceKind, kubernetes)[1] as ReturnType<typeof serve>[number];

test('the old labels of a place become fields, and fields labels', () => {
  const old = slice({ endpoints: [at('10.1.1.1', { topology: { [host]: 'n1', [zone]: 'z1', rack: 'r' } })] });
  const hub = toHubNow(beta, structuredClone(old)) as Loose;
  expect(hub.endpoints[0]).toMatchObject({ zone: 'z1', deprecatedTopology: { [host]: 'n1', rack: 'r' } });
  expect((fromHubNow(beta, hub) as Loose).endpoints[0].topology).toEqual({ [host]: 'n1', [zone]: 'z1', rack: 'r' });
  const named = fromHubNow(beta, slice({ endpoints: [at('10.1.1.1', { nodeName: 'n2', zone: 'z2' })] })) as Loose;
  expect(named.endpoints[0].topology).toEqual({ [host]: 'n2', [zone]: 'z2' });
  expect((toHubNow(beta, named) as Loose).endpoints[0]).toEqual(at('10.1.1.1', { nodeName: 'n2', zone: 'z2' }));
});

test('clients of version 1 cannot write the old labels, and do not lose a node by that', () => {
  expect(create(EndpointSliceKind, slice({ endpoints: [at('10.1.1.1', { deprecatedTopology: { rack: 'r' } })] })).object.endpoints).toEqual(
    [at('10.1.1.1', { conditions: {} })],
  );
  const { object } = create(EndpointSliceKind, slice({ endpoints: [at('10.1.1.1')] }));
  object.endpoints[0].deprecatedTopology = { [host]: 'n1', rack: 'r' };
  expect(update(EndpointSliceKind, object, () => {}).object.endpoints).toEqual(object.endpoints);
  const moved = update(EndpointSliceKind, object, (o) => Object.assign(o.endpoints[0], { addresses: ['10.1.1.2'] })).object;
  expect(moved.endpoints).toEqual([at('10.1.1.2', { conditions: {}, nodeName: 'n1' })]);
});

test('a row of a slice', () => {
  const endpoints = [1, 2, 3, 4, 5].map((i) => at(`10.1.1.${i}`));
  const { object } = create(EndpointSliceKind, slice({ endpoints, ports: [{ port: 1 }, { name: 'any' }] }));
  expect(EndpointSliceKind.cells?.(object as never, testEnv)).toEqual([
    's',
    'IPv4',
    '1,any',
    '10.1.1.1,10.1.1.2,10.1.1.3 + 2 more...',
    '27h',
  ]);
  expect(EndpointSliceKind.cells?.(create(EndpointSliceKind, slice({})).object as never, testEnv)?.slice(2, 4)).toEqual([
    '<unset>',
    '<unset>',
  ]);
});
