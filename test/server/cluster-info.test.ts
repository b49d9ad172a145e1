/** `cluster-info`: what somebody who holds nothing but a bootstrap token learns of the server. */
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { issueServing, newAuthority, readAuthority } from '../../packages/pki/src/index.ts';
import { parseYaml } from '../../packages/schema/src/yaml/index.ts';
import { type Loose, startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';

const open: TestServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});
async function start(options: TestServerOptions): Promise<TestServer> {
  const server = await startTestServer({ store: 'memory', ...options });
  open.push(server);
  return server;
}
const pathOf = (server: TestServer): string => `/api/v1/namespaces/${server.identity.namespaces.public}/configmaps/cluster-info`;
const clusterOf = (map: Loose): { server: string; ca: Buffer } => {
  const { clusters, users } = parseYaml(map.data.kubeconfig) as Loose;
  expect(users).toEqual([]);
  expect(clusters).toHaveLength(1);
  return { server: clusters[0].cluster.server, ca: Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64') };
};
/** The code of an answer, by a client that trusts these authorities alone. */
const ask = (url: string, ca: Buffer): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request(url, { ca, agent: false }, (res) => {
      res.resume().on('end', () => resolve(res.statusCode));
    })
      .on('error', reject)
      .end();
  });

test.each(['plat', 'kubernetes'])('as %s: anyone reads it, and finds and trusts the server by it', async (identity) => {
  const server = await start({ identity, enableBootstrapTokenAuth: true });
  const found = await server.anonymous.ok('GET', pathOf(server));
  const { server: address, ca } = clusterOf(found);
  expect(address).toBe(server.address);
  expect(await ask(`${address}/healthz`, ca)).toBe(200);
  // That one object, and only to read.
  const maps = pathOf(server).replace('/cluster-info', '');
  expect((await server.anonymous.send('GET', maps)).status).toBe(403);
  expect((await server.anonymous.send('DELETE', pathOf(server))).status).toBe(403);
});

test('without bootstrap tokens there is none', async () => {
  const server = await start({});
  expect((await server.admin.send('GET', pathOf(server))).status).toBe(404);
  expect((await server.anonymous.send('GET', pathOf(server))).status).toBe(403);
});

/** A token that may sign. */
const tokenOf = (server: TestServer, id: string, secret: string): Loose => ({
  metadata: { name: `bootstrap-token-${id}` },
  type: `bootstrap.${server.identity.domain}/token`,
  stringData: { 'token-id': id, 'token-secret': secret, 'usage-bootstrap-signing': 'true' },
});

test.each(['plat', 'kubernetes'])('as %s: it is signed with every token that may sign', async (identity) => {
  const server = await start({ identity, enableBootstrapTokenAuth: true });
  const [id, secret] = ['abcdef', '0123456789abcdef'];
  const secrets = `/api/v1/namespaces/${server.identity.namespaces.system}/secrets`;
  await server.admin.ok('POST', secrets, tokenOf(server, id, secret));
  const signature = async (): Promise<string | undefined> =>
    (await server.anonymous.ok('GET', pathOf(server))).data[`jws-kubeconfig-${id}`];
  await expect.poll(signature).toBeDefined();
  const [header = '', middle, mac] = ((await signature()) ?? '').split('.');
  expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'HS256', kid: id });
  const { kubeconfig } = (await server.anonymous.ok('GET', pathOf(server))).data;
  const payload = Buffer.from(kubeconfig).toString('base64url');
  const key = identity === 'plat' ? `${id}.${secret}` : secret;
  expect([middle, mac]).toEqual(['', createHmac('sha256', key).update(`${header}.${payload}`).digest('base64url')]);
});

test('it is not signed where the signer is switched off', async () => {
  const server = await start({ enableBootstrapTokenAuth: true, controllers: ['*', '-bootstrapsigner', 'tokencleaner'] });
  const secrets = `/api/v1/namespaces/${server.identity.namespaces.system}/secrets`;
  const expired = tokenOf(server, 'aaaaaa', '0123456789abcdef');
  await server.admin.ok('POST', secrets, tokenOf(server, 'abcdef', '0123456789abcdef'));
  await server.admin.ok('POST', secrets, { ...expired, stringData: { ...expired.stringData, expiration: '2020-01-01T00:00:00Z' } });
  // The controllers have seen the tokens when the expired one is gone.
  await expect.poll(async () => (await server.admin.get(`${secrets}/bootstrap-token-aaaaaa`)).status).toBe(404);
  expect(Object.keys((await server.admin.ok('GET', pathOf(server))).data)).toEqual(['kubeconfig']);
});

test('an address to advertise stands in it, and what somebody keeps from updates stays', async () => {
  let server = await start({ store: 'lmdb', enableBootstrapTokenAuth: true, advertiseAddress: '192.0.2.7' });
  expect(clusterOf(await server.admin.ok('GET', pathOf(server))).server).toBe(`https://192.0.2.7:${server.port}`);
  const patch = (body: Loose) =>
    server.admin.send('PATCH', pathOf(server), { body, headers: { 'content-type': 'application/merge-patch+json' } });
  expect((await patch({ data: { kubeconfig: 'mine', more: 'kept' } })).status).toBe(200);
  open.pop();
  server = await server.restart();
  open.push(server);
  const renewed = await server.admin.ok('GET', pathOf(server));
  expect(clusterOf(renewed).server).toBe(`https://192.0.2.7:${server.port}`);
  expect(renewed.data.more).toBe('kept');
  const annotation = `rbac.authorization.${server.identity.domain}/autoupdate`;
  expect((await patch({ metadata: { annotations: { [annotation]: 'false' } }, data: { kubeconfig: 'mine' } })).status).toBe(200);
  open.pop();
  server = await server.restart();
  open.push(server);
  expect((await server.admin.ok('GET', pathOf(server))).data.kubeconfig).toBe('mine');
});

test('it follows the certificate of the server when that changes', async () => {
  const directory = temporaryDirectory('plat-cluster-info');
  const made = [1, 2].map((n) => {
    const authority = readAuthority(newAuthority(`authority-${n}`, Date.now()));
    const { certificate, key } = issueServing(authority, { commonName: 'server', dns: [], addresses: ['127.0.0.1'] }, Date.now());
    return { certificate: `${certificate}${authority.certificate}`, key };
  });
  const [first, second] = made as [(typeof made)[0], (typeof made)[0]];
  const [tlsCertFile, tlsPrivateKeyFile] = [join(directory, 'server.crt'), join(directory, 'server.key')];
  const write = ({ certificate, key }: typeof first): void => {
    writeFileSync(tlsCertFile, certificate);
    writeFileSync(tlsPrivateKeyFile, key, { mode: 0o600 });
  };
  write(first);
  const server = await start({ enableBootstrapTokenAuth: true, tlsCertFile, tlsPrivateKeyFile });
  const maps = pathOf(server).replace('/cluster-info', '');
  const before = await server.admin.ok('GET', pathOf(server));
  expect(clusterOf(before).ca.toString()).toBe(first.certificate);
  const watch = await server.admin.watch(
    `${maps}?watch=1&fieldSelector=metadata.name%3Dcluster-info&resourceVersion=${before.metadata.resourceVersion}`,
  );
  write(second);
  const events = await watch.until((event) => event.type === 'MODIFIED');
  expect(clusterOf(events.at(-1)?.object).ca.toString()).toBe(second.certificate);
});
