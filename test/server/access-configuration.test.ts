/** The files of docs/access-configuration.md decide who users are and what they may do, and are followed. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { RELOAD_PERIOD_MS } from '../../packages/lib/src/files/reload.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { issueServing, newAuthority, readAuthority } from '../../packages/pki/src/index.ts';
import { startProvider } from '../../packages/server/src/auth/oidc/provider.testing.ts';
import { eventually } from '../encryption/support.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';
import { shortWaits } from '../support/short-waits.ts';

const page = readFileSync(new URL('../../docs/access-configuration.md', import.meta.url), 'utf8');
const [authenticationFile = '', authorizationFile = ''] = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text as string);
const clock = shortWaits({ every: [RELOAD_PERIOD_MS] });
const directory = temporaryDirectory('plat-access-configuration');
const written = (name: string, content: string): string => {
  writeFileSync(join(directory, name), content);
  return join(directory, name);
};
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});
async function start(options: TestServerOptions): Promise<TestServer> {
  const server = await startTestServer({
    identity: 'kubernetes',
    store: 'memory',
    controllers: ['-*'],
    apiRelease: '1.36',
    clock,
    ...options,
  });
  open.push(server);
  return server;
}
const self = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

test('providers, rules about claims and users, and paths for everybody', async () => {
  for (const level of ['info', 'warn'] as const) vi.spyOn(console, level).mockImplementation(() => {});
  const provider = await startProvider({
    jane: { email: 'jane@example.com', email_verified: true, groups: ['dev'], team: 'blue' },
    rob: { email: 'rob@example.com', email_verified: true, groups: ['dev'], team: 'red' },
    eve: { email: 'eve@example.com', email_verified: false, groups: [], team: 'blue' },
  });
  open.push(provider);
  const content = authenticationFile
    .replace('https://issuer.example.com', provider.issuer)
    .replace(/( +)-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----\n/, (_, indent: string) =>
      provider.ca.replace(/^(?=.)/gm, indent),
    );
  const file = written('authentication.yaml', content);
  const server = await start({ authenticationConfig: file });
  const seen = async (account: string) => {
    const answer = await server.client({ token: await provider.idToken(account) }).post(self, {});
    return answer.status === 201 ? answer.json.status.userInfo : answer.status;
  };
  expect(await seen('jane')).toMatchObject({
    username: 'people:jane',
    groups: ['people:dev', 'system:authenticated'],
    extra: { 'example.com/team': ['blue'] },
  });
  expect(await seen('rob')).toBe(401);
  expect(await seen('eve')).toBe(401);
  const nobody = server.client({});
  expect((await nobody.get('/healthz')).status).toBe(200);
  expect((await nobody.get('/version')).status).toBe(401);

  writeFileSync(file, content.replace('claims.team != "red"', 'claims.team != "blue"').replace('path: /livez', 'path: /version'));
  await eventually(
    () => nobody.get('/version'),
    ({ status }) => status === 200,
  );
  expect(await seen('rob')).toMatchObject({ username: 'people:rob' });
  expect(await seen('jane')).toBe(401);
  writeFileSync(file, content.replace('claims.team != "red"', 'claims.team +'));
  const reloads = async () =>
    (await server.admin.get('/metrics')).text.match(/authentication_config_controller_automatic_reloads_total.*/g);
  await eventually(reloads, (lines) => lines?.join().includes('status="failure"') === true);
  expect(await seen('rob')).toMatchObject({ username: 'people:rob' });
});

