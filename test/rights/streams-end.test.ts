/** Watches and streams end when their users may no longer have them. */
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FakeClock } from '../../packages/lib/src/clock.ts';
import { ensureAuthority, issueClient, keyDirectory } from '../../packages/pki/src/index.ts';
import { signLegacy } from '../../packages/server/src/auth/service-account/claims.ts';
import { MIN_SPACING_MS, RECHECK_MS, SETTLE_MS } from '../../packages/server/src/streams/open-streams.ts';
import { rawConnection, startWorld, type World } from '../connect/support.ts';
import type { OpenAnswer } from '../support/client.ts';
import { type Client, startTestServer, type TestServer, unique } from '../support/server.ts';
import { onStores } from '../support/stores.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const clock = new FakeClock(Date.now());
const soon = (): Promise<void> => clock.advance(SETTLE_MS + MIN_SPACING_MS);

/** Lets a user do something in a namespace; answers what takes that back. */
async function allow(server: TestServer, namespace: string, subject: object, rule: object): Promise<() => Promise<void>> {
  const name = unique('r');
  const base = `${RBAC}/namespaces/${namespace}`;
  await server.admin.ok('POST', `${base}/roles`, { metadata: { name }, rules: [{ apiGroups: [''], ...rule }] });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
  await server.admin.ok('POST', `${base}/rolebindings`, { metadata: { name }, roleRef, subjects: [subject] });
  return async () => void (await server.admin.ok('DELETE', `${base}/rolebindings/${name}`));
}
const user = (name: string) => ({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name });
const watching = { resources: ['configmaps'], verbs: ['list', 'watch'] };

/** A watch, and how it ended. */
async function watch(
  client: Client,
  namespace: string,
  headers: Record<string, string> = {},
): Promise<{ answer: OpenAnswer; over: Promise<string> }> {
  const answer = await client.open('GET', `/api/v1/namespaces/${namespace}/configmaps?watch=1`, { headers });
  expect(answer.status).toBe(200);
  answer.body.resume();
  const over = Promise.race([
    once(answer.body, 'end').then(() => 'ended'),
    once(answer.body, 'error').then(
      () => 'broken',
      () => 'broken',
    ),
  ]).catch(() => 'broken');
  return { answer, over };
}

