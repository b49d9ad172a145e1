/** `plat why` and `plat who`: what decided, and what would decide otherwise. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { readRuntimeConfig } from '../../packages/compose/src/config/runtime-config.ts';
import { groupName } from '../../packages/meta/src/identity.ts';
import { bundleChild, startChild } from '../support/child.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { finished } from '../support/program.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

describe.each([
  { identity: 'plat', flags: {} },
  { identity: 'kubernetes', flags: { runtimeConfig: readRuntimeConfig(['explain.k8s.io/v1alpha1=true']) } },
])('why with identity $identity', ({ identity, flags }) => {
  let server: TestServer;
  let admin: Plat;
  let alice: Plat;
  let ns: string;
  let rbac: string;
  beforeAll(async () => {
    server = await startTestServer({ identity, ...flags });
    admin = platFor(server);
    alice = platFor(server, {}, ['--kubeconfig', server.running.adminConfigPath, '--token', 'alice-token']);
    ns = await server.namespace();
    rbac = groupName(server.identity, 'rbac.authorization');
    await server.admin.ok('POST', `/apis/${rbac}/v1/namespaces/${ns}/rolebindings`, {
      metadata: { name: 'readers' },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: rbac, kind: 'User', name: 'alice' }],
    });
  });
  afterAll(() => server.close());

  test('what is denied: the binding that comes nearest, and a role that makes it pass once it is applied', async () => {
    const { code, stdout } = await admin.run(['why', 'denied', 'delete', 'pods/web', '-n', ns, '--as', 'alice']);
    expect(code).toBe(0);
    expect(stdout).toContain('alice may not delete pods/web.\n');
    expect(stdout).toContain(`RoleBinding ${ns}/readers of ClusterRole view: its rule lacks the verb`);
    expect(await alice.run(['auth', 'can-i', 'delete', 'pods/web', '-n', ns])).toMatchObject({ code: 1 });
    await admin.ok(['apply', '-f', '-'], stdout);
    expect(await alice.run(['auth', 'can-i', 'delete', 'pods/web', '-n', ns])).toMatchObject({ code: 0 });
    expect(await alice.run(['auth', 'can-i', 'delete', 'pods/other', '-n', ns])).toMatchObject({ code: 1 });
    expect(await admin.run(['why', 'denied', 'delete', 'pods/web', '-n', ns, '--as', 'alice'])).toMatchObject({ code: 1 });
  });

  test('on a terminal the words are no comments', async () => {
    const io = testIO({ terminal: { ...testIO().terminal, size: () => ({ width: 80, height: 24 }) }, env: { NO_COLOR: '1' } });
    const connection = ['--kubeconfig', server.running.adminConfigPath];
    expect(await run(['why', 'denied', 'get', '/metrics', '--as', 'alice', ...connection], io)).toBe(0);
    expect(io.stdout).toMatch(/^alice may not get \/metrics\.\nAuthorizers asked: /);
    expect(io.stdout).not.toContain('#');
  });

  test('a subresource is named, and so are verbs that only commands have', async () => {
    const { stdout } = await admin.run(['why', 'denied', 'patch', 'deployments/web', '--subresource', 'scale', '-n', ns, '--as', 'alice']);
    expect(stdout).toContain('alice may not patch deployments/web (subresource scale).\n');
    expect(await admin.run(['why', 'denied', 'scale', 'deployment/web', '-n', ns, '--as', 'alice'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('`plat why denied patch deployment/web --subresource scale`'),
    });
  });

  test('verbs of a plat server are known', async () => {
    for (const verb of ['history', 'explain']) {
      const { code, stderr } = await admin.run(['why', 'denied', verb, 'deployments/web', '-n', ns, '--as', 'bob']);
      expect([code, stderr]).toEqual([0, '']);
      expect(await admin.run(['create', 'role', 'r', `--verb=${verb}`, '--resource=pods', '--dry-run=client', '-n', ns])).toMatchObject({
        stderr: '',
      });
    }
    expect((await admin.run(['why', 'denied', 'hstory', 'pods', '-n', ns])).stderr).toContain('is not a standard verb');
  });

  test('what is allowed: the binding and its rule', async () => {
    const { code, stdout } = await admin.run(['why', 'allowed', 'list', 'pods', '-n', ns, '--as', 'alice']);
    expect(code).toBe(0);
    expect(stdout).toContain(`Allowed by:\n  RoleBinding ${ns}/readers of ClusterRole view (get,list,watch `);
    expect((await admin.run(['why', 'allowed', 'list', 'secrets', '-n', ns, '--as', 'alice'])).code).toBe(1);
  });

  test('about oneself everybody may ask, and learns no binding that they may not list', async () => {
    const { code, stdout } = await alice.run(['why', 'denied', 'list', 'secrets', '-n', ns]);
    expect(code).toBe(0);
    expect(stdout).toContain('You may not list secrets.\n');
    expect(stdout).not.toContain('readers');
    expect(stdout).toContain('kind: RoleBinding\n');
  });

  test('whoever may not ask is told what an administrator can ask', async () => {
    const binding = `/apis/${rbac}/v1/clusterrolebindings/system:explanation-user`;
    const { roleRef, subjects } = await server.admin.ok('GET', binding);
    await server.admin.ok('DELETE', binding);
    for (const [args, question] of [
      [['denied', 'list', 'secrets', '-n', ns], `denied list secrets -n ${ns} --as=alice`],
      [['denied', 'get', 'secrets/a', '-n', ns, '--as', 'bob'], `denied get secrets/a -n ${ns} --as=bob`],
      [['allowed', 'list', 'nodes'], 'allowed list nodes -A --as=alice'],
      [['denied', 'get', '/metrics'], 'denied get /metrics --as=alice'],
      [['denied'], 'denied --as=alice'],
      [['pending', 'web', '-n', ns], `denied create pendingexplanations.${groupName(server.identity, 'explain')} -A --as=alice`],
    ] as const) {
      const { code, stderr } = await alice.run(['why', ...args]);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^plat: .* cannot create resource "\w+" .* \(Forbidden\); /)]);
      expect(stderr.split('(Forbidden); ')[1]).toBe(`ask an administrator to run \`plat why ${question}\`\n`);
      expect((await admin.run(['why', ...question.split(' ')])).stderr).not.toContain('(Forbidden)');
    }
    await server.admin.ok('POST', `/apis/${rbac}/v1/clusterrolebindings`, {
      metadata: { name: 'system:explanation-user' },
      roleRef,
      subjects,
    });
  });

  test('about others only those may ask who may review their access', async () => {
    const { code, stderr } = await alice.run(['why', 'denied', 'list', 'secrets', '-n', ns, '--as', 'bob']);
    expect(code).toBe(1);
    expect(stderr).toContain('User "alice" cannot create resource "subjectaccessreviews"');
  });

  test('who can: users, groups and service accounts, with their binding', async () => {
    const { code, stdout, stderr } = await admin.run(['who', 'can', 'list', 'pods', '-n', ns]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^KIND +NAME +NAMESPACE +BINDING +ROLE\n/);
    expect(stdout).toMatch(new RegExp(`User +alice +RoleBinding ${ns}/readers +ClusterRole view \\(from system:aggregate-to-view\\)\\n`));
    expect(stdout).toMatch(/Group +system:masters +ClusterRoleBinding cluster-admin/);
    expect(stderr).toContain('the authorizer Node has no list of subjects');
    const mine = await alice.run(['who', 'can', 'list', 'pods', '-n', ns]);
    expect(mine.stdout).not.toContain('readers');
    expect(mine.stderr).toContain('the list is not complete: you may not list rolebindings');
  });

  test('the answer as an object, and a question without an action', async () => {
    const group = groupName(server.identity, 'explain');
    const answer = JSON.parse(await admin.ok(['why', 'denied', 'get', '/metrics', '--as', 'alice', '-o', 'json']));
    expect(answer).toMatchObject({
      apiVersion: `${group}/v1alpha1`,
      kind: 'AccessExplanation',
      status: { allowed: false, proposal: { role: { kind: 'ClusterRole', rules: [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }] } } },
    });
    const { status, json } = await server.admin.post(`/apis/${group}/v1alpha1/accessexplanations`, { spec: {} });
    expect([status, json.message]).toEqual([422, expect.stringContaining('exactly one of nonResourceAttributes or resourceAttributes')]);
    expect((await admin.run(['why', 'denied', 'get'])).code).toBe(2);
  });
});

test('in a shell the answer is piped into apply, and the request passes', async () => {
  const server = await startTestServer();
  try {
    const ns = await server.namespace();
    const program = await bundleChild(join(import.meta.dirname, '../../packages/cli/src/plat.ts'));
    const inShell = (line: string) => finished(startChild('sh', ['-c', line.replaceAll('plat ', `"${process.execPath}" "${program}" `)]));
    const as = `-n ${ns} --kubeconfig "${server.running.adminConfigPath}"`;
    const question = `plat why denied patch deployments/web --subresource scale --as=alice ${as}`;
    const { code, stdout, stderr } = await inShell(`${question} | plat apply -f - ${as}`);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^role\S* created\nrolebinding\S* created$/);
    expect(await inShell(question)).toMatchObject({ code: 1, stdout: expect.stringContaining('alice may patch deployments/web') });
  } finally {
    await server.close();
  }
});

test('a stock server, and one with its names, cannot say why, and the command says so', async () => {
  const server = await startTestServer({ identity: 'kubernetes' });
  try {
    const plat = platFor(server);
    expect((await plat.run(['why', 'denied', 'list', 'pods'])).stderr).toContain('--runtime-config explain.k8s.io/v1alpha1=true');
    expect(await plat.ok(['api-versions'])).not.toContain('explain');
  } finally {
    await server.close();
  }
});
