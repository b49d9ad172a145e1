import { FakeApi, type Loose, runControllers, type TestRun } from '@plat-dev/controllers/testing';
import { addressRange } from '@plat-dev/meta/ranges';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BalancerAddresses } from './addresses.ts';
import { loadBalancers } from './controller.ts';

const services = { group: '', version: 'v1', name: 'services', kind: 'Service', namespaced: true } as const;
const events = { group: '', version: 'v1', name: 'events', kind: 'Event', namespaced: true } as const;
const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';

let api: FakeApi;
let run: TestRun;
beforeEach(() => {
  api = new FakeApi([services, events]);
});
afterEach(async () => {
  await run.stop();
  expect(run.failures).toEqual([]);
});
const start = async (...ranges: string[]): Promise<void> => {
  run = runControllers(api, [loadBalancers(ranges.length > 0 ? ranges : ['198.18.0.0/16'])]);
  await run.idle();
};
const service = (name: string): Loose => api.get(services, 'ns', name);
const put = async (name: string, spec: Loose = {}, more: Loose = {}): Promise<void> => {
  const { metadata, status, spec: existing } = service(name) ?? {};
  api.put(services, {
    metadata: { ...metadata, name, namespace: 'ns', ...more.metadata },
    spec: { type: 'LoadBalancer', ...existing, ...spec },
    status: more.status ?? status ?? {},
  });
  await run?.idle();
};
const ingress = (name: string): Loose[] => service(name)?.status.loadBalancer?.ingress ?? [];
const ips = (name: string): string[] => ingress(name).map(({ ip }) => ip);
const reasons = (name: string): string[] => api.all(events).flatMap((one) => (one.involvedObject.name === name ? [one.reason] : []));
const messages = (): string[] => api.all(events).flatMap((one) => (one.type === 'Warning' ? [one.message] : []));

test('each service gets an address, a finalizer and the events of a service controller; the finalizer comes first', async () => {
  await start();
  const seen: string[] = [];
  api.before = (method, path) => {
    if (method === 'PATCH' && path.includes('/services/')) seen.push(`${path} ${service('web').metadata.finalizers ?? ''} ${ips('web')}`);
  };
  await put('web');
  const path = '/api/v1/namespaces/ns/services/web/status';
  expect(seen).toEqual([`${path}  `, `${path} ${FINALIZER} `]);
  await put('shop');
  expect([ips('web'), ips('shop')]).toEqual([['198.18.0.1'], ['198.18.0.2']]);
  expect(service('web').metadata.finalizers).toEqual([FINALIZER]);
  expect(reasons('web')).toEqual(['EnsuringLoadBalancer', 'EnsuredLoadBalancer']);
  expect(api.all(events)[0]).toMatchObject({
    type: 'Normal',
    message: 'Ensuring load balancer',
    source: { component: 'service-controller' },
  });
  const calls = api.calls.length;
  await put('web', { selector: { app: 'web' } });
  expect([ips('web'), api.calls.slice(calls)]).toEqual([['198.18.0.1'], []]);
});

test('a service of another type, or of a class, gets none', async () => {
  await start();
  await put('plain', { type: 'ClusterIP' });
  await put('other', { loadBalancerClass: 'example.com/lb' });
  expect([service('plain').status, service('other').status, service('other').metadata.finalizers]).toEqual([{}, {}, undefined]);
  expect(api.all(events)).toEqual([]);
});

test.each(['ClusterIP', 'NodePort', 'ExternalName'])(
  'a service that becomes %s loses status and finalizer, and another gets the address',
  async (type) => {
    await start('198.18.0.8/29');
    for (let i = 1; i <= 6; i++) await put(`s${i}`);
    await put('late');
    expect([ips('s6'), ips('late')]).toEqual([['198.18.0.14'], []]);
    expect(messages()).toEqual(['Error syncing load balancer: failed to ensure load balancer: no addresses are left in 198.18.0.8/29']);
    expect(api.all(events).at(-1).reason).toBe('SyncLoadBalancerFailed');
    await put('s3', { type });
    expect([service('s3').metadata.finalizers, ingress('s3')]).toEqual([[], []]);
    expect(reasons('s3')).toEqual(['EnsuringLoadBalancer', 'EnsuredLoadBalancer', 'DeletingLoadBalancer', 'DeletedLoadBalancer']);
    expect(ips('late')).toEqual(['198.18.0.11']);
  },
);

