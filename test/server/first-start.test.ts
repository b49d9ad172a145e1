/** What the first start leaves behind, and what later ones find. */
import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { parseYaml } from '../../packages/schema/src/yaml/index.ts';
import { kubectlMissing, kubectlProgram } from '../support/kubectl.ts';
import { type Loose, startTestServer, summary, type TestServer } from '../support/server.ts';

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
const filesOf = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(directory, name)).isFile());

/** A start does not wait for the key that signs tokens; whoever needs it does. */
const signingKey = async (server: TestServer): Promise<Loose> => (await server.admin.ok('GET', '/openid/v1/jwks')).keys[0];

test('tokens can be had and shown at once, while the key that signs them is being made; files are private, and the key is kept', async () => {
  // One that makes that key itself, which takes longer than all the rest of a start.
  let server = await startTestServer({ store: 'lmdb', identity: 'kubernetes', ownSigningKey: true });
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await server.admin.ok('POST', accounts, { metadata: { name: 'robot' } });
  const { status } = await server.admin.ok('POST', `${accounts}/robot/token`, {});
  const made = await signingKey(server);
  const { kid } = made;
  expect(JSON.parse(Buffer.from(status.token.split('.')[0], 'base64url').toString())).toEqual({ alg: 'RS256', kid });
  expect(filesOf(join(server.dataDir, 'pki'))).toContain('sa.key');
  const robot = server.client({ token: status.token });
  expect((await robot.send('GET', '/apis')).status).toBe(200);
  expect(mode(server.dataDir)).toBe('700');
  const found = filesOf(server.dataDir).filter((name) => name !== 'tokens.csv');
  expect(found).toEqual(
    expect.arrayContaining(['admin.conf', 'pki/ca.key', 'pki/ca.crt', 'pki/server.key', 'pki/server.crt', 'pki/sa.key']),
  );
  const secret = found.filter((name) => !name.endsWith('.crt') && !name.endsWith('.pub'));
  expect(secret.map((name) => `${name} ${mode(join(server.dataDir, name))}`)).toEqual(secret.map((name) => `${name} 600`));
  for (const name of readdirSync(server.dataDir, { withFileTypes: true }))
    if (name.isDirectory()) expect(mode(join(server.dataDir, name.name)), name.name).toBe('700');
  const config = parseYaml(readFileSync(join(server.dataDir, 'admin.conf'))) as Loose;
  expect(config.clusters[0].cluster.server).toBe(server.address);
  const keyFile = readFileSync(join(server.dataDir, 'pki/sa.key'), 'utf8');
  server = await server.restart();
  expect(await signingKey(server)).toEqual(made);
  expect(readFileSync(join(server.dataDir, 'pki/sa.key'), 'utf8')).toBe(keyFile);
  expect((await server.client({ token: status.token }).send('GET', '/apis')).status).toBe(200);
  await server.close();
});

test.skipIf(kubectlMissing !== undefined)(
  'configurations of several servers can be merged: each credential stays with its server (skipped without kubectl)',
  async () => {
    const servers = [
      await startTestServer({ store: 'memory', identity: 'plat' }),
      await startTestServer({ store: 'memory', identity: 'kubernetes' }),
    ];
    servers.push(await startTestServer({ store: 'memory', identity: 'plat' }));
    const KUBECONFIG = servers.map((server) => join(server.dataDir, 'admin.conf')).join(':');
    const text = execFileSync(kubectlProgram, ['config', 'view', '--raw', '-o', 'json'], {
      env: { ...process.env, KUBECONFIG },
      encoding: 'utf8',
    });
    const merged = JSON.parse(text) as Loose;
    for (const sort of ['clusters', 'users', 'contexts']) expect(merged[sort]).toHaveLength(servers.length);
    for (const server of servers) {
      const name = `${server.identity.word}@${new URL(server.address).host}`;
      const context = merged.contexts.find((one: Loose) => one.name === name).context;
      const cluster = merged.clusters.find((one: Loose) => one.name === context.cluster).cluster;
      const user = merged.users.find((one: Loose) => one.name === context.user).user;
      const own = parseYaml(readFileSync(join(server.dataDir, 'admin.conf'))) as Loose;
      expect(cluster.server).toBe(server.address);
      expect(user['client-key-data']).toBe(own.users[0].user['client-key-data']);
    }
    for (const server of servers) await server.close();
  },
);

test('a directory that others could read is made private', async () => {
  const dataDir = temporaryDirectory('plat-open');
  chmodSync(dataDir, 0o777);
  const server = await startTestServer({ store: 'memory', dataDir });
  expect(mode(server.dataDir)).toBe('700');
  expect(mode(join(server.dataDir, 'admin.conf'))).toBe('600');
  await server.close();
});

