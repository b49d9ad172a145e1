/** `plat why rejected`: what admission does with the objects of files. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groupName } from '../../packages/meta/src/identity.ts';
import { caBundle, patched, startWebhook } from '../../packages/server/src/admission/webhooks/testing.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

describe.each(['plat', 'kubernetes'])('why rejected with identity %s', (identity) => {
  let server: TestServer;
  let plat: Plat;
  let ns: string;
  beforeAll(async () => {
    server = await startTestServer({ identity });
    plat = platFor(server);
    ns = await server.namespace();
    // Pods need it; the controller makes it a little later.
    const account = await server.admin.post(`/api/v1/namespaces/${ns}/serviceaccounts`, { metadata: { name: 'default' } });
    expect([201, 409]).toContain(account.status);
  });
  afterAll(() => server.close());

  const pod = (name: string, spec: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  });

  test('each plug-in has its time and the patch that it made, and the last one refused', async () => {
    const { code, stdout } = await plat.run(['why', 'rejected', '-f', '-', '-n', ns], pod('web', { priorityClassName: 'none' }));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^pod\/web: refused by Priority\n/);
    expect(stdout).toMatch(/ {2}admit +\d+\.\d{3} ms {2}ServiceAccount\n {30}.*add \/spec\//);
    expect(stdout).toContain('add /spec/serviceAccountName "default"');
    expect(stdout).toMatch(/ {2}admit +\d+\.\d{3} ms {2}Priority\n {30}refused: .*no PriorityClass with name none/);
    expect(stdout).toMatch(/\(403 Forbidden\)\n$/);
    expect((await server.admin.get(`/api/v1/namespaces/${ns}/pods/web`)).status).toBe(404);
  });

  test('validation names its fields, and what is accepted is no answer to the question', async () => {
    const invalid = await plat.run(['why', 'rejected', '-f', '-', '-n', ns], pod('bad', { restartPolicy: 'Sometimes' }));
    expect(invalid.code).toBe(0);
    expect(invalid.stdout).toMatch(/^pod\/bad: refused by validation\n/);
    expect(invalid.stdout).toMatch(/\(422 Invalid\)\n {2}spec\.restartPolicy: Unsupported value: "Sometimes"/);
    for (const more of [[], ['--create']]) {
      const accepted = await plat.run(['why', 'rejected', '-f', '-', '-n', ns, ...more], pod('good'));
      expect(accepted.code).toBe(1);
      expect(accepted.stdout).toMatch(/^pod\/good: accepted\n/);
      expect(accepted.stdout).toContain('  validate ');
    }
  });

  test('programs get JSON', async () => {
    const { objects } = await plat.json(['why', 'rejected', '-f', '-', '-n', ns], pod('web', { priorityClassName: 'none' }));
    expect(objects[0]).toMatchObject({ object: 'pod/web', refusal: { code: 403, reason: 'Forbidden' } });
    const { patch } = objects[0].steps.find(({ step }: Loose) => step === 'ServiceAccount');
    expect(patch).toContainEqual({ op: 'add', path: '/spec/serviceAccountName', value: 'default' });
  });

  test('without the verb explain nothing is said; values of secrets never are', async () => {
    const alice = platFor(server, {}, ['--kubeconfig', server.running.adminConfigPath, '--token', 'alice-token']);
    const rbac = groupName(server.identity, 'rbac.authorization');
    const rules = [{ apiGroups: [''], resources: ['pods', 'secrets'], verbs: ['create', 'patch'] }];
    await server.admin.ok('POST', `/apis/${rbac}/v1/namespaces/${ns}/roles`, { metadata: { name: 'writer' }, rules });
    await plat.ok(['create', 'rolebinding', 'writer', '--role=writer', '--user=alice', '-n', ns]);
    const denied = await alice.run(['why', 'rejected', '-f', '-', '-n', ns], pod('web'));
    expect(denied).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('cannot explain resource "pods"') });
    await server.admin.patch(`/apis/${rbac}/v1/namespaces/${ns}/roles/writer`, {
      rules: [{ ...rules[0], verbs: ['create', 'patch', 'explain'] }],
    });
    expect((await alice.run(['why', 'rejected', '-f', '-', '-n', ns], pod('web'))).stdout).toContain('pod/web: accepted\n');
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { pass: 'hunter2-is-no-base64' } };
    const { stdout, stderr } = await alice.run(['why', 'rejected', '-f', '-', '-n', ns], body);
    expect(stdout + stderr).not.toContain('hunter2-is-no-base64');
  });

  test('what a webhook sets is shown, but in secrets', async () => {
    const hook = await startWebhook(() => patched({ op: 'add', path: '/data', value: { extra: btoa('swordfish') } as never }));
    const configurations = `/apis/${groupName(server.identity, 'admissionregistration')}/v1/mutatingwebhookconfigurations`;
    try {
      const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets', 'configmaps'] }];
      const entry = {
        name: 'a.b.c',
        clientConfig: { url: hook.url, caBundle },
        rules,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      };
      await server.admin.ok('POST', configurations, { metadata: { name: 'adds' }, webhooks: [entry] });
      const trace = async (kind: string): Promise<string> => {
        const { stdout } = await plat.run(['why', 'rejected', '-f', '-', '-n', ns, '--create'], {
          apiVersion: 'v1',
          kind,
          metadata: { name: 'x' },
        });
        expect(stdout).toContain('  MutatingAdmissionWebhook/adds/a.b.c\n');
        return stdout;
      };
      expect(await trace('ConfigMap')).toContain(`add /data {"extra":"${btoa('swordfish')}"}`);
      const secret = await trace('Secret');
      expect(secret).toContain('changed +/data\n');
      expect(secret).not.toContain(btoa('swordfish'));
    } finally {
      await server.admin.delete(`${configurations}/adds`);
      await hook.close();
    }
  });
});