onStores(['memory', 'lmdb'], { identity: 'kubernetes', controllers: [], clock, enableBootstrapTokenAuth: true, direct: false }, (given) => {
  let server: TestServer;
  let ns = '';
  beforeAll(async () => {
    server = given();
    ns = await server.namespace();
  });
  const relist = (client: Client, headers = {}) => client.send('GET', `/api/v1/namespaces/${ns}/configmaps`, { headers });

  test.each([
    ['HTTP/1.1', {}, {}],
    ['HTTP/2', { http2: true }, {}],
    ['the binary form', {}, { accept: 'application/vnd.kubernetes.protobuf;stream=watch' }],
  ])('a binding is removed: %s', async (_, options, headers) => {
    const take = await allow(server, ns, user('alice'), watching);
    const alice = server.alice.clone(options);
    const { over } = await watch(alice, ns, headers);
    const other = await watch(server.admin.clone(), ns);
    await soon();
    await take();
    await soon();
    expect(await over).toBe('ended');
    expect((await relist(alice)).status).toBe(403);
    // Others go on: what happens reaches them.
    other.answer.body.pause();
    const name = unique('c');
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, { metadata: { name } });
    let text = '';
    for await (const chunk of other.answer.body) {
      text += String(chunk);
      if (text.includes(name)) break;
    }
    other.answer.destroy();
    alice.close();
  });

  test('a role loses the rule', async () => {
    await allow(server, ns, user('bob'), watching);
    const { over } = await watch(server.bob, ns);
    const { items } = await server.admin.ok('GET', `${RBAC}/namespaces/${ns}/roles`);
    const name = items.at(-1).metadata.name;
    await server.admin.patch(`${RBAC}/namespaces/${ns}/roles/${name}`, { rules: [] });
    await soon();
    expect(await over).toBe('ended');
  });

  test('the right to act as somebody is removed', async () => {
    const name = unique('imp');
    await server.admin.ok('POST', `${RBAC}/clusterroles`, {
      metadata: { name },
      rules: [{ apiGroups: [''], resources: ['users'], verbs: ['impersonate'], resourceNames: ['carol'] }],
    });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
    await server.admin.ok('POST', `${RBAC}/clusterrolebindings`, { metadata: { name }, roleRef, subjects: [user('alice')] });
    await allow(server, ns, user('carol'), watching);
    const { over } = await watch(server.alice, ns, { 'impersonate-user': 'carol' });
    await server.admin.ok('DELETE', `${RBAC}/clusterrolebindings/${name}`);
    await soon();
    expect(await over).toBe('ended');
  });

  async function account(): Promise<{ name: string; client: Client }> {
    const name = unique('sa');
    const base = `/api/v1/namespaces/${ns}/serviceaccounts`;
    await server.admin.ok('POST', base, { metadata: { name } });
    await allow(server, ns, { kind: 'ServiceAccount', name, namespace: ns }, watching);
    const { status } = await server.admin.ok('POST', `${base}/${name}/token`, { spec: { expirationSeconds: 600 } });
    return { name, client: server.client({ token: status.token }) };
  }

  test('a service account is deleted', async () => {
    const { name, client } = await account();
    const { over } = await watch(client, ns);
    await server.admin.ok('DELETE', `/api/v1/namespaces/${ns}/serviceaccounts/${name}`);
    await soon();
    expect(await over).toBe('ended');
    expect((await relist(client)).status).toBe(401);
  });

  test('the pod that a token is bound to goes', async () => {
    const { name } = await account();
    const pods = `/api/v1/namespaces/${ns}/pods`;
    const spec = { serviceAccountName: name, containers: [{ name: 'c', image: 'i' }] };
    const pod = await server.admin.ok('POST', pods, { metadata: { name: unique('p') }, spec });
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: pod.metadata.name, uid: pod.metadata.uid };
    const { status } = await server.admin.ok('POST', `/api/v1/namespaces/${ns}/serviceaccounts/${name}/token`, {
      spec: { boundObjectRef },
    });
    const { over } = await watch(server.client({ token: status.token }), ns);
    const { over: ofAdmin, answer } = await watch(server.admin.clone(), ns);
    await server.admin.ok('DELETE', `${pods}/${pod.metadata.name}?gracePeriodSeconds=0`);
    await soon();
    expect(await over).toBe('ended');
    answer.destroy();
    await ofAdmin;
  });

  test('the Secret that a token is bound to goes', async () => {
    const { name } = await account();
    const secrets = `/api/v1/namespaces/${ns}/secrets`;
    const secret = await server.admin.ok('POST', secrets, { metadata: { name: unique('s') } });
    const boundObjectRef = { kind: 'Secret', apiVersion: 'v1', name: secret.metadata.name, uid: secret.metadata.uid };
    const { status } = await server.admin.ok('POST', `/api/v1/namespaces/${ns}/serviceaccounts/${name}/token`, {
      spec: { boundObjectRef },
    });
    const { over } = await watch(server.client({ token: status.token }), ns);
    await server.admin.ok('DELETE', `${secrets}/${secret.metadata.name}`);
    await soon();
    expect(await over).toBe('ended');
  });

  test('the Secret that a token is kept in goes, or gets another token', async () => {
    const { name } = await account();
    const { metadata } = await server.admin.ok('GET', `/api/v1/namespaces/${ns}/serviceaccounts/${name}`);
    const key = createPrivateKey(readFileSync(join(server.dataDir, 'pki', 'sa.key')));
    const secrets = `/api/v1/namespaces/${ns}/secrets`;
    for (const end of [
      (path: string) => server.admin.ok('DELETE', path),
      async (path: string) => expect((await server.admin.patch(path, { stringData: { token: 'another' } })).status).toBe(200),
    ]) {
      const secretName = unique('s');
      const token = await signLegacy(server.identity, key, { namespace: ns, secretName, account: { name, uid: metadata.uid } });
      const annotations = { 'kubernetes.io/service-account.name': name };
      const type = 'kubernetes.io/service-account-token';
      await server.admin.ok('POST', secrets, { metadata: { name: secretName, annotations }, type, stringData: { token } });
      const { over } = await watch(server.client({ token }), ns);
      await soon();
      await end(`${secrets}/${secretName}`);
      await soon();
      expect(await over).toBe('ended');
    }
  });

  test('a bootstrap token is taken away, or expires', async () => {
    const secrets = '/api/v1/namespaces/kube-system/secrets';
    const data = { 'token-id': 'abcdef', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true' };
    const make = (more: object) =>
      server.admin.ok('POST', secrets, {
        metadata: { name: 'bootstrap-token-abcdef' },
        type: 'bootstrap.kubernetes.io/token',
        stringData: { ...data, ...more },
      });
    await allow(server, ns, user('system:bootstrap:abcdef'), watching);
    const client = server.client({ token: 'abcdef.0123456789abcdef' });
    await make({});
    const first = await watch(client, ns);
    await server.admin.ok('DELETE', `${secrets}/bootstrap-token-abcdef`);
    await soon();
    expect(await first.over).toBe('ended');
    // Its time comes between two sweeps.
    await make({ expiration: new Date(clock.now() + 4 * RECHECK_MS + 2000).toISOString() });
    const second = await watch(client, ns);
    await clock.advance(4 * RECHECK_MS + 1999);
    expect((await relist(client)).status).toBe(200);
    await clock.advance(1);
    await soon();
    expect(await second.over).toBe('ended');
    expect((await relist(client)).status).toBe(401);
    // An administrator has it expire.
    const secret = `${secrets}/bootstrap-token-abcdef`;
    const expiresAt = (time: number) => server.admin.patch(secret, { stringData: { expiration: new Date(time).toISOString() } });
    expect((await expiresAt(clock.now() + 3_600_000)).status).toBe(200);
    const third = await watch(client, ns);
    expect((await expiresAt(clock.now() - 1)).status).toBe(200);
    await soon();
    expect(await third.over).toBe('ended');
  });

  test('a token expires', async () => {
    const { client } = await account();
    const { over } = await watch(client, ns);
    await clock.advance(590_000);
    expect((await relist(client)).status).toBe(200);
    await clock.advance(20_000);
    expect(await over).toBe('ended');
    expect((await relist(client)).status).toBe(401);
  });
});

