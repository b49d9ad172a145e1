/** Who connects how, and what they may do. */
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { issueClient, newAuthority, readAuthority } from '../../packages/pki/src/index.ts';
import { parseYaml } from '../../packages/schema/src/yaml/index.ts';
import { freePort } from '../support/free-ports.ts';
import { Client, type Loose, startTestServer, type TestServer, unique } from '../support/server.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
let server: TestServer;
let plainPort: number;
const authority = newAuthority('somebody else', Date.now());
beforeAll(async () => {
  plainPort = await freePort();
  const clientCaFile = join(temporaryDirectory('plat-ca'), 'ca.crt');
  writeFileSync(clientCaFile, authority.certificate);
  server = await startTestServer({ identity: 'kubernetes', insecurePort: plainPort, clientCaFile });
});
afterAll(() => server.close());

describe('protocols', () => {
  test('HTTP/2 where the client offers it, HTTP/1.1 where not', async () => {
    const chosen = (protocols: string[]) =>
      new Promise((resolve, reject) => {
        const socket = tls.connect({ host: '127.0.0.1', port: server.port, ALPNProtocols: protocols, rejectUnauthorized: false }, () => {
          resolve(socket.alpnProtocol);
          socket.destroy();
        });
        socket.on('error', reject);
      });
    expect(await chosen(['h2', 'http/1.1'])).toBe('h2');
    expect(await chosen(['http/1.1'])).toBe('http/1.1');
  });

  test('the certificate is good for the names of the service, and signed by the authority in the administrator’s configuration', async () => {
    const config = parseYaml(readFileSync(server.running.adminConfigPath)) as Loose;
    const ca = Buffer.from(config.clusters[0].cluster['certificate-authority-data'], 'base64');
    for (const servername of ['localhost', 'kubernetes', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'])
      await new Promise<void>((resolve, reject) => {
        const socket = tls.connect({ host: '127.0.0.1', port: server.port, ca, servername }, () => {
          resolve();
          socket.destroy();
        });
        socket.on('error', reject);
      });
  });

  test('many requests at once on one HTTP/2 connection', async () => {
    const client = server.client({ token: 'admin-token', http2: true });
    const path = `/api/v1/namespaces/${await server.namespace()}/secrets`;
    const made = await Promise.all(Array.from({ length: 100 }, () => client.post(path, { metadata: { generateName: 's-' } })));
    expect(made.every((answer) => answer.status === 201)).toBe(true);
    expect((await client.ok('GET', path)).items.length).toBe(100);
  });

  test('plain HTTP on loopback asks for credentials all the same', async () => {
    const plain = new Client(`http://127.0.0.1:${plainPort}`, { token: 'admin-token' });
    expect((await plain.get('/api/v1/namespaces/default')).json.metadata.name).toBe('default');
    const nobody = new Client(`http://127.0.0.1:${plainPort}`);
    expect((await nobody.get('/api/v1/namespaces/default')).status).toBe(403);
    const others = Object.values(networkInterfaces())
      .flat()
      .filter((one) => one !== undefined && !one.internal && one.family === 'IPv4');
    for (const other of others) await expect(new Client(`http://${other?.address}:${plainPort}`).get('/version')).rejects.toThrow();
    plain.close();
    nobody.close();
  });

  test('plain HTTP on the port of HTTPS gets an answer that says so', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(server.port, '127.0.0.1', () => socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'));
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(text));
    });
    expect(answer).toBe('HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n');
    expect((await server.admin.send('GET', '/livez')).status).toBe(200);
  });

  test('what is no HTTP at all does not hurt', async () => {
    for (const text of [
      'GARBAGE\r\n\r\n',
      `GET /version HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(80_000)}\r\n\r\n`,
      'GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n',
    ])
      await new Promise<void>((resolve) => {
        const socket = tls.connect({ host: '127.0.0.1', port: server.port, ALPNProtocols: ['http/1.1'], rejectUnauthorized: false }, () =>
          socket.write(text),
        );
        socket.on('data', () => socket.destroy());
        socket.on('error', () => {});
        socket.on('close', () => resolve());
      });
    expect((await server.admin.get('/version')).status).toBe(200);
  });
});

