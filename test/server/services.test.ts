/** Addresses and node ports of services: given out once, kept, given back, whatever happens meanwhile. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Engine, Operation } from '../../packages/storage/src/engine.ts';
import { storedValue } from '../../packages/storage/src/item.ts';
import { type Loose, startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';

const kubernetes: TestServerOptions = { identity: 'kubernetes', controllers: [] };
const service = (name: string, spec: Loose = {}): Loose => ({ metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });

/** Members of a kind (`ips`, `ports`) that the store says are given out. */
async function given(engine: Engine, what: string): Promise<string[]> {
  const prefix = `alloc/${what}/`;
  return (await engine.range({ prefix })).entries.map(({ key }) => key.slice(prefix.length));
}

/** Somebody else takes a key in the very moment in which the next commit that wants it is made. Answers what was taken. */
function rival(engine: Engine, wants: (operation: Operation) => boolean): Promise<string> {
  const commit = engine.commit.bind(engine);
  return new Promise((taken) => {
    engine.commit = async (operations) => {
      const wanted = operations.find(wants);
      if (wanted !== undefined) {
        engine.commit = commit;
        await commit([{ type: 'put', key: wanted.key, value: storedValue('{"uid":"rival"}', 'rival'), expect: 0 }]);
        taken(wanted.key);
      }
      return commit(operations);
    };
  });
}
const takes =
  (prefix: string) =>
  (operation: Operation): boolean =>
    operation.type === 'put' && operation.key.startsWith(prefix);

