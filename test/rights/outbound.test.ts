/**
 * Where this server connects to on behalf of others: never to its own loopback or link, whatever a name means from one moment
 * to the next, and never to itself with credentials of its own.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../packages/lib/src/clock.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { ensureAuthority, issueClient, issueServing, keyDirectory } from '../../packages/pki/src/index.ts';
import { Answer } from '../../packages/server/src/http-client/exchange.ts';
import { dial } from '../../packages/server/src/tunnels/dial.ts';
import { type Guard, guardedLookup } from '../../packages/server/src/tunnels/guard.ts';
import { isProxyable } from '../../packages/server/src/tunnels/target.ts';
import { addNode, startBackend } from '../connect/support.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';

let server: TestServer;
let ns: string;
/** A server that shows agents a certificate which it would itself believe. */
async function start(more: TestServerOptions): Promise<TestServer> {
  const dataDir = temporaryDirectory('plat-outbound');
  const pki = join(dataDir, 'pki');
  mkdirSync(pki, { mode: 0o700 });
  const authority = await ensureAuthority(keyDirectory(pki), 'ca', 'kubernetes-ca', Date.now());
  const client = issueClient(authority, 'the-server', ['system:masters'], Date.now());
  const [certificate, key] = [join(dataDir, 'agent-client.crt'), join(dataDir, 'agent-client.key')];
  writeFileSync(certificate, client.certificate, { mode: 0o600 });
  writeFileSync(key, client.key, { mode: 0o600 });
  return startTestServer({
    identity: 'kubernetes',
    controllers: [],
    dataDir,
    kubeletClientCertificate: certificate,
    kubeletClientKey: key,
    kubeletPreferredAddressTypes: ['InternalIP', 'Hostname'],
    ...more,
  });
}
let local: TestServer;
beforeAll(async () => {
  server = await start({});
  local = await start({ proxyToLocalAddresses: true });
  ns = await server.namespace();
  await local.admin.ok('POST', '/api/v1/namespaces', { metadata: { name: ns } });
  for (const one of [server, local])
    await one.admin.send('POST', `/api/v1/namespaces/${ns}/serviceaccounts`, { body: { metadata: { name: 'default' } } });
});
afterAll(async () => {
  await server.close();
  await local.close();
});

async function pathsOf(node: string, to = server): Promise<string[]> {
  const pods = `/api/v1/namespaces/${ns}/pods`;
  const spec = { nodeName: node, containers: [{ name: 'main', image: 'i' }] };
  await to.admin.ok('POST', pods, { metadata: { name: node }, spec });
  return [`/api/v1/nodes/${node}/proxy/api/v1/secrets`, `/api/v1/nodes/${node}:${to.port}/proxy/api/v1/secrets`, `${pods}/${node}/log`];
}
const upgrade = { connection: 'Upgrade', upgrade: 'SPDY/3.1' };

describe('the agent of a node', () => {
  test.each([
    ['loopback', '127.0.0.1', 'InternalIP'],
    ['loopback in other words', '0177.0.0.1', 'Hostname'],
    ['mapped loopback', '::ffff:127.0.0.1', 'InternalIP'],
    ['IPv6 loopback', '::1', 'InternalIP'],
    ['link-local', '169.254.169.254', 'InternalIP'],
    ['a zone', 'fe80::1%lo', 'InternalIP'],
    ['unspecified', '0.0.0.0', 'InternalIP'],
    ['a name', 'localhost', 'Hostname'],
    ['a number', '2130706433', 'Hostname'],
    ['hexadecimal', '0x7f.1', 'Hostname'],
  ])('is not at %s', async (what, address, type) => {
    const node = `n-${what.replaceAll(' ', '-').toLowerCase()}`;
    await server.admin.ok('POST', '/api/v1/nodes', { metadata: { name: node } });
    const status = { addresses: [{ type, address }], daemonEndpoints: { kubeletEndpoint: { Port: server.port } } };
    expect((await server.admin.patch(`/api/v1/nodes/${node}/status`, { status })).status).toBe(200);
    const [proxied = '', port = '', log = ''] = await pathsOf(node);
    for (const path of [proxied, port, log]) {
      const answer = await server.admin.get(path);
      expect([answer.status, answer.json.message], path).toEqual([400, 'address not allowed']);
    }
    const pod = `/api/v1/namespaces/${ns}/pods/${node}`;
    for (const path of [
      `${pod}/exec?command=x&stdout=1`,
      `${pod}/attach?stdout=1`,
      `${pod}/portforward?ports=80`,
      `/api/v1/nodes/${node}/proxy/exec`,
    ]) {
      const answer = await server.admin.send('GET', path, { headers: upgrade });
      expect([answer.status, answer.text.includes('address not allowed')], `${path} ${answer.text}`).toEqual([400, true]);
    }
  });

  test('is not this server, nor a peer with the same authority, also where local addresses are allowed', async () => {
    await addNode(local, 'mirror', local.port);
    const [proxied = '', , log = ''] = await pathsOf('mirror', local);
    for (const path of [proxied, log]) {
      const answer = await local.admin.get(path);
      expect([answer.status, answer.json.message], path).toEqual([400, 'the address leads to this server itself']);
    }
    const pod = `/api/v1/namespaces/${ns}/pods/mirror`;
    for (const path of [`${pod}/exec?command=x&stdout=1`, `${pod}/portforward?ports=80`]) {
      const answer = await local.admin.send('GET', path, { headers: upgrade });
      expect([answer.status, answer.text.includes('this server itself')], `${path} ${answer.text}`).toEqual([400, true]);
    }
    // A peer has a key of its own; its certificate names the service of the API.
    const authority = await ensureAuthority(keyDirectory(join(local.dataDir, 'pki')), 'ca', 'kubernetes-ca', Date.now());
    const names = { commonName: 'kubernetes', dns: ['kubernetes.default.svc'], addresses: ['127.0.0.1'] };
    const { certificate, key } = issueServing(authority, names, Date.now());
    const peer = await startBackend({ cert: certificate, key, ca: authority.certificate.toString() });
    await addNode(local, 'peer', peer.port);
    const answer = await local.admin.get('/api/v1/nodes/peer/proxy/api/v1/secrets');
    expect([answer.status, answer.json.message]).toEqual([400, 'the address leads to this server itself']);
    expect(peer.seen).toEqual([]);
    await peer.close();
  });
});