/** A webhook that denies what the test says, and notes what it is asked. */
async function startGuard(isDenied: (user: string) => boolean) {
  const authority = newAuthority('guard', Date.now());
  const serving = issueServing(
    readAuthority(authority),
    { commonName: 'localhost', dns: ['localhost'], addresses: ['127.0.0.1'] },
    Date.now(),
  );
  const asked: string[] = [];
  const server = https.createServer({ cert: serving.certificate, key: serving.key }, async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const review = JSON.parse(text);
    asked.push(`${review.spec.user} ${review.spec.resourceAttributes?.resource}`);
    response.end(jsonText({ ...review, status: isDenied(review.spec.user) ? { denied: true, reason: 'guarded' } : {} }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(server);
  const port = (server.address() as AddressInfo).port;
  const data = Buffer.from(authority.certificate).toString('base64');
  const kubeconfig = written(
    'guard.kubeconfig',
    jsonText({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: `https://localhost:${port}/`, 'certificate-authority-data': data } }],
      users: [{ name: 'u', user: {} }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  );
  return { asked, kubeconfig, server };
}

test('a chain of authorizers with conditions, failures and a change', async () => {
  const guard = await startGuard((user) => user === 'mallory');
  const content = authorizationFile.replace('/etc/plat/guard.kubeconfig', guard.kubeconfig);
  const file = written('authorization.yaml', content);
  const tokens = written('tokens.csv', 'admin,admin,1,system:masters\nmallory,mallory,2,dev\njane,jane,3,dev\n');
  const server = await start({ authorizationConfig: file, tokenAuthFile: tokens });
  const admin = server.client({ token: 'admin' });
  const role = { metadata: { name: 'reader' }, rules: [{ apiGroups: [''], resources: ['secrets', 'configmaps'], verbs: ['list'] }] };
  await admin.post('/apis/rbac.authorization.k8s.io/v1/clusterroles', role);
  await admin.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
    subjects: [{ kind: 'Group', name: 'dev', apiGroup: 'rbac.authorization.k8s.io' }],
  });
  const lists = async (token: string, what: string) => (await server.client({ token }).get(`/api/v1/${what}`)).status;
  expect(await lists('jane', 'secrets')).toBe(200);
  expect(await lists('mallory', 'secrets')).toBe(403);
  expect(await lists('mallory', 'configmaps')).toBe(200);
  expect(await lists('admin', 'secrets')).toBe(200);
  expect(guard.asked).toEqual(['jane secrets', 'mallory secrets']);

  writeFileSync(file, content.replace('== "secrets"', '== "configmaps"'));
  await eventually(
    () => lists('mallory', 'configmaps'),
    (status) => status === 403,
  );
  expect(await lists('mallory', 'secrets')).toBe(200);
  guard.server.closeAllConnections();
  guard.server.close();
  // Nobody answers: the failure policy denies.
  expect(await lists('jane', 'configmaps')).toBe(403);
  const metrics = (await admin.get('/metrics')).text;
  expect(metrics).toContain('apiserver_authorization_webhook_evaluations_total{name="guard",result="error"}');
  expect(metrics).toMatch(/apiserver_authorization_match_condition_exclusions_total\{name="guard"\} [1-9]/);
}, 60_000);

test('files that cannot be used stop the start, with the field', async () => {
  const refusal = async (options: TestServerOptions) => {
    try {
      await start(options);
      return 'started';
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(await refusal({ authenticationConfig: written('a.yaml', authenticationFile), apiRelease: '1.28' })).toContain(
    'needs --api-release 1.29',
  );
  expect(
    await refusal({ authenticationConfig: written('b.yaml', authenticationFile.replace('claim: groups', 'claimed: groups')) }),
  ).toContain('jwt[0].claimMappings.groups.claimed: Forbidden: unknown field');
  expect(await refusal({ authorizationConfig: written('c.yaml', authorizationFile.replace('timeout: 3s', 'timeout: 3m')) })).toContain(
    'authorizers[0].webhook.timeout: Invalid value: "3m": must be <= 30s',
  );
  const everything = written('d.yaml', `${authorizationFile.split('authorizers:')[0]}authorizers: [{ type: AlwaysAllow, name: all }]\n`);
  expect(await refusal({ authorizationConfig: everything })).toContain('lets requests without credentials do everything');
  expect(await refusal({ authorizationConfig: everything, anonymousAuth: false })).toBe('started');
  // A file that says nothing about anonymous requests leaves them to the flag, which allows them.
  const silent = written('e.yaml', `${authenticationFile.split(/^(?:anonymous|jwt):/m)[0]}jwt: []\n`);
  expect(await refusal({ authorizationConfig: everything, authenticationConfig: silent })).toContain('do everything');
  const said = written('f.yaml', `${readFileSync(silent, 'utf8')}anonymous: { enabled: false }\n`);
  expect(await refusal({ authorizationConfig: everything, authenticationConfig: said })).toBe('started');
  const server = open.at(-1) as TestServer;
  writeFileSync(said, readFileSync(silent, 'utf8'));
  const failures = 'apiserver_authentication_config_controller_automatic_reloads_total{status="failure"} 1';
  await eventually(
    async () => (await server.admin.get('/metrics')).text,
    (text) => text.includes(failures),
  );
  expect((await server.client({}).get('/api/v1/namespaces')).status).toBe(401);
  expect(await refusal({ authorizationConfig: join(directory, 'none.yaml') })).toContain('--authorization-config');
});