describe('one server', () => {
  let server: TestServer;
  let path: string;
  beforeAll(async () => {
    server = await startTestServer({ ...kubernetes, direct: true });
    path = `/api/v1/namespaces/${await server.namespace()}/services`;
  });
  afterAll(() => server.close());
  const make = (body: Loose, query = ''): Promise<Loose> => server.admin.ok('POST', `${path}${query}`, body);

  test('a hundred services made at once have addresses of their own', async () => {
    const made = await Promise.all(Array.from({ length: 100 }, (_, i) => make(service(`many-${i}`))));
    const addresses = made.map(({ spec }) => spec.clusterIP);
    expect(new Set(addresses).size).toBe(100);
    expect(addresses).not.toContain('10.0.0.1');
    for (const address of addresses) expect(address).toMatch(/^10\.0\.0\.\d+$/);
    expect(await given(server.engine, 'ips')).toEqual(expect.arrayContaining(addresses));
    await Promise.all(made.map(({ metadata }) => server.admin.ok('DELETE', `${path}/${metadata.name}`)));
    expect(await given(server.engine, 'ips')).toEqual(['10.0.0.1']);
  });

  test('an address that was asked for is had once, and only within the range', async () => {
    await make(service('asked', { clusterIP: '10.0.0.77' }));
    const refused = async (clusterIP: string): Promise<string> =>
      (await server.admin.post(path, service('again', { clusterIP }))).json.details.causes[0].message;
    expect(await refused('10.0.0.77')).toBe(
      'Invalid value: []string{"10.0.0.77"}: failed to allocate IP 10.0.0.77: provided IP is already allocated',
    );
    expect(await refused('10.9.0.1')).toBe(
      'Invalid value: []string{"10.9.0.1"}: failed to allocate IP 10.9.0.1: the provided IP (10.9.0.1) is not in the valid range. The range of valid IPs is 10.0.0.0/24',
    );
    await server.admin.ok('DELETE', `${path}/asked`);
    await make(service('again', { clusterIP: '10.0.0.77' }));
  });

  test('what a type does not need is given back in the same write', async () => {
    const made = await make(service('turns', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }));
    const ports = [made.spec.ports[0].nodePort, made.spec.healthCheckNodePort].map(String).sort();
    expect(await given(server.engine, 'ports')).toEqual(ports);
    const turn = async (spec: Loose): Promise<Loose> => {
      const answer = await server.admin.patch(`${path}/turns`, { spec });
      expect(answer.status).toBe(200);
      return answer.json;
    };
    await turn({ externalTrafficPolicy: 'Cluster' });
    expect(await given(server.engine, 'ports')).toEqual([String(made.spec.ports[0].nodePort)]);
    await turn({ type: 'ExternalName', externalName: 'a.example' });
    expect(await given(server.engine, 'ports')).toEqual([]);
    expect(await given(server.engine, 'ips')).not.toContain(made.spec.clusterIP);
    const back = await turn({ type: 'NodePort' });
    expect(await given(server.engine, 'ips')).toContain(back.spec.clusterIP);
    expect(await given(server.engine, 'ports')).toEqual([String(back.spec.ports[0].nodePort)]);
    await server.admin.ok('DELETE', `${path}/turns`);
    expect(await given(server.engine, 'ports')).toEqual([]);
  });

  test('a port may move to another number, and its old one is free again', async () => {
    await make(service('moves', { type: 'NodePort', ports: [{ port: 80, nodePort: 30100 }] }));
    await server.admin.ok('PUT', `${path}/moves`, service('moves', { type: 'NodePort', ports: [{ port: 80, nodePort: 30101 }] }));
    expect(await given(server.engine, 'ports')).toEqual(['30101']);
    await server.admin.ok('DELETE', `${path}/moves`);
  });

  test('a dry run gives out nothing', async () => {
    const before = await given(server.engine, 'ips');
    const shown = await make(service('dry', { type: 'NodePort', ports: [{ port: 80, nodePort: 30200 }] }), '?dryRun=All');
    expect(shown.spec.clusterIP).toMatch(/^10\.0\.0\./);
    expect(await given(server.engine, 'ips')).toEqual(before);
    expect(await given(server.engine, 'ports')).toEqual([]);
    await make(service('real', { type: 'NodePort', ports: [{ port: 80, nodePort: 30200 }] }));
    const late = await server.admin.post(
      `${path}?dryRun=All`,
      service('dry', { type: 'NodePort', ports: [{ port: 80, nodePort: 30200 }] }),
    );
    expect(late.json.details.causes[0].message).toBe('Invalid value: 30200: provided port is already allocated');
    await server.admin.ok('DELETE', `${path}/real`);
  });

  test('finding 14: a dry run says what the real request would say of addresses and ports', async () => {
    const taken = (await make(service('holder', {}))).spec.clusterIP;
    await make(service('changes', { type: 'ExternalName', externalName: 'a.example.com' }));
    const port = (nodePort: number) => ({ type: 'NodePort', ports: [{ port: 80, nodePort }] });
    for (const spec of [{ clusterIP: taken }, { clusterIP: '10.0.0.1' }, { clusterIP: '192.0.2.1' }, port(80), port(65_000)]) {
      const [dry, real] = await Promise.all(
        ['?dryRun=All', ''].map((query) => server.admin.post(`${path}${query}`, service('refused', spec))),
      );
      expect(dry?.json).toMatchObject({ code: 422, reason: 'Invalid' });
      expect(dry?.json).toEqual(real?.json);
    }
    const change = { spec: { type: 'ClusterIP', externalName: null, clusterIP: taken, ports: [{ port: 80 }] } };
    const dry = await server.admin.patch(`${path}/changes?dryRun=All`, change);
    expect(dry.json).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(dry.json).toEqual((await server.admin.patch(`${path}/changes`, change)).json);
    for (const name of ['holder', 'changes']) await server.admin.ok('DELETE', `${path}/${name}`);
  });

  test('a write that is refused gives out nothing', async () => {
    const before = await given(server.engine, 'ips');
    const refused = await server.admin.post(path, service('bad', { sessionAffinity: 'Cookie' }));
    expect(refused.status).toBe(422);
    expect(await given(server.engine, 'ips')).toEqual(before);
  });

  test('another is chosen when an address or port is taken in the last moment', async () => {
    const lost = rival(server.engine, takes('alloc/ips/'));
    const made = await make(service('raced'));
    expect(`alloc/ips/${made.spec.clusterIP}`).not.toBe(await lost);
    const { metadata } = made;
    const port = rival(server.engine, takes('alloc/ports/'));
    const changed = await server.admin.ok('PUT', `${path}/raced`, {
      ...service('raced', { type: 'NodePort' }),
      metadata: { name: 'raced', resourceVersion: metadata.resourceVersion },
    });
    expect(`alloc/ports/${changed.spec.ports[0].nodePort}`).not.toBe(await port);
    await server.admin.ok('DELETE', `${path}/raced`);
  });

  test('an address that was asked for and taken in the last moment is refused', async () => {
    const lost = rival(server.engine, takes('alloc/ips/'));
    const refused = await server.admin.post(path, service('raced', { clusterIP: '10.0.0.123' }));
    expect(await lost).toBe('alloc/ips/10.0.0.123');
    expect(refused.status).toBe(422);
    expect(refused.json.details.causes[0].message).toContain('provided IP is already allocated');
  });

  test('endpoints of its name go with a service', async () => {
    await make(service('gone'));
    const endpoints = path.replace('services', 'endpoints');
    await server.admin.ok('POST', endpoints, { metadata: { name: 'gone' } });
    await server.admin.ok('POST', endpoints, { metadata: { name: 'stays' } });
    await server.admin.ok('DELETE', `${path}/gone`);
    expect((await server.admin.get(`${endpoints}/gone`)).status).toBe(404);
    expect((await server.admin.get(`${endpoints}/stays`)).status).toBe(200);
  });

  test('the service of the server itself has the first address and its port', async () => {
    const own = await server.admin.ok('GET', '/api/v1/namespaces/default/services/kubernetes');
    expect(own.spec).toMatchObject({ clusterIP: '10.0.0.1', ports: [{ name: 'https', port: 443, targetPort: server.port }] });
  });
});

