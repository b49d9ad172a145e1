/** Flags whose effect no other test of a whole server shows. `flag-table.test.ts` counts them all. */

import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterEach, expect, test, vi } from 'vitest';
import { parseServerFlags, type ServerOptions, serverOptions } from '../../packages/compose/src/config/server-options.ts';
import { signingAuthorities } from '../../packages/controllers/src/certificates/authorities.ts';
import { type Clock, systemClock } from '../../packages/lib/src/clock.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { kubernetes } from '../../packages/meta/src/identity.ts';
import {
  type Authority,
  issueClient,
  issueServing,
  makeRequest,
  newAuthority,
  newKeyPair,
  noNames,
  readAuthority,
} from '../../packages/pki/src/index.ts';
import { oldAuthority } from '../../packages/pki/src/old-form.testing.ts';
import { caBundle, startWebhook } from '../../packages/server/src/admission/webhooks/testing.ts';
import { startProvider } from '../../packages/server/src/auth/oidc/provider.testing.ts';
import { etcdMissing, startEtcd } from '../support/etcd.ts';
import { type Loose, startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});
async function start(options: TestServerOptions): Promise<TestServer> {
  const server = await startTestServer({ identity: 'kubernetes', store: 'memory', ...options });
  open.push(server);
  return server;
}
const directory = temporaryDirectory('plat-flags');
const file = (name: string, content: string): string => {
  writeFileSync(join(directory, name), content, { mode: 0o600 });
  return join(directory, name);
};
const claims = (token: string): Loose => JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString());
const review = async (server: TestServer, token: string): Promise<Loose> =>
  (await server.admin.ok('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } })).status;
/** A client configuration that leads to a test's webhook. */
const remote = (name: string, url: string): string =>
  file(
    name,
    jsonText({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority-data': caBundle } }],
      users: [{ name: 'u', user: {} }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'c',
    }),
  );

test('--api-audiences, --service-account-max-token-expiration: what a service account token is for, and how long', async () => {
  const server = await start({ apiAudiences: ['aud-x'], serviceAccountMaxTokenExpiration: 3_600_000 });
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await server.admin.ok('POST', accounts, { metadata: { name: 'robot' } });
  const { status } = await server.admin.ok('POST', `${accounts}/robot/token`, { spec: { expirationSeconds: 7200 } });
  const { aud, exp, iat } = claims(status.token);
  expect(aud).toEqual(['aud-x']);
  expect(exp - iat).toBe(3600);
});

test.each([true, false])('--service-account-extend-token-expiration=%s: tokens that are injected into pods', async (extend) => {
  const server = await start({ serviceAccountExtendTokenExpiration: extend });
  const base = '/api/v1/namespaces/default';
  await server.admin.ok('POST', `${base}/serviceaccounts`, { metadata: { name: 'robot' } });
  const spec = { serviceAccountName: 'robot', automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] };
  await server.admin.ok('POST', `${base}/pods`, { metadata: { name: 'p' }, spec });
  const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p' };
  const { status } = await server.admin.ok('POST', `${base}/serviceaccounts/robot/token`, {
    spec: { expirationSeconds: 3607, boundObjectRef },
  });
  const { exp, iat } = claims(status.token);
  expect(exp - iat > 3607).toBe(extend);
});

test('--oidc-*: users and groups by claims and prefixes, of one issuer, client, authority, and by allowed algorithms', async () => {
  for (const level of ['info', 'warn'] as const) vi.spyOn(console, level).mockImplementation(() => {});
  const provider = await startProvider({
    jane: { email: 'jane@example.com', email_verified: true, groups: ['dev'], team: 'blue' },
    mallory: { email: 'm@example.com', email_verified: true, groups: ['dev'], team: 'red' },
  });
  open.push(provider);
  const options = {
    oidcIssuerUrl: provider.issuer,
    oidcClientId: 'plat',
    oidcUsernameClaim: 'email',
    oidcUsernamePrefix: 'oidc:',
    oidcGroupsClaim: 'groups',
    oidcGroupsPrefix: 'g:',
    oidcRequiredClaim: new Map([['team', 'blue']]),
    oidcCaFile: file('oidc.crt', provider.ca),
  };
  const [jane, mallory, another] = [
    await provider.idToken('jane'),
    await provider.idToken('mallory'),
    await provider.idToken('jane', 'another'),
  ];
  const server = await start(options);
  expect((await review(server, jane)).user).toMatchObject({ username: 'oidc:jane@example.com', groups: ['g:dev', 'system:authenticated'] });
  expect((await review(server, mallory)).authenticated).not.toBe(true);
  expect((await review(server, another)).authenticated).not.toBe(true);
  expect((await review(await start({ ...options, oidcSigningAlgs: ['ES256'] }), jane)).authenticated).not.toBe(true);
  expect(
    (await review(await start({ ...options, oidcCaFile: file('other.crt', newAuthority('other', Date.now()).certificate) }), jane))
      .authenticated,
  ).not.toBe(true);
});

test.each([
  ['v1', 120_000, 1],
  ['v1beta1', 0, 2],
] as const)('--authentication-token-webhook-*: TokenReview %s, decisions kept for %i ms, %i calls', async (version, ttl, calls) => {
  const hook = await startWebhook((asked, res) => {
    res.end(
      JSON.stringify({
        apiVersion: asked.apiVersion,
        kind: 'TokenReview',
        status: { authenticated: true, user: { username: 'hook-user' } },
      }),
    );
    return undefined;
  });
  open.push(hook);
  const server = await start({
    authenticationTokenWebhookConfigFile: remote(`token-${version}.conf`, hook.url),
    authenticationTokenWebhookVersion: version,
    authenticationTokenWebhookCacheTtl: ttl,
  });
  for (let i = 0; i < 2; i++) expect((await review(server, 'opaque')).user.username).toBe('hook-user');
  expect(hook.calls.map(({ review: { apiVersion } }) => apiVersion)).toEqual(Array(calls).fill(`authentication.k8s.io/${version}`));
});

test.each([
  ['v1', 120_000, 120_000, 2],
  ['v1beta1', 0, 120_000, 3],
  ['v1', 120_000, 0, 3],
] as const)(
  '--authorization-webhook-*: SubjectAccessReview %s, grants kept %i ms, refusals %i ms, %i calls',
  async (version, granted, refused, calls) => {
    const seen: string[] = [];
    const hook = await startWebhook((asked, res) => {
      const { spec } = asked as unknown as { spec: { user: string; resourceAttributes?: { namespace?: string } } };
      const allowed = spec.resourceAttributes?.namespace === 'default';
      if (spec.user === 'alice') seen.push(asked.apiVersion);
      res.end(JSON.stringify({ apiVersion: asked.apiVersion, kind: 'SubjectAccessReview', status: { allowed } }));
      return undefined;
    });
    open.push(hook);
    const server = await start({
      authorizationMode: ['RBAC', 'Webhook'],
      authorizationWebhookConfigFile: remote(`access-${version}.conf`, hook.url),
      authorizationWebhookVersion: version,
      authorizationWebhookCacheAuthorizedTtl: granted,
      authorizationWebhookCacheUnauthorizedTtl: refused,
      controllers: ['-*'],
    });
    for (let i = 0; i < 2; i++) {
      expect((await server.alice.get('/api/v1/namespaces/default/configmaps')).status).toBe(200);
      expect((await server.alice.get('/api/v1/namespaces/other/configmaps')).status).toBe(403);
    }
    expect(seen).toEqual(Array(calls).fill(`authorization.k8s.io/${version}`));
  },
);

test('--default-not-ready-toleration-seconds, --default-unreachable-toleration-seconds: what pods get', async () => {
  const server = await start({ defaultNotReadyTolerationSeconds: 11, defaultUnreachableTolerationSeconds: 22 });
  const spec = { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] };
  await server.admin.ok('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
  const pod = await server.admin.ok('POST', '/api/v1/namespaces/default/pods', {
    metadata: { name: 'p' },
    spec: { ...spec, serviceAccountName: 'robot' },
  });
  expect(pod.spec.tolerations.map((one: Loose) => one.tolerationSeconds)).toEqual([11, 22]);
});

test('--audit-log-maxsize, -maxbackup, -maxage, -compress: when a new file is begun, and which old ones stay', async () => {
  const logs = temporaryDirectory('plat-audit');
  const old = join(logs, 'audit-2001-01-01T00-00-00.000.log');
  writeFileSync(old, 'old\n');
  const policy = {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    rules: [{ level: 'Request', verbs: ['create'], resources: [{ group: '', resources: ['configmaps'] }] }, { level: 'None' }],
  };
  const server = await start({
    auditPolicyFile: file('policy.json', JSON.stringify(policy)),
    auditLogPath: join(logs, 'audit.log'),
    auditLogMaxsize: 1,
    auditLogMaxbackup: 1,
    auditLogMaxage: 1,
    auditLogCompress: true,
    controllers: ['-*'],
  });
  for (let i = 0; i < 4; i++)
    await server.admin.ok('POST', '/api/v1/namespaces/default/configmaps', {
      metadata: { name: `c${i}` },
      data: { a: 'x'.repeat(700_000) },
    });
  open.pop();
  await server.close();
  const left = readdirSync(logs).sort();
  expect(left).toEqual([expect.stringMatching(/^audit-.*\.gz$/), 'audit.log']);
  expect(readFileSync(join(logs, left[0] as string)).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
});

test('--cluster-signing-*-cert-file and -key-file: each signer has its own authority, and the general one signs for the rest', () => {
  const pair = (name: string): [string, string] => {
    const { certificate, key } = newAuthority(name, Date.now());
    return [file(`${name}.crt`, certificate), file(`${name}.key`, key)];
  };
  const [clusterSigningCertFile, clusterSigningKeyFile] = pair('general');
  const [clusterSigningKubeApiserverClientCertFile, clusterSigningKubeApiserverClientKeyFile] = pair('client');
  const [clusterSigningKubeletClientCertFile, clusterSigningKubeletClientKeyFile] = pair('agent');
  const [clusterSigningKubeletServingCertFile, clusterSigningKubeletServingKeyFile] = pair('serving');
  const [clusterSigningLegacyUnknownCertFile, clusterSigningLegacyUnknownKeyFile] = pair('legacy');
  const general = serverOptions({ clusterSigningCertFile, clusterSigningKeyFile });
  const all = serverOptions({
    clusterSigningCertFile,
    clusterSigningKeyFile,
    clusterSigningKubeApiserverClientCertFile,
    clusterSigningKubeApiserverClientKeyFile,
    clusterSigningKubeletClientCertFile,
    clusterSigningKubeletClientKeyFile,
    clusterSigningKubeletServingCertFile,
    clusterSigningKubeletServingKeyFile,
    clusterSigningLegacyUnknownCertFile,
    clusterSigningLegacyUnknownKeyFile,
  });
  const { signers } = kubernetes;
  const names = [signers.apiserverClient, signers.apiserverClientNodeagent, signers.nodeagentServing, signers.legacyUnknown];
  const by = (options: typeof all) => names.map((name) => signingAuthorities(options, kubernetes, undefined)(name)?.certificate.subject);
  expect(by(general)).toEqual(Array(4).fill('CN=general'));
  expect(by(all)).toEqual(['CN=client', 'CN=agent', 'CN=serving', 'CN=legacy']);
});

test('--cluster-signing-cert-file: an authority of version 1 signs clients that it vouches for; version 3 without the flag is refused', () => {
  const now = Date.now();
  const options = ({ certificate, key }: { certificate: string; key: string }) =>
    serverOptions({ clusterSigningCertFile: file('signing.crt', certificate), clusterSigningKeyFile: file('signing.key', key) });
  const signer = (pair: { certificate: string; key: string }) =>
    signingAuthorities(options(pair), kubernetes, undefined)(kubernetes.signers.apiserverClient) as Authority;
  const old = oldAuthority('old', now);
  const { certificate } = issueClient(signer(old), 'jane', [], now);
  const [issued, issuer] = [new X509Certificate(certificate), new X509Certificate(old.certificate)];
  expect([issued.checkIssued(issuer), issued.verify(issuer.publicKey)]).toEqual([true, true]);
  const unflagged = issueClient(readAuthority(newAuthority('new', now)), 'unflagged', [], now);
  expect(() => signer(unflagged)).toThrow('signing.crt is not the certificate of an authority');
});

test('--livez-grace-period: /livez forgives a check that fails, /readyz does not', async () => {
  const server = await start({ livezGracePeriod: 3_600_000 });
  server.engine.ping = () => Promise.reject(new Error('no answer'));
  expect((await server.admin.get('/livez')).status).toBe(200);
  expect((await server.admin.get('/readyz')).status).toBe(500);
});

test('--min-request-timeout: a watch without a time of its own ends by itself', async () => {
  const server = await start({ minRequestTimeout: 1 });
  const { body } = await server.admin.open('GET', '/api/v1/namespaces/default/configmaps?watch=1');
  for await (const _ of body);
});

test('--max-connections: one more is closed as it comes', async () => {
  const server = await start({ maxConnections: 1, controllers: ['-*'] });
  const dial = () => connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false });
  const first = dial();
  await new Promise((resolve, reject) => first.once('secureConnect', resolve).once('error', reject));
  const second = dial();
  await new Promise((resolve) => second.on('error', () => {}).once('close', resolve));
  expect(first.destroyed).toBe(false);
  first.destroy();
});

test('--show-hidden-metrics-for-version: the release before this one alone can be named', async () => {
  await expect(start({ showHiddenMetricsForVersion: '1.2' })).rejects.toThrow('1.23');
  const server = await start({ showHiddenMetricsForVersion: '1.23' });
  expect((await server.admin.get('/metrics')).status).toBe(200);
});

test('--audit-webhook-version: the one version that is sent alone can be named', () => {
  expect(() => parseServerFlags(['--audit-webhook-version=v1beta1'])).toThrow('--audit-webhook-version: "v1beta1" is not one of v1');
});

test('--feature-gates: requests are not classed where APIPriorityAndFairness is off', async () => {
  const { features } = parseServerFlags(['--feature-gates=APIPriorityAndFairness=false']) as ServerOptions;
  const classed = async (options: TestServerOptions): Promise<boolean> =>
    (await (await start({ ...options, controllers: ['-*'] })).alice.get('/version')).headers['x-kubernetes-pf-flowschema-uid'] !==
    undefined;
  expect(await classed({ features })).toBe(false);
  expect(await classed({})).toBe(true);
});

test('--cluster-signing-duration: the longest life of what is signed', async () => {
  const server = await start({ clusterSigningDuration: 3_600_000 });
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const request = Buffer.from(makeRequest({ commonName: 'jane', organizations: ['dev'] }, newKeyPair(), noNames)).toString('base64');
  const spec = { request, signerName: kubernetes.signers.apiserverClient, usages: ['client auth'] };
  const made = await server.admin.ok('POST', path, { metadata: { name: 'r' }, spec });
  const watch = await server.admin.watch(`${path}?watch=1`);
  made.status = { conditions: [{ type: 'Approved', status: 'True', reason: 'Test', message: 'x' }] };
  await server.admin.ok('PUT', `${path}/r/approval`, made);
  const events = await watch.until((event) => event.object.status.certificate !== undefined);
  const certificate = new X509Certificate(Buffer.from(events.at(-1)?.object.status.certificate, 'base64'));
  expect(Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)).toBe(3_600_000 + 300_000);
});