test('a deleted service goes when its address is taken back', async () => {
  await start('198.18.0.8/29');
  for (let i = 1; i <= 6; i++) await put(`s${i}`);
  await put('late');
  await api.remove(services, 'ns', 's2');
  await run.idle();
  expect([service('s2'), ips('late')]).toEqual([undefined, ['198.18.0.10']]);
});

test('a requested address is given, within the range or not, to one service at a time', async () => {
  await start();
  await put('asked', { loadBalancerIP: '203.0.113.7' });
  await put('first', { loadBalancerIP: '198.18.0.1' });
  await put('same', { loadBalancerIP: '203.0.113.7' });
  await put('plain');
  expect([ips('asked'), ips('first'), ips('same'), ips('plain')]).toEqual([['203.0.113.7'], ['198.18.0.1'], [], ['198.18.0.2']]);
  expect(messages()).toEqual([
    'Error syncing load balancer: failed to ensure load balancer: the address 203.0.113.7 is in use by service ns/asked',
  ]);
  await put('asked', { loadBalancerIP: '203.0.113.8' });
  expect([ips('asked'), ips('same')]).toEqual([['203.0.113.8'], ['203.0.113.7']]);
});

test('addresses that services have at the start are kept, and given to no other', async () => {
  const had = (ip: string): Loose => ({ metadata: { finalizers: [FINALIZER] }, status: { loadBalancer: { ingress: [{ ip }] } } });
  await put('old', {}, had('198.18.0.1'));
  await put('outside', {}, had('192.0.2.1'));
  await put('new');
  await start();
  expect([ips('old'), ips('outside'), ips('new')]).toEqual([['198.18.0.1'], ['192.0.2.1'], ['198.18.0.2']]);
});

test('what someone else writes into the status stays', async () => {
  await start();
  await put('named', {}, { status: { loadBalancer: { ingress: [{ hostname: 'lb.example.com' }] } } });
  expect([ingress('named'), service('named').metadata.finalizers]).toEqual([[{ hostname: 'lb.example.com' }], undefined]);
  await put('web');
  await put('web', {}, { status: { loadBalancer: { ingress: [{ ip: '192.0.2.9' }] } } });
  expect(ips('web')).toEqual(['192.0.2.9']);
});

test('each family that a service has and that has a range', async () => {
  await start('198.18.0.0/16', '2001:2::/112');
  await put('both', { ipFamilies: ['IPv6', 'IPv4'] });
  await put('one', { ipFamilies: ['IPv6'] });
  await put('asked', { ipFamilies: ['IPv4', 'IPv6'], loadBalancerIP: '2001:DB8:0::1' });
  expect([ips('both'), ips('one'), ips('asked')]).toEqual([['2001:2::1', '198.18.0.1'], ['2001:2::2'], ['198.18.0.2', '2001:db8::1']]);
});

test('a family without a range is reported', async () => {
  await start('198.18.0.0/16');
  await put('six', { ipFamilies: ['IPv6'] });
  expect(messages()).toEqual(['Error syncing load balancer: failed to ensure load balancer: there is no range of IPv6 addresses']);
});

test('an address is used again as late as possible, and the last one is found', () => {
  const addresses = new BalancerAddresses([addressRange('198.18.0.8/29')]);
  const take = (name: string): string | undefined => addresses.take(name, 'IPv4');
  expect([take('a'), take('b')]).toEqual(['198.18.0.9', '198.18.0.10']);
  addresses.keepOnly('a', []);
  expect([take('c'), take('d'), take('e'), take('f'), take('g'), take('h')]).toEqual([
    '198.18.0.11',
    '198.18.0.12',
    '198.18.0.13',
    '198.18.0.14',
    '198.18.0.9',
    undefined,
  ]);
});