describe('small ranges', () => {
  let server: TestServer;
  let path: string;
  beforeAll(async () => {
    server = await startTestServer({
      ...kubernetes,
      serviceClusterIpRange: ['10.7.0.0/29'],
      serviceNodePortRange: { first: 30000, last: 30001 },
    });
    path = `/api/v1/namespaces/${await server.namespace()}/services`;
  });
  afterAll(() => server.close());

  test('a range that is used up is reported, and released addresses are allocated again', async () => {
    // Six addresses, one of which leads to the server.
    await Promise.all([1, 2, 3, 4, 5].map((i) => server.admin.ok('POST', path, service(`s${i}`))));
    const full = await server.admin.post(path, service('s6'));
    expect([full.status, full.json.reason]).toEqual([503, 'ServiceUnavailable']);
    expect(full.json.message).toBe('failed to allocate a serviceIP: range is full');
    await server.admin.ok('DELETE', `${path}/s3`);
    const results = await Promise.all(['a', 'b', 'c'].map((name) => server.admin.post(path, service(name))));
    expect(results.map(({ status }) => status).sort()).toEqual([201, 503, 503]);
  });

  test('node ports likewise', async () => {
    const plain = (name: string): Loose => service(name, { clusterIP: undefined, type: 'NodePort' });
    await server.admin.ok('DELETE', `${path}/s1`);
    await server.admin.ok('DELETE', `${path}/s2`);
    await server.admin.ok('DELETE', `${path}/s4`);
    await server.admin.ok('POST', path, plain('p1'));
    await server.admin.ok('POST', path, plain('p2'));
    const full = await server.admin.post(path, plain('p3'));
    expect(full.json.message).toBe('failed to allocate a nodePort: range is full');
  });
});