test.each([true, false])('--kubelet-insecure-tls=%s: an agent whose certificate nobody knows', async (kubeletInsecureTls) => {
  const { certificate, key } = issueServing(
    readAuthority(newAuthority('nobody', Date.now())),
    { commonName: 'agent', dns: [], addresses: ['127.0.0.1'] },
    Date.now(),
  );
  const agent = createServer({ cert: certificate, key }, (_req, res) => res.end('agent'));
  await new Promise<void>((resolve) => agent.listen(0, '127.0.0.1', resolve));
  open.push({ close: () => new Promise((resolve) => agent.close(resolve).closeAllConnections()) });
  const server = await start({
    kubeletInsecureTls,
    proxyToLocalAddresses: true,
    kubeletPreferredAddressTypes: ['InternalIP'],
    controllers: ['-*'],
  });
  const node = await server.admin.ok('POST', '/api/v1/nodes', { metadata: { name: 'n' } });
  const { port } = agent.address() as AddressInfo;
  node.status = { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }], daemonEndpoints: { kubeletEndpoint: { Port: port } } };
  await server.admin.ok('PUT', '/api/v1/nodes/n/status', node);
  const answer = await server.admin.get('/api/v1/nodes/n/proxy/x');
  expect(answer.status === 200 && answer.text === 'agent').toBe(kubeletInsecureTls);
});

