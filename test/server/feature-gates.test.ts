/** Gates that guard endpoints and behaviour, each in both states: one server as it is by default, one with all of them switched. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRuntimeConfig } from '../../packages/compose/src/config/runtime-config.ts';
import { gates, readFeatureGates } from '../../packages/kinds/src/feature-gates.ts';
import { FakeClock } from '../../packages/lib/src/clock.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { silentLog } from '../../packages/lib/src/log.ts';
import { flowHeaders } from '../../packages/meta/src/identity.ts';
import { startTestServer as startKitServer } from '../../packages/testing/src/index.ts';
import { type Loose, startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';

const off = [
  'APIListChunking',
  'APIPriorityAndFairness',
  'APIResponseCompression',
  'EndpointSliceTerminatingCondition',
  'EphemeralContainers',
  'LegacyServiceAccountTokenNoAutoGeneration',
  'OpenAPIEnums',
  'OpenAPIV3',
  'PodSecurity',
  'StorageVersionHash',
  'TopologyAwareHints',
];
const on = ['APIServerIdentity', 'ServiceIPStaticSubrange', 'StorageVersionAPI'];
const gatesOf = (enabled: readonly string[], disabled: readonly string[] = []): TestServerOptions['features'] =>
  readFeatureGates(new Map([...enabled.map((name) => [name, 'true'] as const), ...disabled.map((name) => [name, 'false'] as const)]));

const warned: string[] = [];
const log = { ...silentLog, warn: (message: string, fields: object = {}) => void warned.push(`${message} ${jsonText(fields)}`) };
const storageVersions = '/apis/internal.apiserver.k8s.io/v1alpha1/storageversions';
const runtimeConfig = readRuntimeConfig(['internal.apiserver.k8s.io/v1alpha1=true']);
const quiet = { identity: 'kubernetes', controllers: ['-*'] } as const;
const servers: TestServer[] = [];
const start = async (options: TestServerOptions): Promise<TestServer> => {
  const server = await startTestServer({ ...quiet, ...options });
  servers.push(server);
  return server;
};

let usual: TestServer;
let switched: TestServer;
beforeAll(async () => {
  [usual, switched] = await Promise.all([
    start({ controllers: ['endpointslice'] }),
    start({
      features: gatesOf(on, off),
      runtimeConfig,
      serviceClusterIpRange: ['10.0.0.0/27'],
      controllers: ['serviceaccount-token', 'endpointslice'],
    }),
  ]);
});
afterAll(() => Promise.all(servers.map((server) => server.close())));

/** Text that compresses to less than it is, and of more than the size from which answers are compressed. */
const large = { metadata: { name: 'large' }, data: { text: 'plenty '.repeat(30_000) } };