describe('pods', () => {
  test.each(['127.0.0.1', '169.254.169.254', '::1', 'fe80::1'])('are not at %s', async (ip) => {
    const name = `p-${ip.replace(/[.:]+/g, '-')}x`;
    const pods = `/api/v1/namespaces/${ns}/pods`;
    await server.admin.ok('POST', pods, { metadata: { name }, spec: { containers: [{ name: 'main', image: 'i' }] } });
    expect((await server.admin.patch(`${pods}/${name}/status`, { status: { podIP: ip, podIPs: [{ ip }] } })).status).toBe(200);
    const answer = await server.admin.get(`${pods}/https:${name}:${server.port}/proxy/`);
    expect([answer.status, answer.json.message]).toEqual([400, 'address not allowed']);
  });
});

describe('names that change what they mean', () => {
  const limits = { clock: systemClock, answerMs: 60_000 };
  const guardWith = (answers: string[][]): Guard & { asked: number } => {
    const guard = {
      asked: 0,
      allowed: isProxyable,
      lookup: async () => answers[guard.asked++] ?? [],
      refused: () => false,
    };
    return guard;
  };
  const connect = async (guard: Guard, port: number): Promise<string> => {
    const { head } = await dial({ host: 'rebind.example', port, guard }, { method: 'GET', path: '/', headers: ['Host', 'x'], ...limits });
    return head.then(
      (answer) => String(answer instanceof Answer && answer.status),
      (error: Error) => error.name,
    );
  };

  test('are looked up once, and what was checked is what is connected to', async () => {
    const backend = await startBackend();
    for (const answers of [[['127.0.0.1']], [['10.0.0.1', '127.0.0.1']], [['::ffff:7f00:1']], [['not an address']]]) {
      const guard = guardWith([...answers, ['127.0.0.1']]);
      expect(await connect(guard, backend.port)).toBe('AddressNotAllowed');
      expect(guard.asked).toBe(1);
    }
    expect(backend.seen).toEqual([]);
    // Without the rule the same connection comes about.
    const { allowed: _, ...open } = guardWith([['127.0.0.1']]);
    expect(await connect({ ...open, lookup: async () => ['127.0.0.1'] }, backend.port)).toBe('200');
    await backend.close();
  });

  test('answer in the form that was asked for', async () => {
    const guard = guardWith([['10.0.0.1', 'fd00::1'], ['10.0.0.1'], []]);
    const ask = (all: boolean) =>
      new Promise((resolve) =>
        guardedLookup(guard)('h', { all } as never, (error, address, family) => resolve(error?.name ?? [address, family])),
      );
    expect(await ask(true)).toEqual([
      [
        { address: '10.0.0.1', family: 4 },
        { address: 'fd00::1', family: 6 },
      ],
      undefined,
    ]);
    expect(await ask(false)).toEqual(['10.0.0.1', 4]);
    expect(await ask(false)).toBe('Error');
    const local = dial({ host: '127.0.0.1', port: 1, guard }, { method: 'GET', path: '/', headers: [], ...limits });
    await expect(local).rejects.toThrow('address not allowed');
  });
});

test('a webhook and a server behind this one are not this server', async () => {
  const caBundle = Buffer.from(await ca()).toString('base64');
  const webhook = {
    name: 'self.example.test',
    clientConfig: { url: `https://127.0.0.1:${server.port}/api/v1/namespaces`, caBundle },
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    sideEffects: 'None',
    failurePolicy: 'Fail',
    admissionReviewVersions: ['v1'],
  };
  const hooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  await server.admin.ok('POST', hooks, { metadata: { name: 'self' }, webhooks: [webhook] });
  const refused = await server.admin.post(`/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: 'c' } });
  expect([refused.status, refused.json.message]).toEqual([500, expect.stringContaining('the address leads to this server itself')]);
  await server.admin.ok('DELETE', `${hooks}/self`);

  await server.admin.ok('POST', `/api/v1/namespaces/${ns}/services`, {
    metadata: { name: 'self' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  const spec = { group: 'self.example.com', version: 'v1', groupPriorityMinimum: 2000, versionPriority: 10, insecureSkipTLSVerify: true };
  const apis = '/apis/apiregistration.k8s.io/v1/apiservices';
  await server.admin.ok('POST', apis, {
    metadata: { name: 'v1.self.example.com' },
    spec: { ...spec, service: { name: 'self', namespace: ns, port: server.port } },
  });
  const watch = await server.admin.watch(`${apis}?watch=1&fieldSelector=metadata.name%3Dv1.self.example.com`);
  const events = await watch.until((event) => (event.object.status?.conditions ?? []).length > 0);
  watch.close();
  expect(events.at(-1)?.object.status.conditions[0]).toMatchObject({
    type: 'Available',
    status: 'False',
    message: expect.stringContaining('this server itself'),
  });
});

async function ca(): Promise<string> {
  return (await server.admin.ok('GET', '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication')).data[
    'client-ca-file'
  ];
}
