import { atOnce } from '@plat-dev/lib/slices';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import { afterEach, expect, test } from 'vitest';
import { FakeApi, type FakeKind, fakeKinds, type Loose, runControllers, type TestRun } from '../testing.ts';
import { endpointSliceController } from './endpoint-slices.ts';
import { endpointsController } from './endpoints.ts';
import { endpointSliceMirroring } from './mirroring.ts';
import { planSlices, type Slice } from './slices.ts';

const { pods } = fakeKinds;
const services: FakeKind = { group: '', version: 'v1', name: 'services', kind: 'Service', namespaced: true };
const endpoints: FakeKind = { group: '', version: 'v1', name: 'endpoints', kind: 'Endpoints', namespaced: true };
const nodes: FakeKind = { group: '', version: 'v1', name: 'nodes', kind: 'Node', namespaced: false };
const slices: FakeKind = { group: 'discovery.k8s.io', version: 'v1', name: 'endpointslices', kind: 'EndpointSlice', namespaced: true };

let run: TestRun | undefined;
afterEach(async () => {
  await run?.stop();
  run = undefined;
});

function start(features = { terminating: true, hints: true }) {
  const api = new FakeApi([services, endpoints, nodes, slices, pods]);
  run = runControllers(api, [endpointsController, endpointSliceController(features), endpointSliceMirroring]);
  const service = (spec: Loose, metadata = {}): Loose =>
    api.put(services, { metadata: { name: 'web', namespace: 'a', ...metadata }, spec: { ipFamilies: ['IPv4'], ...spec } });
  const pod = (name: string, ip: string, more: Loose = {}): Loose =>
    api.put(pods, {
      metadata: { name, namespace: 'a', labels: { app: 'web' }, ...more.metadata },
      spec: { nodeName: 'n1', containers: [{ ports: [{ name: 'http', containerPort: more.port ?? 8080 }] }], ...more.spec },
      status: {
        phase: 'Running',
        podIPs: [{ ip }],
        conditions: [{ type: 'Ready', status: more.ready === false ? 'False' : 'True' }],
        ...more.status,
      },
    });
  const subsets = (): Loose => api.get(endpoints, 'a', 'web')?.subsets;
  const shown = (): string[] =>
    api
      .all(slices)
      .flatMap((slice) =>
        (slice.endpoints ?? []).map(
          (one: Loose) => `${one.addresses} ${slice.ports.map((port: Loose) => port.port)} ${one.conditions.ready}`,
        ),
      )
      .sort();
  return { api, run, service, pod, subsets, shown };
}
const web = { selector: { app: 'web' }, ports: [{ name: 'web', port: 80, targetPort: 'http' }] };

test('a service leads to the pods that it selects, by the ports they have', async () => {
  const { api, run, service, pod, subsets, shown } = start();
  api.put(nodes, { metadata: { name: 'n1', labels: { 'topology.kubernetes.io/zone': 'z1' } } });
  service(web, { labels: { team: 'x' } });
  pod('one', '10.0.0.1');
  pod('two', '10.0.0.2', { port: 9090 });
  pod('unready', '10.0.0.3', { ready: false });
  pod('other', '10.0.0.4', { metadata: { labels: { app: 'db' } } });
  pod('done', '10.0.0.5', { status: { phase: 'Succeeded', podIPs: [{ ip: '10.0.0.5' }] } });
  await run.idle();
  expect(subsets()).toEqual([
    {
      addresses: [{ ip: '10.0.0.1', nodeName: 'n1', targetRef: { kind: 'Pod', namespace: 'a', name: 'one', uid: expect.any(String) } }],
      notReadyAddresses: [
        { ip: '10.0.0.3', nodeName: 'n1', targetRef: { kind: 'Pod', namespace: 'a', name: 'unready', uid: expect.any(String) } },
      ],
      ports: [{ name: 'web', port: 8080, protocol: 'TCP' }],
    },
    {
      addresses: [{ ip: '10.0.0.2', nodeName: 'n1', targetRef: { kind: 'Pod', namespace: 'a', name: 'two', uid: expect.any(String) } }],
      ports: [{ name: 'web', port: 9090, protocol: 'TCP' }],
    },
  ]);
  expect(shown()).toEqual(['10.0.0.1 8080 true', '10.0.0.2 9090 true', '10.0.0.3 8080 false']);
  expect(api.get(endpoints, 'a', 'web').metadata.labels).toEqual({ team: 'x' });
  expect(api.all(slices)[0].metadata).toMatchObject({
    generateName: 'web-',
    labels: {
      team: 'x',
      'kubernetes.io/service-name': 'web',
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    },
    ownerReferences: [{ kind: 'Service', name: 'web', controller: true }],
  });
  expect(api.all(slices)[0].endpoints[0].zone).toBe('z1');
});