test('APIListChunking: limit and continue cut a list into chunks, or have no effect', async () => {
  for (const server of [usual, switched])
    for (const name of ['a', 'b', 'c']) await server.admin.ok('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name } });
  const path = '/api/v1/namespaces/default/configmaps';
  const first = await usual.admin.ok('GET', `${path}?limit=1`);
  expect([first.items.length, first.metadata.remainingItemCount]).toEqual([1, 2]);
  expect((await usual.admin.ok('GET', `${path}?limit=1&continue=${first.metadata.continue}`)).items[0].metadata.name).toBe('b');
  for (const query of ['limit=1', `continue=${first.metadata.continue}`, 'continue=nonsense&limit=2']) {
    const { items, metadata } = await switched.admin.ok('GET', `${path}?${query}`);
    expect([query, items.map((one: Loose) => one.metadata.name), Object.keys(metadata)]).toEqual([
      query,
      ['a', 'b', 'c'],
      ['resourceVersion'],
    ]);
  }
  expect((await switched.admin.send('DELETE', `${path}?limit=1`)).json.items).toHaveLength(3);
});

test('RemainingItemCount: whether a chunk says how many follow', async () => {
  const server = await start({ features: gatesOf([], ['RemainingItemCount']) });
  const { metadata } = await server.admin.ok('GET', '/api/v1/namespaces?limit=1');
  expect(Object.keys(metadata)).toEqual(['resourceVersion', 'continue']);
});

test('APIResponseCompression: large answers are compressed for clients that take it, or are not', async () => {
  const seen = async (server: TestServer): Promise<unknown[]> => {
    const made = await server.admin.ok('POST', '/api/v1/namespaces/default/configmaps', large);
    const headers = { 'accept-encoding': 'gzip' };
    const one = await server.admin.get('/api/v1/namespaces/default/configmaps/large', headers);
    const all = await server.admin.get('/api/v1/namespaces/default/configmaps', headers);
    const yaml = await server.admin.get('/api/v1/namespaces/default/configmaps', { ...headers, accept: 'application/yaml' });
    expect(made.data.text).toBe(large.data.text);
    return [one, all, yaml].map((answer) => answer.headers['content-encoding']);
  };
  expect(await seen(usual)).toEqual(['gzip', 'gzip', 'gzip']);
  expect(await seen(switched)).toEqual([undefined, undefined, undefined]);
  // Documents of the API are compressed by a part of their own, as in a stock server.
  expect((await switched.admin.get('/openapi/v2', { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBe('gzip');
});

test('OpenAPIV3: the documents are served and listed, or neither', async () => {
  const seen = async (server: TestServer): Promise<unknown[]> => {
    const { paths } = await server.admin.ok('GET', '/');
    const status = async (path: string): Promise<number> => (await server.admin.get(path)).status;
    return [
      paths.filter((path: string) => path.startsWith('/openapi')),
      await status('/openapi/v3'),
      await status('/openapi/v3/'),
      await status('/openapi/v3/apis/apps/v1'),
      await status('/openapi/v2'),
    ];
  };
  expect(await seen(usual)).toEqual([['/openapi/v2', '/openapi/v3', '/openapi/v3/'], 200, 200, 200, 200]);
  expect(await seen(switched)).toEqual([['/openapi/v2'], 404, 404, 404, 200]);
});

test('OpenAPIEnums: the documents say which values a field may have, or do not', async () => {
  const restart = ['Always', 'Never', 'OnFailure'];
  const v2 = async (server: TestServer): Promise<Loose> => {
    const { definitions } = await server.admin.ok('GET', '/openapi/v2');
    const { restartPolicy, dnsPolicy } = definitions['io.k8s.api.core.v1.PodSpec'].properties;
    return [restartPolicy.enum, dnsPolicy.enum?.length];
  };
  expect(await v2(usual)).toEqual([restart, 4]);
  expect(await v2(switched)).toEqual([undefined, undefined]);
  expect((await switched.admin.get('/openapi/v2')).text).not.toMatch(/"enum":\["/);
  const v3 = async (server: TestServer): Promise<string> => (await server.admin.get('/openapi/v3/api/v1')).text;
  expect(JSON.parse(await v3(usual)).components.schemas['io.k8s.api.core.v1.PodSpec'].properties.restartPolicy.enum).toEqual(restart);
  const none = await start({ features: gatesOf([], ['OpenAPIEnums']) });
  expect(await v3(none)).not.toMatch(/"enum":\["/);
});

test('StorageVersionHash: discovery has the hashes, or not', async () => {
  const hashes = async (server: TestServer): Promise<unknown[]> =>
    (await server.admin.ok('GET', '/apis/apps/v1')).resources.map((one: Loose) => one.storageVersionHash).filter(Boolean);
  expect((await hashes(usual)).length).toBe(5);
  expect(await hashes(switched)).toEqual([]);
});

test('APIPriorityAndFairness: requests are classed, or are not', async () => {
  const classed = async (server: TestServer): Promise<boolean> =>
    (await server.admin.get('/api/v1/namespaces')).headers[flowHeaders.schema.toLowerCase()] !== undefined;
  expect([await classed(usual), await classed(switched)]).toEqual([true, false]);
});

test('EphemeralContainers: the subresource is there, or not', async () => {
  const seen = async (server: TestServer): Promise<unknown[]> => {
    const namespace = await server.namespace();
    const spec = { containers: [{ name: 'c', image: 'i' }], automountServiceAccountToken: false };
    await server.admin.ok('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } });
    await server.admin.ok('POST', `/api/v1/namespaces/${namespace}/pods`, { metadata: { name: 'p' }, spec });
    const path = `/api/v1/namespaces/${namespace}/pods/p/ephemeralcontainers`;
    const { resources } = await server.admin.ok('GET', '/api/v1');
    const { paths } = await server.admin.ok('GET', '/openapi/v2');
    return [
      (await server.admin.get(path)).status,
      (await server.admin.patch(path, { spec: { ephemeralContainers: [{ name: 'd', image: 'i' }] } })).status,
      resources.some(({ name }: Loose) => name === 'pods/ephemeralcontainers'),
      paths['/api/v1/namespaces/{namespace}/pods/{name}/ephemeralcontainers'] !== undefined,
    ];
  };
  expect(await seen(usual)).toEqual([200, 200, true, true]);
  expect(await seen(switched)).toEqual([404, 404, false, false]);
});

test('PodSecurity: levels of a namespace are enforced, or are not', async () => {
  const seen = async (server: TestServer): Promise<number> => {
    const namespace = await server.namespace({ 'pod-security.kubernetes.io/enforce': 'restricted' });
    const spec = { containers: [{ name: 'c', image: 'i' }], hostNetwork: true, automountServiceAccountToken: false };
    await server.admin.ok('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } });
    return (await server.admin.post(`/api/v1/namespaces/${namespace}/pods`, { metadata: { name: 'p' }, spec })).status;
  };
  expect([await seen(usual), await seen(switched)]).toEqual([403, 201]);
});

test('ServiceIPStaticSubrange: the first addresses of the range are left for services that name theirs', async () => {
  const add = (name: string, spec: object = {}): Promise<Loose> =>
    switched.admin.ok('POST', '/api/v1/namespaces/default/services', { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });
  const lastByte = (service: Loose): number => Number(service.spec.clusterIP.split('.')[3]);
  // 30 addresses, of which 16 are in the lower band; the server's own service has the first.
  const given: number[] = [];
  for (let i = 0; i < 14; i++) given.push(lastByte(await add(`s${i}`)));
  expect(given.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 14 }, (_, i) => 17 + i));
  expect(lastByte(await add('named', { clusterIP: '10.0.0.5' }))).toBe(5);
  expect(lastByte(await add('more'))).toBeLessThan(17);
});

test('LegacyServiceAccountTokenNoAutoGeneration: accounts get no secret by themselves, or get one', async () => {
  const events = await switched.admin.watch('/api/v1/namespaces/default/serviceaccounts?watch=1&fieldSelector=metadata.name=robot');
  await switched.admin.ok('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
  const named = (await events.until(({ object }) => object.secrets?.length === 1)).at(-1)?.object;
  const secret = await switched.admin.ok('GET', `/api/v1/namespaces/default/secrets/${named.secrets[0].name}`);
  expect(secret.metadata.name).toMatch(/^robot-token-/);
  expect(Object.keys(secret.data).toSorted()).toEqual(['ca.crt', 'namespace', 'token']);
  const review = { spec: { token: Buffer.from(secret.data.token, 'base64').toString() } };
  const { status } = await switched.admin.ok('POST', '/apis/authentication.k8s.io/v1/tokenreviews', review);
  expect(status.user.username).toBe('system:serviceaccount:default:robot');
  events.close();
});

test('EndpointSliceTerminatingCondition, TopologyAwareHints: what slices say of pods that terminate, and of zones', async () => {
  const seen = async ({ admin, namespace }: TestServer, hinted: boolean): Promise<unknown[]> => {
    for (const zone of ['a', 'b']) {
      const labels = { 'topology.kubernetes.io/zone': zone };
      await admin.ok('POST', '/api/v1/nodes', { metadata: { name: `node-${zone}`, labels } });
      const status = { allocatable: { cpu: '4' }, conditions: [{ type: 'Ready', status: 'True' }] };
      expect((await admin.patch(`/api/v1/nodes/node-${zone}/status`, { status })).status).toBe(200);
    }
    const path = `/api/v1/namespaces/${await namespace()}`;
    await admin.ok('POST', `${path}/serviceaccounts`, { metadata: { name: 'default' } });
    const slices = `/apis/discovery.k8s.io/v1${path.slice('/api/v1'.length)}/endpointslices`;
    const watch = await admin.watch(`${slices}?watch=1`);
    const containers = [{ name: 'c', image: 'i' }];
    for (const [i, zone] of ['a', 'a', 'a', 'b', 'a'].entries()) {
      const spec = { nodeName: `node-${zone}`, containers, automountServiceAccountToken: false };
      await admin.ok('POST', `${path}/pods`, { metadata: { name: `p${i}`, labels: { app: 'web' } }, spec });
      const status = {
        phase: 'Running',
        podIPs: [{ ip: `10.1.0.${i + 1}` }],
        podIP: `10.1.0.${i + 1}`,
        conditions: [{ type: 'Ready', status: 'True' }],
      };
      expect((await admin.patch(`${path}/pods/p${i}/status`, { status })).status).toBe(200);
    }
    await admin.ok('DELETE', `${path}/pods/p4`);
    const annotations = { 'service.kubernetes.io/topology-aware-hints': 'auto' };
    const spec = { selector: { app: 'web' }, ports: [{ port: 80 }], clusterIP: 'None' };
    await admin.ok('POST', `${path}/services`, { metadata: { name: 'web', annotations }, spec });
    const isSettled = ({ object }: Loose): boolean =>
      object.endpoints?.filter((one: Loose) => one.conditions.ready).length === 4 &&
      (!hinted || object.endpoints.every((one: Loose) => !one.conditions.ready || one.hints !== undefined));
    const endpoints: Loose[] = (await watch.until(isSettled)).at(-1)?.object.endpoints;
    watch.close();
    const zones = endpoints.flatMap((one: Loose) => one.hints?.forZones.map(({ name }: Loose) => name) ?? []);
    return [endpoints.length, zones.toSorted(), [...new Set(endpoints.flatMap((one: Loose) => Object.keys(one.conditions)))]];
  };
  expect(await seen(usual, true)).toEqual([5, ['a', 'a', 'b', 'b'], ['ready', 'serving', 'terminating']]);
  expect(await seen(switched, false)).toEqual([4, [], ['ready']]);
});

describe('APIServerIdentity', () => {
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?labelSelector=k8s.io/component=kube-apiserver';

  test('a server has a lease, or has none', async () => {
    expect((await usual.admin.ok('GET', leases)).items).toEqual([]);
    const [lease, ...others] = (await switched.admin.ok('GET', leases)).items;
    expect(others).toEqual([]);
    expect(lease.metadata.name).toMatch(/^kube-apiserver-[0-9a-f-]{36}$/);
    expect(lease.spec).toEqual({ holderIdentity: lease.metadata.name, leaseDurationSeconds: 3600, renewTime: expect.any(String) });
  });

  test('--identity-lease-duration-seconds, --identity-lease-renew-interval-seconds: a lease is renewed, and those that expired go', async () => {
    const clock = new FakeClock();
    const server = await start({
      clock,
      features: gatesOf(['APIServerIdentity']),
      identityLeaseDurationSeconds: 40,
      identityLeaseRenewIntervalSeconds: 7,
    });
    const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
    const spec = { holderIdentity: 'x', leaseDurationSeconds: 30, renewTime: new Date(clock.now()).toISOString().replace('Z', '000Z') };
    const labels = { 'k8s.io/component': 'kube-apiserver' };
    await server.admin.ok('POST', path, { metadata: { name: 'gone', labels }, spec });
    await server.admin.ok('POST', path, { metadata: { name: 'incomplete', labels } });
    await server.admin.ok('POST', path, { metadata: { name: 'of-others' }, spec });
    const { items, metadata } = await server.admin.ok('GET', path);
    const own = items.map((one: Loose) => one.metadata.name).find((name: string) => name.startsWith('kube-apiserver-'));
    const watch = await server.admin.watch(`${path}?watch=1&resourceVersion=${metadata.resourceVersion}`);
    const begun = clock.now();
    const shown = ({ type, object }: Loose): string =>
      type === 'DELETED' ? `${object.metadata.name} is gone` : `${object.metadata.name} ${Date.parse(object.spec.renewTime) - begun}`;
    for (const time of [7000, 14_000]) {
      await clock.advance(7000);
      expect(shown(await watch.next())).toBe(`${own} ${time}`);
    }
    await server.admin.ok('DELETE', `${path}/${own}`);
    expect(shown(await watch.next())).toBe(`${own} is gone`);
    await clock.advance(7000);
    expect(shown(await watch.next())).toBe(`${own} 21000`);
    await clock.advance(19_000);
    const gone = (await watch.until(({ type }) => type === 'DELETED')).concat(await watch.until(({ type }) => type === 'DELETED'));
    expect(gone.filter(({ type }) => type === 'DELETED').map(shown)).toEqual(['gone is gone', 'incomplete is gone']);
    const left = (await server.admin.ok('GET', path)).items.map((one: Loose) => one.metadata.name);
    expect(left).toEqual([own, 'of-others']);
    watch.close();
  });
});

describe('StorageVersionAPI', () => {
  test('the server says in which version it stores each resource, or there is no such API', async () => {
    expect((await usual.admin.get(storageVersions)).status).toBe(404);
    const { items } = await switched.admin.ok('GET', storageVersions);
    const named = (name: string): Loose => items.find((one: Loose) => one.metadata.name === name);
    const server = named('core.pods').status.storageVersions[0].apiServerID;
    expect(server).toMatch(/^kube-apiserver-/);
    expect(named('apps.deployments').status).toEqual({
      storageVersions: [{ apiServerID: server, encodingVersion: 'apps/v1', decodableVersions: expect.arrayContaining(['apps/v1']) }],
      commonEncodingVersion: 'apps/v1',
      conditions: [
        {
          type: 'AllEncodingVersionsEqual',
          status: 'True',
          lastTransitionTime: expect.any(String),
          reason: 'CommonEncodingVersionSet',
          message: 'Common encoding version set',
        },
      ],
    });
    // Events of both groups are stored in one place.
    expect(named('core.events').status.storageVersions[0].decodableVersions).toEqual(
      expect.arrayContaining(['v1', 'events.k8s.io/v1', 'events.k8s.io/v1beta1']),
    );
    expect(named('events.k8s.io.events')).toBeUndefined();
    expect(named('authorization.k8s.io.subjectaccessreviews')).toBeUndefined();
  });

  test('a server that is started again is another one, which stores in the same version', async () => {
    const features = gatesOf(['APIServerIdentity', 'StorageVersionAPI']);
    const first = await startTestServer({ ...quiet, store: 'lmdb', features, runtimeConfig });
    const second = await first.restart();
    servers.push(second);
    const { status } = await second.admin.ok('GET', `${storageVersions}/apps.deployments`);
    const names = status.storageVersions.map(({ apiServerID }: Loose) => apiServerID);
    expect([names.length, new Set(names).size, status.commonEncodingVersion]).toEqual([2, 2, 'apps/v1']);
    const { items } = await second.admin.ok('GET', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases');
    expect(items.map((one: Loose) => one.metadata.name)).toEqual(names.toSorted());
  });

  test('what a status says must fit together', async () => {
    const path = `${storageVersions}/apps.deployments`;
    const object = await switched.admin.ok('GET', path);
    const status = { storageVersions: [{ apiServerID: 'x', encodingVersion: 'v1', decodableVersions: ['v2'] }] };
    const refused = await switched.admin.put(`${path}/status`, { ...object, status });
    expect([refused.status, refused.json.details.causes.map((cause: Loose) => cause.field)]).toEqual([
      422,
      ['status.storageVersions[0].decodableVersions', 'status.commonEncodingVersion'],
    ]);
    expect((await switched.admin.post(storageVersions, { metadata: { name: 'nodots' } })).status).toBe(422);
  });

  test('alone or without the API it has no effect, and the log says so', async () => {
    await start({ features: gatesOf(['StorageVersionAPI']), log });
    await start({ features: gatesOf(['StorageVersionAPI', 'APIServerIdentity']), log });
    expect(warned).toEqual([
      'feature has no effect without another {"feature":"StorageVersionAPI","needs":"APIServerIdentity"}',
      'feature has no effect without another flag {"feature":"StorageVersionAPI","needs":"--runtime-config=internal.apiserver.k8s.io/v1alpha1"}',
    ]);
  });
});

test('the metric of features says of each gate whether it is on', async () => {
  const { text } = await switched.admin.get('/metrics');
  const lines = text.split('\n').filter((line) => line.startsWith('kubernetes_feature_enabled{'));
  expect(lines).toHaveLength(Object.keys(gates).length + 2);
  expect(lines).toContain('kubernetes_feature_enabled{name="OpenAPIV3",stage="BETA"} 0');
  expect(lines).toContain('kubernetes_feature_enabled{name="StorageVersionAPI",stage="ALPHA"} 1');
  expect(lines).toContain('kubernetes_feature_enabled{name="ServerSideApply",stage=""} 1');
  expect(lines).toContain('kubernetes_feature_enabled{name="AllAlpha",stage="ALPHA"} 0');
});

test('LogarithmicScaleDown: of surplus pods of about the same age those of the lowest uids go, or the youngest', async () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const left = async (features: TestServerOptions['features']): Promise<{ made: Loose[]; kept: string[] }> => {
    const server = await startKitServer({ identity: 'kubernetes', workloads: ['controllers'], clock: 'fake', server: { features } });
    try {
      const client = server.client();
      const [pods, sets] = [client.core.v1.pods('default'), client.apps.v1.replicasets('default')];
      await server.settled();
      const made: Loose[] = [];
      for (let i = 0; i < 6; i++) {
        made.push(await pods.create({ ...template, metadata: { ...template.metadata, name: `p${i}` } }));
        await server.clock.advance('1s');
      }
      await server.clock.advance('1h');
      await sets.create({ metadata: { name: 'web' }, spec: { replicas: 1, selector: { matchLabels: { a: 'b' } }, template } });
      await server.settled();
      const { items } = await pods.list();
      return { made, kept: items.map(({ metadata }) => metadata.name as string) };
    } finally {
      await server.close();
    }
  };
  const { made, kept } = await left(gatesOf([]));
  const uids: string[] = made.map(({ metadata }) => metadata.uid).sort();
  expect(kept).toEqual([made.find(({ metadata }) => metadata.uid === uids.at(-1)).metadata.name]);
  expect((await left(gatesOf([], ['LogarithmicScaleDown']))).kept).toEqual(['p0']);
});