test.each([true, false])('--allow-privileged: %s', async (allowPrivileged) => {
  const server = await start({ allowPrivileged });
  await server.admin.ok('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
  const containers = [{ name: 'c', image: 'i', securityContext: { privileged: true } }];
  const spec = { serviceAccountName: 'robot', automountServiceAccountToken: false, containers };
  const { status } = await server.admin.post('/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec });
  expect(status).toBe(allowPrivileged ? 201 : 422);
});

test.skipIf(etcdMissing !== undefined)(
  '--etcd-cafile, --etcd-certfile, --etcd-keyfile: etcd is reached with them, and not without',
  async () => {
    const etcd = await startEtcd({ tls: true });
    open.push({ close: () => etcd.stop() });
    const { caFile, certFile, keyFile } = etcd.tls as NonNullable<typeof etcd.tls>;
    const reach = (options: TestServerOptions) => start({ store: 'etcd', etcdServers: [etcd.endpoint], controllers: ['-*'], ...options });
    const server = await reach({ etcdCafile: caFile, etcdCertfile: certFile, etcdKeyfile: keyFile });
    expect((await server.admin.get('/readyz')).status).toBe(200);
    // Time passes quickly for one that tries in vain.
    const began = systemClock.now();
    const clock: Clock = { ...systemClock, now: () => began + 20 * (systemClock.now() - began) };
    await expect(reach({ etcdCertfile: certFile, etcdKeyfile: keyFile, clock })).rejects.toThrow(/certificate/);
  },
);