test('endpoints follow pods that come, change and go; nothing is written for what does not matter', async () => {
  const { api, run, service, pod, subsets, shown } = start();
  service(web);
  pod('one', '10.0.0.1');
  await run.idle();
  pod('one', '10.0.0.1', { ready: false });
  await run.idle();
  expect(subsets()[0].addresses).toBeUndefined();
  expect(shown()).toEqual(['10.0.0.1 8080 false']);
  const before = api.calls.length;
  pod('one', '10.0.0.1', { ready: false, metadata: { labels: { app: 'web' }, annotations: { x: 'y' } } });
  await run.idle();
  expect(api.calls.length).toBe(before);
  await api.remove(pods, 'a', 'one');
  await run.idle();
  expect([subsets(), shown()]).toEqual([[], []]);
  expect(api.all(slices)).toHaveLength(1);
});

test('a pod on its way out no longer is an address, but still a slice tells that it serves', async () => {
  const { api, run, service, pod, subsets } = start();
  service(web);
  pod('one', '10.0.0.1', { metadata: { labels: { app: 'web' }, deletionTimestamp: '2024-01-01T00:00:00Z' } });
  await run.idle();
  expect(subsets()).toEqual([]);
  expect(api.all(slices)[0].endpoints[0].conditions).toEqual({ ready: false, serving: true, terminating: true });
});

test('without EndpointSliceTerminatingCondition a slice has no pods on their way out, and says only what is ready', async () => {
  const { api, run, service, pod } = start({ terminating: false, hints: true });
  service(web);
  pod('one', '10.0.0.1', { metadata: { labels: { app: 'web' }, deletionTimestamp: '2024-01-01T00:00:00Z' } });
  pod('two', '10.0.0.2');
  await run.idle();
  expect(api.all(slices)[0].endpoints.map(({ addresses, conditions }: Loose) => [addresses, conditions])).toEqual([
    [['10.0.0.2'], { ready: true }],
  ]);
});

test.each([true, false])('TopologyAwareHints=%s: slices of services that ask for it', async (hints) => {
  const { api, run, service, pod } = start({ terminating: true, hints });
  const node = (name: string, zone: string, ready = 'True'): Loose =>
    api.put(nodes, {
      metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } },
      status: { allocatable: { cpu: '2' }, conditions: [{ type: 'Ready', status: ready }] },
    });
  const shownHints = (): Loose[] => api.all(slices)[0].endpoints.map((one: Loose) => one.hints?.forZones?.[0]?.name);
  node('n1', 'a');
  node('n2', 'b');
  const annotations = { 'service.kubernetes.io/topology-aware-hints': 'auto' };
  service(web, { annotations });
  for (const [i, nodeName] of ['n1', 'n1', 'n1', 'n2'].entries()) pod(`p${i}`, `10.0.0.${i + 1}`, { spec: { nodeName } });
  await run.idle();
  expect(shownHints().toSorted()).toEqual(hints ? ['a', 'a', 'b', 'b'] : [undefined, undefined, undefined, undefined]);
  // A zone that has no nodes any more takes no requests.
  node('n2', 'b', 'False');
  await run.idle();
  expect(shownHints()).toEqual([undefined, undefined, undefined, undefined]);
  node('n2', 'b');
  service(web);
  await run.idle();
  expect(shownHints()).toEqual([undefined, undefined, undefined, undefined]);
});

test('a service that publishes all of them has them all ready', async () => {
  const { run, service, pod, subsets } = start();
  service({ ...web, publishNotReadyAddresses: true });
  pod('one', '10.0.0.1', { ready: false });
  await run.idle();
  expect(subsets()[0].addresses).toHaveLength(1);
});