describe('restarts', () => {
  test('allocations are kept, and mended where they were lost', async () => {
    let server = await startTestServer({ ...kubernetes, store: 'lmdb' });
    try {
      const path = `/api/v1/namespaces/${await server.namespace()}/services`;
      // Neither the address nor the port that are written to the store below.
      const kept = await server.admin.ok(
        'POST',
        path,
        service('kept', { type: 'NodePort', clusterIP: '10.0.0.77', ports: [{ port: 80, nodePort: 30100 }] }),
      );
      server = await server.restart();
      const again = await server.admin.post(path, service('other', { clusterIP: kept.spec.clusterIP }));
      expect(again.json.details.causes[0].message).toContain('provided IP is already allocated');
      expect(await given(server.engine, 'ips')).toEqual(['10.0.0.1', kept.spec.clusterIP].sort());

      await server.engine.commit([
        { type: 'delete', key: `alloc/ips/${kept.spec.clusterIP}` },
        { type: 'delete', key: `alloc/ports/${kept.spec.ports[0].nodePort}` },
        { type: 'put', key: 'alloc/ips/10.0.0.250', value: storedValue('{"uid":"nobody"}', 'nobody') },
        { type: 'put', key: 'alloc/ports/31999', value: storedValue('{"uid":"nobody"}', 'nobody') },
      ]);
      server = await server.restart();
      expect(await given(server.engine, 'ips')).toEqual(['10.0.0.1', kept.spec.clusterIP].sort());
      expect(await given(server.engine, 'ports')).toEqual([String(kept.spec.ports[0].nodePort)]);
      expect(server.errors).toEqual([]);
    } finally {
      await server.close();
    }
  });

  test('the service of the server follows its port', async () => {
    let server = await startTestServer({ ...kubernetes, store: 'lmdb', advertiseAddress: '192.0.2.7' });
    try {
      server = await server.restart();
      const own = await server.admin.ok('GET', '/api/v1/namespaces/default/services/kubernetes');
      expect(own.spec.ports[0].targetPort).toBe(server.port);
      const endpoints = await server.admin.ok('GET', '/api/v1/namespaces/default/endpoints/kubernetes');
      expect(endpoints.subsets).toEqual([
        { addresses: [{ ip: '192.0.2.7' }], ports: [{ name: 'https', port: server.port, protocol: 'TCP' }] },
      ]);
      const slice = await server.admin.ok('GET', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes');
      expect(slice).toMatchObject({
        addressType: 'IPv4',
        endpoints: [{ addresses: ['192.0.2.7'] }],
        ports: [{ name: 'https', port: server.port, protocol: 'TCP' }],
      });
    } finally {
      await server.close();
    }
  });
});

describe('two families', () => {
  let server: TestServer;
  let path: string;
  beforeAll(async () => {
    server = await startTestServer({ ...kubernetes, serviceClusterIpRange: ['10.8.0.0/24', 'fd00:8::/112'] });
    path = `/api/v1/namespaces/${await server.namespace()}/services`;
  });
  afterAll(() => server.close());
  const patch = async (name: string, spec: Loose): Promise<Loose> => (await server.admin.patch(`${path}/${name}`, { spec })).json;

  test('a service may be widened to both and narrowed to the first', async () => {
    const single = await server.admin.ok('POST', path, service('w'));
    expect(single.spec).toMatchObject({ ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' });
    const both = await patch('w', { ipFamilyPolicy: 'RequireDualStack' });
    expect(both.spec.ipFamilies).toEqual(['IPv4', 'IPv6']);
    expect(both.spec.clusterIPs[0]).toBe(single.spec.clusterIP);
    expect(both.spec.clusterIPs[1]).toMatch(/^fd00:8::/);
    expect(await given(server.engine, 'ips')).toEqual(expect.arrayContaining(both.spec.clusterIPs));
    const back = await patch('w', { ipFamilyPolicy: 'SingleStack' });
    expect(back.spec.clusterIPs).toEqual([single.spec.clusterIP]);
    expect(await given(server.engine, 'ips')).not.toContain(both.spec.clusterIPs[1]);
  });

  test('the second address cannot go without asking for one family', async () => {
    const both = await server.admin.ok('POST', path, service('d', { ipFamilyPolicy: 'PreferDualStack' }));
    expect(both.spec.ipFamilies).toEqual(['IPv4', 'IPv6']);
    const refused = await patch('d', { clusterIPs: [both.spec.clusterIP] });
    expect(refused.details.causes[0].message).toContain("must be 'SingleStack' to release the secondary cluster IP");
  });

  test('an address of the second family may lead', async () => {
    const made = await server.admin.ok('POST', path, service('six', { ipFamilies: ['IPv6'] }));
    expect(made.spec).toMatchObject({ ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' });
    expect(made.spec.clusterIP).toMatch(/^fd00:8::/);
  });
});
