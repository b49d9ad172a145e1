/** Flags that name files, and the form of the log: each is shown to decide, beside a server where it is otherwise. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { issueClient, newAuthority, readAuthority } from '../../packages/pki/src/index.ts';
import { addNode, startWorld } from '../connect/support.ts';
import { ConfigFile, eventually, identityEntry, local, newKey, soon } from '../encryption/support.ts';
import { clientOf, finished, programMissing, startPlat } from '../support/program.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});
async function start(options: TestServerOptions): Promise<TestServer> {
  const server = await startTestServer({ identity: 'kubernetes', store: 'memory', controllers: ['-*'], ...options });
  open.push(server);
  return server;
}
const directory = temporaryDirectory('plat-flag-files');
const file = (name: string, content: string): string => {
  writeFileSync(join(directory, name), content, { mode: 0o600 });
  return join(directory, name);
};

test('--token-auth-file: whose tokens count, and who they are', async () => {
  const server = await start({ tokenAuthFile: file('tokens.csv', 'open-sesame,jane,jane-uid,"system:masters,dev"\nother,joe,joe-uid\n') });
  const review = async (token: string) => {
    const body = { spec: { token } };
    const answer = await server.client({ token: 'open-sesame' }).post('/apis/authentication.k8s.io/v1/tokenreviews', body);
    return answer.json.status;
  };
  expect((await review('open-sesame')).user).toEqual({
    username: 'jane',
    uid: 'jane-uid',
    groups: ['system:masters', 'dev', 'system:authenticated'],
  });
  expect((await review('other')).user).toEqual({ username: 'joe', uid: 'joe-uid', groups: ['system:authenticated'] });
  // The tokens of the file that tests have by default are not in this one.
  expect((await server.admin.get('/version')).status).toBe(401);
  expect((await (await start({})).admin.get('/version')).status).toBe(200);
});

test('--kubelet-certificate-authority: whose agents are believed', async () => {
  const asked = async (authority?: string) => {
    const world = await startWorld(() => (authority === undefined ? {} : { kubeletCertificateAuthority: authority }));
    open.push(world);
    const { status } = await world.server.admin.get('/api/v1/nodes/n1/proxy/x');
    return [status === 200, world.agent.seen.length];
  };
  expect(await asked()).toEqual([true, 1]);
  expect(await asked(file('others.crt', newAuthority('others', Date.now()).certificate))).toEqual([false, 0]);
});

test('--kubelet-client-certificate, --kubelet-client-key: as whom the server asks agents', async () => {
  const { certificate, key } = issueClient(readAuthority(newAuthority('nodes', Date.now())), 'another-server', [], Date.now());
  const world = await startWorld(() => ({
    kubeletClientCertificate: file('client.crt', certificate),
    kubeletClientKey: file('client.key', key),
  }));
  open.push(world);
  await world.server.admin.get('/api/v1/nodes/n1/proxy/x');
  const plain = await startWorld();
  open.push(plain);
  await addNode(plain.server, 'n2', plain.agent.port);
  await plain.server.admin.get('/api/v1/nodes/n2/proxy/x');
  expect([world, plain].map(({ agent }) => agent.seen.map(({ caller }) => caller))).toEqual([['another-server'], ['the-server']]);
});

test('--encryption-provider-config-automatic-reload: whether a changed file is used without a restart', async () => {
  const config = new ConfigFile('kubernetes', [local('aescbc', newKey('one')), identityEntry]);
  const encryptionProviderConfig = config.path;
  const still = await start({ ...soon, encryptionProviderConfig, encryptionProviderConfigAutomaticReload: false });
  const following = await start({ ...soon, encryptionProviderConfig, encryptionProviderConfigAutomaticReload: true });
  const secrets = '/api/v1/namespaces/default/secrets';
  for (const { admin } of [still, following]) await admin.ok('POST', secrets, { metadata: { name: 'a' } });
  config.write([local('aescbc', newKey('one')), identityEntry]);
  await eventually(
    () => following.admin.get(`${secrets}/a`),
    ({ status }) => status === 500,
  );
  // The one that does not follow still has the key that is gone, and encrypts with it.
  await still.admin.ok('POST', secrets, { metadata: { name: 'b' } });
  expect((await still.admin.get(`${secrets}/a`)).status).toBe(200);
  expect((await still.admin.ok('GET', '/store/encryption')).collections).toMatchObject([
    { resource: 'secrets', current: 2, unreadable: 0 },
  ]);
});

test.skipIf(programMissing !== undefined).each(['text', 'json'])(
  `--log-format=%s: the form of the lines that the program writes${programMissing === undefined ? '' : ` (skipped: ${programMissing})`}`,
  async (format) => {
    const program = await startPlat(['--store=memory', '--v=6', `--log-format=${format}`]);
    const client = clientOf(program, 'unknown');
    expect((await client.get('/version')).status).toBe(401);
    client.close();
    program.child.process.kill('SIGTERM');
    const [line = ''] = (await finished(program.child)).stderr.split('\n').filter((one) => one.includes('/version'));
    if (format === 'json') expect(JSON.parse(line)).toMatchObject({ method: 'GET', path: '/version', code: 401 });
    else expect(line).toMatch(/ method=GET path=\/version .*code=401 /);
  },
);