test('what others change or delete is put right', async () => {
  const { api, run, service, pod, subsets, shown } = start();
  service(web);
  pod('one', '10.0.0.1');
  await run.idle();
  await api.remove(endpoints, 'a', 'web');
  const [slice] = api.all(slices);
  api.put(slices, { ...slice, endpoints: [] });
  await run.idle();
  expect(subsets()).toHaveLength(1);
  expect(shown()).toEqual(['10.0.0.1 8080 true']);
});

test('addresses of each family have slices of their own', async () => {
  const { api, run, service, pod } = start();
  service({ ...web, ipFamilies: ['IPv6', 'IPv4'] });
  pod('one', '10.0.0.1', {
    status: { phase: 'Running', podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }], conditions: [{ type: 'Ready', status: 'True' }] },
  });
  await run.idle();
  expect(
    api
      .all(slices)
      .map((slice) => [slice.addressType, slice.endpoints[0].addresses[0]])
      .sort(),
  ).toEqual([
    ['IPv4', '10.0.0.1'],
    ['IPv6', 'fd00::1'],
  ]);
  expect(api.get(endpoints, 'a', 'web').subsets[0].addresses[0].ip).toBe('fd00::1');
});

test('endpoints and slices say which change they follow, once they are written anyway', async () => {
  const { api, run, service, pod } = start();
  const at = (second: number): string => `2024-01-01T00:00:0${second}Z`;
  const readySince = (second: number, status = 'True') => ({
    status: {
      phase: 'Running',
      podIPs: [{ ip: `10.0.0.${second}` }],
      conditions: [{ type: 'Ready', status, lastTransitionTime: at(second) }],
    },
  });
  const annotation = 'endpoints.kubernetes.io/last-change-trigger-time';
  const times = (): unknown[] =>
    [api.get(endpoints, 'a', 'web'), ...api.all(slices)].map(({ metadata }) => metadata.annotations?.[annotation]);
  const created = { creationTimestamp: at(1) };
  service(web, created);
  await run.idle();
  expect(times()).toEqual([at(1), at(1)]);
  // Of several changes the first; pods that the service does not select are none.
  pod('late', '', readySince(5));
  pod('early', '', readySince(4));
  pod('other', '', { ...readySince(3), metadata: { labels: { app: 'db' } } });
  await run.idle();
  expect(times()).toEqual([at(4), at(4)]);
  const calls = api.calls.length;
  pod('late', '', { ...readySince(5), metadata: { labels: { app: 'web' }, annotations: { x: 'y' } } });
  await run.idle();
  expect(api.calls.length).toBe(calls);
  // A change that is no pod's and no service's has no time.
  await api.remove(pods, 'a', 'early');
  await run.idle();
  expect(times()).toEqual([undefined, undefined]);
  pod('late', '', readySince(6, 'False'));
  await run.idle();
  expect(times()).toEqual([at(6), at(6)]);
  // A service of the same name is another one.
  await api.remove(services, 'a', 'web');
  await run.idle();
  service(web, { creationTimestamp: at(7) });
  await run.idle();
  expect(api.get(endpoints, 'a', 'web').metadata.annotations).toEqual({ [annotation]: at(7) });
});