test('a client certificate expires', async () => {
  // OpenSSL has the clock of the machine: a certificate must be valid by both clocks.
  const now = Date.now();
  const certificateClock = new FakeClock(now);
  const server = await startTestServer({ store: 'memory', identity: 'kubernetes', clock: certificateClock });
  const ns = await server.namespace();
  const authority = await ensureAuthority(keyDirectory(join(server.dataDir, 'pki')), 'ca', 'kubernetes-ca', now);
  const { certificate, key } = issueClient(authority, 'dora', [], now);
  await allow(server, ns, user('dora'), watching);
  const { over } = await watch(server.client({ certificate: { cert: certificate, key } }), ns);
  // A jump: no timer is due in between but the last.
  await certificateClock.jump(366 * 24 * 3600 * 1000);
  await certificateClock.advance(RECHECK_MS);
  expect(await over).toBe('ended');
  await server.close();
});

describe('streams into the cluster', () => {
  let world: World;
  const streamClock = new FakeClock(Date.now());
  beforeAll(async () => {
    world = await startWorld(() => ({ clock: streamClock }));
    await world.pod('p', { nodeName: 'n1' }, { podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] });
  });
  afterAll(() => world.close());

  test.each([
    ['exec', 'p/exec?command=sh&stdout=1', 'pods/exec'],
    ['attach', 'p/attach?stdout=1', 'pods/attach'],
    ['portforward', 'p/portforward?ports=80', 'pods/portforward'],
  ])('%s', async (_, path, resource) => {
    const take = await allow(world.server, world.ns, user('alice'), { resources: [resource], verbs: ['get', 'create'] });
    let agentSide: Socket | undefined;
    world.agent.upgrade = (_req, socket) => {
      agentSide = socket;
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
    };
    const head = `GET /api/v1/namespaces/${world.ns}/pods/${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n`;
    const connection = await rawConnection(world.server, head);
    await connection.until(({ text }) => text.includes('101 Switching'));
    // Both of these sides could go on alone if only told that the other has nothing more to say.
    const agentEnd = once((agentSide as unknown as Socket).resume(), 'end').catch(() => {});
    const gone = Promise.all([connection.until(({ ended }) => ended), agentEnd]);
    await streamClock.advance(RECHECK_MS);
    expect(connection.ended).toBe(false);
    await take();
    await streamClock.advance(SETTLE_MS + MIN_SPACING_MS);
    await gone;
  });

  test.each([
    ['log', 'p/log?follow=1', 'pods/log'],
    ['proxy', 'https:p:PORT/proxy/stream', 'pods/proxy'],
  ])('%s', async (_, path, resource) => {
    const take = await allow(world.server, world.ns, user('alice'), { resources: [resource], verbs: ['get'] });
    let closed: Promise<unknown> | undefined;
    world.agent.answer = (_req, res) => {
      closed = once(res, 'close');
      res.writeHead(200).write('first line\n');
    };
    const answer = await world.server.alice.open(
      'GET',
      `/api/v1/namespaces/${world.ns}/pods/${path.replace('PORT', String(world.agent.port))}`,
    );
    expect(answer.status).toBe(200);
    const broken = once(answer.body, 'error').catch(() => {});
    await once(answer.body, 'data');
    await take();
    await streamClock.advance(SETTLE_MS + MIN_SPACING_MS);
    await Promise.all([closed, broken]);
  });
});