describe.each(['plat', 'kubernetes'])('as %s', (identity) => {
  test('a restart keeps every object and key, and changes nothing', async () => {
    let server = await startTestServer({ store: 'lmdb', identity });
    const ns = await server.namespace();
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: 'mine' }, data: { a: '1' } });
    const watch = await server.admin.watch(`/api/v1/namespaces/${ns}/configmaps?watch=1`);
    await watch.until((event) => event.object.metadata.name === server.identity.rootCAConfigMap);
    const rbac = `/apis/rbac.authorization.${server.identity.groupSuffix}/v1`;
    const collections = [
      '/api/v1/namespaces',
      '/api/v1/configmaps',
      '/api/v1/services',
      `${rbac}/clusterroles`,
      `${rbac}/clusterrolebindings`,
      `${rbac}/roles`,
    ];
    const snapshot = async (): Promise<Loose> => Promise.all(collections.map(async (path) => (await server.admin.ok('GET', path)).items));
    const before = await snapshot();
    const keys = (): string[] =>
      filesOf(join(server.dataDir, 'pki')).map((name) => readFileSync(join(server.dataDir, 'pki', name), 'utf8'));
    await signingKey(server);
    const keysBefore = keys();
    for (let round = 0; round < 2; round++) {
      server = await server.restart();
      expect(await snapshot()).toEqual(before);
      expect(keys()).toEqual(keysBefore);
    }
    expect(server.errors).toEqual([]);
    await server.close();
  });
});

test('what an administrator took from a role that the server keeps comes back; what was added stays', async () => {
  let server = await startTestServer({ store: 'lmdb', identity: 'kubernetes' });
  const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:discovery';
  const role = await server.admin.ok('GET', path);
  const own = { nonResourceURLs: ['/own'], verbs: ['get'] };
  await server.admin.ok('PUT', path, { ...role, rules: [own] });
  server = await server.restart();
  const again = await server.admin.ok('GET', path);
  expect(again.rules[0]).toEqual(own);
  expect(again.rules.flatMap((rule: Loose) => rule.nonResourceURLs).sort()).toEqual(['/own', ...role.rules[0].nonResourceURLs].sort());
  expect(again.metadata.uid).toBe(role.metadata.uid);
  await server.close();
});

test('memory forgets', async () => {
  let server = await startTestServer({ store: 'memory' });
  const ns = await server.namespace();
  server = await server.restart();
  expect((await server.admin.get(`/api/v1/namespaces/${ns}`)).status).toBe(404);
  expect((await server.admin.get('/api/v1/namespaces/default')).status).toBe(200);
  await server.close();
});

test('a watch resumes across a restart without loss', async () => {
  let server = await startTestServer({ store: 'lmdb' });
  const path = `/api/v1/namespaces/${await server.namespace()}/secrets`;
  const watch = await server.admin.watch(`${path}?watch=1`);
  await server.admin.ok('POST', path, { metadata: { name: 'a' } });
  const seen = await watch.next();
  await server.admin.ok('POST', path, { metadata: { name: 'b' } });
  await server.admin.ok('DELETE', `${path}/a`);
  server = await server.restart();
  const again = await server.admin.watch(`${path}?watch=1&resourceVersion=${seen.object.metadata.resourceVersion}`);
  await server.admin.ok('POST', path, { metadata: { name: 'c' } });
  expect((await again.take(3)).map(summary)).toEqual(['ADDED b', 'DELETED a', 'ADDED c']);
  again.close();
  await server.close();
});

test('an exact version from before a restart shows what was deleted since', async () => {
  let server = await startTestServer({ store: 'lmdb' });
  const path = `/api/v1/namespaces/${await server.namespace()}/secrets`;
  for (const name of ['a', 'b']) await server.admin.ok('POST', path, { metadata: { name } });
  const { resourceVersion } = (await server.admin.ok('GET', path)).metadata;
  await server.admin.ok('DELETE', `${path}/b`);
  server = await server.restart();
  const names = (list: Loose) => list.items.map((item: Loose) => item.metadata.name);
  expect(names(await server.admin.ok('GET', `${path}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`))).toEqual(['a', 'b']);
  expect(names(await server.admin.ok('GET', path))).toEqual(['a']);
  await server.close();
});

test('a data directory in use is refused, and the one who uses it is not disturbed', async () => {
  const server = await startTestServer({ store: 'lmdb' });
  await expect(startTestServer({ store: 'lmdb', dataDir: server.dataDir })).rejects.toThrow(
    `the data directory ${server.dataDir} is in use by another server (process ${process.pid})`,
  );
  expect((await server.admin.get('/readyz')).status).toBe(200);
  expect((await server.admin.ok('POST', '/api/v1/namespaces', { metadata: { name: 'still' } })).metadata.name).toBe('still');
  await server.close();
});

test('a file of tokens that is missing or wrong is reported', async () => {
  await expect(startTestServer({ tokenAuthFile: '/nonexistent/tokens.csv' })).rejects.toThrow('/nonexistent/tokens.csv');
  const dataDir = temporaryDirectory('plat-wrong');
  const tokenAuthFile = join(dataDir, 'wrong.csv');
  writeFileSync(tokenAuthFile, 'only-a-token\n');
  await expect(startTestServer({ dataDir, tokenAuthFile })).rejects.toThrow(/token/);
});