test('mirrored slices have the annotations of their endpoints but for those about how these were made', async () => {
  const { api, run, service } = start();
  service({ ports: [{ port: 80 }] });
  const annotations = {
    team: 'x',
    'endpoints.kubernetes.io/last-change-trigger-time': '2024-01-01T00:00:00Z',
    'kubectl.kubernetes.io/last-applied-configuration': '{}',
  };
  const made = (more: Loose) => ({ metadata: { name: 'web', namespace: 'a', ...more }, subsets: [{ addresses: [{ ip: '1.2.3.4' }] }] });
  api.put(endpoints, made({ annotations }));
  await run.idle();
  expect(api.all(slices)[0].metadata.annotations).toEqual({ team: 'x' });
  api.put(endpoints, made({}));
  await run.idle();
  expect(api.all(slices)[0].metadata.annotations).toEqual({});
  const calls = api.calls.length;
  api.put(endpoints, made({ annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': 'x' } }));
  await run.idle();
  expect(api.calls.length).toBe(calls);
});

test('endpoints made by hand are mirrored, those that ask not to be are not', async () => {
  const { api, run, service, shown } = start();
  service({ ports: [{ port: 80 }] });
  const made = {
    metadata: { name: 'web', namespace: 'a' },
    subsets: [{ addresses: [{ ip: '1.2.3.4' }], notReadyAddresses: [{ ip: 'fd00::1' }], ports: [{ port: 80 }] }],
  };
  api.put(endpoints, made);
  await run.idle();
  expect(shown()).toEqual(['1.2.3.4 80 true', 'fd00::1 80 false']);
  expect(api.all(slices)[0].metadata.labels['endpointslice.kubernetes.io/managed-by']).toBe('endpointslicemirroring-controller.k8s.io');
  api.put(endpoints, { ...made, metadata: { ...made.metadata, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } } });
  await run.idle();
  expect(api.all(slices)).toEqual([]);
});

test('slices hold all endpoints once, none too many, and move none that can stay', () => {
  const endpoint = (i: number): Loose => ({
    addresses: [`10.0.${i >> 8}.${i & 255}`],
    conditions: { ready: true },
    targetRef: { uid: `u${i}` },
  });
  const ports = [{ name: '', protocol: 'TCP', port: 80 }];
  const sets = fc.uniqueArray(fc.nat(499), { maxLength: 400 });
  fc.assert(
    fc.property(fc.array(sets, { minLength: 1, maxLength: 5 }), (steps) => {
      let current: Slice[] = [];
      let serial = 0;
      for (const wanted of steps) {
        const before = new Map(current.flatMap((slice) => (slice.endpoints ?? []).map((one) => [one.targetRef?.uid, slice.metadata.name])));
        const group = { addressType: 'IPv4' as const, ports, endpoints: wanted.map(endpoint) };
        const plan = atOnce(planSlices(current, [group], ({ metadata }) => metadata));
        const gone = new Set(plan.remove.map((slice) => slice.metadata.name));
        const changed = new Map(plan.update.map((slice) => [slice.metadata.name, slice]));
        current = [
          ...current.filter((slice) => !gone.has(slice.metadata.name)).map((slice) => changed.get(slice.metadata.name) ?? slice),
          ...plan.create.map((slice) => ({ ...slice, metadata: { name: `s${serial++}` } }) as unknown as Slice),
        ];
        const held = current.flatMap((slice) => (slice.endpoints ?? []).map((one) => one.targetRef?.uid));
        expect([...held].sort()).toEqual(wanted.map((i) => `u${i}`).sort());
        expect(current.every((slice) => (slice.endpoints ?? []).length <= 100)).toBe(true);
        expect(current.length).toBeGreaterThan(0);
        for (const slice of current)
          for (const one of slice.endpoints ?? []) {
            const home = before.get(one.targetRef?.uid);
            if (home !== undefined) expect(slice.metadata.name).toBe(home);
          }
        const again = atOnce(planSlices(current, [group], ({ metadata }) => metadata));
        expect([again.create, again.update, again.remove]).toEqual([[], [], []]);
      }
    }),
    { numRuns: 60 },
  );
});

test.each<[string, object | undefined]>([
  ['PreferClose', { forZones: [{ name: 'z1' }] }],
  ['PreferSameZone', { forZones: [{ name: 'z1' }] }],
  ['PreferSameNode', { forZones: [{ name: 'z1' }], forNodes: [{ name: 'n1' }] }],
  ['Odd', undefined],
])('traffic distribution %s: ready endpoints are for clients that are near', async (trafficDistribution, hints) => {
  const { api, run, service, pod } = start();
  api.put(nodes, { metadata: { name: 'n1', labels: { 'topology.kubernetes.io/zone': 'z1' } } });
  service({ ...web, trafficDistribution });
  pod('one', '10.0.0.1');
  pod('unready', '10.0.0.2', { ready: false });
  await run.idle();
  const shownHints = (): Loose[] => api.all(slices)[0].endpoints.map((one: Loose) => [one.addresses[0], one.hints]);
  expect(shownHints().sort()).toEqual([
    ['10.0.0.1', hints],
    ['10.0.0.2', undefined],
  ]);
  service(web);
  await run.idle();
  expect(shownHints().map(([, shown]) => shown)).toEqual([undefined, undefined]);
});