describe('client certificates', () => {
  test('the administrator’s own', async () => {
    const { user } = (parseYaml(readFileSync(server.running.adminConfigPath)) as Loose).users[0];
    const pem = (name: string): string => Buffer.from(user[name], 'base64').toString();
    const certificate = { key: pem('client-key-data'), cert: pem('client-certificate-data') };
    for (const http2 of [false, true]) expect((await server.client({ certificate, http2 }).get('/api/v1/secrets')).status).toBe(200);
  });

  test('common name and organizations are user and groups', async () => {
    const issued = issueClient(readAuthority(authority), 'jane', ['team-a', 'team-b'], Date.now());
    const jane = server.client({ certificate: { key: issued.key, cert: issued.certificate } });
    const refused = await jane.get('/api/v1/nodes');
    expect(refused.json).toMatchObject({
      code: 403,
      message: 'nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope',
    });
    await server.admin.ok('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name: unique('b') },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'team-b' }],
    });
    expect((await jane.get('/api/v1/nodes')).status).toBe(200);
  });

  test('one of an unknown authority is refused', async () => {
    const stranger = issueClient(readAuthority(newAuthority('stranger', Date.now())), 'admin', ['system:masters'], Date.now());
    const answer = await server.client({ certificate: { key: stranger.key, cert: stranger.certificate } }).get('/api/v1/nodes');
    expect(answer.json).toMatchObject({ code: 401, reason: 'Unauthorized' });
  });
});

describe('without credentials', () => {
  test('anonymous: health and version, nothing else', async () => {
    for (const path of ['/healthz', '/livez', '/readyz', '/version']) expect((await server.anonymous.get(path)).status, path).toBe(200);
    for (const path of ['/api', '/apis', '/metrics', '/openapi/v2', '/api/v1/namespaces/default']) {
      const answer = await server.anonymous.get(path);
      expect(answer.json, path).toMatchObject({
        kind: 'Status',
        code: 403,
        reason: 'Forbidden',
        message: expect.stringContaining('User "system:anonymous" cannot get'),
      });
    }
  });

  test('a wrong token is 401, not anonymous', async () => {
    const answer = await server.client({ token: 'wrong' }).get('/healthz');
    expect(answer.json).toMatchObject({ kind: 'Status', code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
  });

  test('--anonymous-auth=false: 401', async () => {
    const strict = await startTestServer({ anonymousAuth: false });
    expect((await strict.anonymous.get('/api/v1/nodes')).status).toBe(401);
    expect((await strict.admin.get('/api/v1/nodes')).status).toBe(200);
    await strict.close();
  });
});

describe('what they may do', () => {
  test('nothing without a role; at once what a role grants; nothing again without its binding', async () => {
    const ns = await server.namespace();
    const path = `/api/v1/namespaces/${ns}/configmaps`;
    const refused = await server.bob.get(path);
    expect(refused.json).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: `configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group "" in the namespace "${ns}"`,
    });
    await server.admin.ok('POST', `${rbac}/namespaces/${ns}/roles`, {
      metadata: { name: 'r' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] }],
    });
    await server.admin.ok('POST', `${rbac}/namespaces/${ns}/rolebindings`, {
      metadata: { name: 'b' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
    });
    expect((await server.bob.get(path)).status).toBe(200);
    (await server.bob.watch(`${path}?watch=1`)).close();
    expect((await server.bob.get(`${path}/x`)).status).toBe(403);
    expect((await server.bob.post(path, { metadata: { name: 'a' } })).status).toBe(403);
    expect((await server.bob.get('/api/v1/configmaps')).status).toBe(403);
    await server.admin.ok('DELETE', `${rbac}/namespaces/${ns}/rolebindings/b`);
    expect((await server.bob.get(path)).status).toBe(403);
  });

  test('modes: always, never', async () => {
    const open = await startTestServer({ authorizationMode: ['AlwaysAllow'] });
    expect((await open.bob.get('/api/v1/secrets')).status).toBe(200);
    await open.close();
    const shut = await startTestServer({ authorizationMode: ['AlwaysDeny'] });
    expect((await shut.bob.get('/api/v1/secrets')).status).toBe(403);
    expect((await shut.admin.get('/api/v1/secrets')).status).toBe(200);
    await shut.close();
  });
});
