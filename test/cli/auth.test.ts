import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groupName } from '../../packages/meta/src/identity.ts';
import { makeRequest } from '../../packages/pki/src/request.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer, unique } from '../support/server.ts';

describe.each(['plat', 'kubernetes'])('access with identity %s', (identity) => {
  let server: TestServer;
  let admin: Plat;
  let alice: Plat;
  let ns: string;
  const as = (token: string): Plat => platFor(server, {}, ['--kubeconfig', server.running.adminConfigPath, '--token', token]);
  beforeAll(async () => {
    server = await startTestServer({ identity });
    admin = platFor(server);
    alice = as('alice-token');
    ns = await server.namespace();
    const rbac = groupName(server.identity, 'rbac.authorization');
    await server.admin.ok('POST', `/apis/${rbac}/v1/namespaces/${ns}/roles`, {
      metadata: { name: 'reader' },
      rules: [
        { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
        { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
        { apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['web'], verbs: ['delete'] },
      ],
    });
    await server.admin.ok('POST', `/apis/${rbac}/v1/namespaces/${ns}/rolebindings`, {
      metadata: { name: 'alice' },
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'reader' },
      subjects: [{ apiGroup: rbac, kind: 'User', name: 'alice' }],
    });
  });
  afterAll(() => server.close());

  test('can-i: yes or no, and an exit code', async () => {
    const ask = async (plat: Plat, ...words: string[]) => {
      const { code, stdout } = await plat.run(['auth', 'can-i', ...words]);
      return [code, stdout.split(' ')[0]?.trim()];
    };
    expect(await ask(alice, 'list', 'po', '-n', ns)).toEqual([0, 'yes']);
    expect(await ask(alice, 'list', 'pods')).toEqual([1, 'no']);
    expect(await ask(alice, 'list', 'pods', '-A')).toEqual([1, 'no']);
    expect(await ask(admin, 'list', 'pods', '-A')).toEqual([0, 'yes']);
    expect(await ask(alice, 'get', 'pods', '--subresource', 'log', '-n', ns)).toEqual([0, 'yes']);
    expect(await ask(alice, 'get', 'pods', '--subresource', 'exec', '-n', ns)).toEqual([1, 'no']);
    expect(await ask(alice, 'delete', 'deploy/web', '-n', ns)).toEqual([0, 'yes']);
    expect(await ask(alice, 'delete', 'deployment', 'web', '-n', ns)).toEqual([0, 'yes']);
    expect(await ask(alice, 'delete', 'deployments.apps', '-n', ns)).toEqual([1, 'no']);
    expect(await ask(alice, 'get', '/version')).toEqual([0, 'yes']);
    expect(await ask(alice, 'get', '/metrics')).toEqual([1, 'no']);
    expect(await ask(admin, '*', '*')).toEqual([0, 'yes']);
    expect(await ask(admin, 'list', 'pods', '--as', 'alice', '-n', ns)).toEqual([0, 'yes']);
    expect(await ask(admin, 'list', 'secrets', '--as', 'alice', '-n', ns)).toEqual([1, 'no']);
    expect(await alice.run(['auth', 'can-i', 'list', 'pods', '-q'])).toEqual({ code: 1, stdout: '', stderr: '' });
  });

  test('can-i: what looks wrong is asked all the same, with a warning', async () => {
    expect((await admin.run(['auth', 'can-i', 'gte', 'pods'])).stderr).toBe('Warning: "gte" is not a standard verb (did you mean get?)\n');
    expect(await admin.run(['auth', 'can-i', 'get', 'podz.example.com'])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`doesn't have a resource type "podz.example.com"`),
    });
    expect((await admin.run(['auth', 'can-i', 'get', 'nodes', '-n', ns])).stderr).toContain('nodes are cluster-scoped');
    expect(await admin.run(['auth', 'can-i', 'get'])).toMatchObject({ code: 2 });
    expect(await admin.run(['auth', 'can-i', 'get', 'a/b/c'])).toMatchObject({ code: 2 });
  });

  test('can-i --list: rules about the same thing are one line', async () => {
    const lines = (await alice.ok(['auth', 'can-i', '--list', '-n', ns])).split('\n');
    expect(lines[0]).toMatch(/^Resources +Non-Resource URLs +Resource Names +Verbs$/);
    expect(lines.find((line) => line.startsWith('pods '))).toMatch(/^pods +\[\] +\[\] +\[get list\]$/);
    expect(lines.find((line) => line.startsWith('deployments.apps'))).toMatch(/\[\] +\[web\] +\[delete\]$/);
    expect(lines.filter((line) => /^ +\[\/healthz\]/.test(line))).toHaveLength(1);
    expect((await alice.ok(['auth', 'can-i', '--list', '--no-headers'])).split('\n')[0]).not.toContain('Resource Names');
  });

  test('whoami: by a review of the token, by a certificate, by a refusal', async () => {
    // The administrator's configuration has a certificate.
    expect(await admin.ok(['auth', 'whoami'])).toMatch(
      /^ATTRIBUTE +VALUE\nUsername +\S+\nGroups +\[system:masters system:authenticated\]\n$/,
    );
    expect(await as('admin-token').ok(['auth', 'whoami'])).toMatch(
      /Username +admin\nUID +admin-uid\nGroups +\[system:masters system:authenticated\]/,
    );
    expect(await alice.ok(['auth', 'whoami'])).toMatch(/^ATTRIBUTE +VALUE\nUsername +alice\n$/);
    const { apiVersion, kind, status } = await alice.json(['auth', 'whoami']);
    expect([apiVersion, kind]).toEqual([`${groupName(server.identity, 'authentication')}/v1`, 'SelfSubjectReview']);
    expect(status).toEqual({ userInfo: { username: 'alice' } });
    expect(await admin.ok(['auth', 'whoami', '--as', 'bob', '--as-group', 'g'])).toMatch(
      /Username +bob\nGroups +\[g system:authenticated\]/,
    );
    const unknown = await as('wrong').run(['auth', 'whoami']);
    expect(unknown).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('invalid, expired or revoked credentials') });
  });

  test('create token: for whom, for how long, bound to what', async () => {
    const claims = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString());
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/serviceaccounts`, { metadata: { name: 'builder' } });
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/secrets`, { metadata: { name: 'bound' } });
    const token = (await admin.ok(['create', 'token', 'builder', '-n', ns])).trim();
    expect(claims(token).sub).toBe(`system:serviceaccount:${ns}:builder`);
    expect(await as(token).ok(['auth', 'whoami'])).toContain(`system:serviceaccount:${ns}:builder`);
    const bound = ['--bound-object-kind', 'Secret', '--bound-object-name', 'bound'];
    const special = claims(
      (await admin.ok(['create', 'token', 'builder', '-n', ns, '--audience=a', '--audience=b', '--duration=20m', ...bound])).trim(),
    );
    expect(special.aud).toEqual(['a', 'b']);
    expect(special.exp - special.iat).toBe(1200);
    expect(JSON.stringify(special)).toContain('"secret":{"name":"bound"');
    expect((await admin.json(['create', 'token', 'builder', '-n', ns])).kind).toBe('TokenRequest');
    expect(await admin.run(['create', 'token', 'absent', '-n', ns])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('NotFound'),
    });
    expect(await admin.run(['create', 'token', 'builder', '--bound-object-kind=Pod'])).toMatchObject({ code: 2 });
    expect(await admin.ok(['create', 'token', '--help'])).toContain('--bound-object-uid');
  });

  test('certificate: approved and denied', async () => {
    const group = groupName(server.identity, 'certificates');
    const path = `/apis/${group}/v1/certificatesigningrequests`;
    const keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const pem = makeRequest({ commonName: 'dora', organizations: [] }, keys);
    const request = async (): Promise<string> => {
      const name = unique('csr');
      await server.admin.ok('POST', path, {
        metadata: { name },
        spec: { request: Buffer.from(pem).toString('base64'), signerName: 'example.com/own', usages: ['client auth'] },
      });
      return name;
    };
    const conditions = async (name: string) =>
      (await server.admin.ok('GET', `${path}/${name}`)).status.conditions as { type: string; reason: string }[];
    const [a, b, c, d] = [await request(), await request(), await request(), await request()];
    const shown = (name: string) => `certificatesigningrequest.${group}/${name}`;
    expect(await admin.ok(['certificate', 'approve', a, `csr/${b}`])).toBe(`${shown(a)} approved\n${shown(b)} approved\n`);
    expect(await conditions(b)).toMatchObject([{ type: 'Approved', status: 'True', reason: 'PlatApprove' }]);
    expect(await admin.ok(['certificate', 'approve', a])).toBe(`${shown(a)} approved\n`);
    expect(await admin.ok(['certificate', 'deny', c, '-o', 'name'])).toBe(`${shown(c)}\n`);
    expect(await conditions(c)).toMatchObject([{ type: 'Denied', reason: 'PlatDeny' }]);
    const stock = platFor(server, {}, undefined, 'kubectl');
    await stock.ok(['certificate', 'deny', d]);
    expect(await conditions(d)).toMatchObject([{ reason: 'KubectlDeny', message: 'This CSR was denied by kubectl certificate deny.' }]);
    const both = await admin.run(['certificate', 'approve', 'absent', c]);
    expect(both.code).toBe(1);
    expect(both.stderr).toContain(`${shown('absent')}: `);
    expect(await admin.run(['certificate', 'approve'])).toMatchObject({ code: 2 });
    expect((await alice.run(['certificate', 'approve', a])).stderr).toContain('Forbidden');
  });
});
