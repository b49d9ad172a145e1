/** `plat why conflict`: the owners of fields that an apply would change. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Plat, platFor, shellWords } from '../support/plat.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

describe.each(['plat', 'kubernetes'])('why conflict with identity %s', (identity) => {
  let server: TestServer;
  let plat: Plat;
  let ns: string;
  beforeAll(async () => {
    server = await startTestServer({ identity });
    plat = platFor(server);
    ns = await server.namespace();
  });
  afterAll(() => server.close());

  const labels = { app: 'web' };
  const replicaSet = (name: string, replicas: number, image: string) => ({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } },
    },
  });
  /** Applied by plat, then scaled and given another image by others. */
  async function contested(name: string): Promise<void> {
    await plat.ok(['apply', '-f', '-', '-n', ns], replicaSet(name, 1, 'web:1'));
    const path = `/apis/apps/v1/namespaces/${ns}/replicasets/${name}`;
    await server.admin.patch(`${path}/scale?fieldManager=scaler`, { spec: { replicas: 5 } });
    const image = { spec: { template: { spec: { containers: [{ name: 'main', image: 'web:9' }] } } } };
    await server.admin.patch(`${path}?fieldManager=bob`, image, 'strategic-merge-patch');
  }

  test('each field has its owner, operation, time and both values; the ways out are commands that work', async () => {
    await contested('web');
    plat.file('web.json', replicaSet('web', 2, 'web:2'));
    const { code, stdout } = await plat.run(['why', 'conflict', '-f', 'web.json', '-n', ns]);
    expect(code).toBe(0);
    expect(stdout).toContain('replicaset.apps/web: 2 fields have another owner than plat\n');
    expect(stdout).toMatch(/ {2}\.spec\.replicas\n {4}owner: {2}scaler \(Update of scale(, .*)?\)\n {4}now: {4}5\n {4}wanted: 2\n/);
    expect(stdout).toMatch(/\[name="main"\]\.image\n {4}owner: {2}bob \(Update, \d{4}-.*Z\)\n {4}now: {4}"web:9"\n {4}wanted: "web:2"\n/);
    expect(stdout).toContain(`plat apply -f web.json --force-conflicts -n ${ns} --kubeconfig ${server.running.adminConfigPath}\n`);
    const commands = stdout.split('\n').filter((line) => line.includes('plat owners release '));
    expect(commands).toHaveLength(2);
    for (const line of commands) await plat.ok([...shellWords(line).slice(1), '--yes']);
    expect(await plat.ok(['apply', '-f', 'web.json', '-n', ns])).toContain('configured');
    expect(await plat.run(['why', 'conflict', '-f', 'web.json', '-n', ns])).toMatchObject({
      code: 1,
      stdout: 'replicaset.apps/web: no conflict for plat\n',
    });
  });

  test('nothing is stored by the question, and programs get JSON', async () => {
    await contested('asked');
    const path = `/apis/apps/v1/namespaces/${ns}/replicasets/asked`;
    const { resourceVersion } = (await server.admin.ok('GET', path)).metadata;
    const answer = await plat.json(['why', 'conflict', '-f', '-', '-n', ns], replicaSet('asked', 2, 'web:9'));
    expect(answer).toMatchObject({
      objects: [
        {
          object: 'replicaset.apps/asked',
          conflicts: [{ field: '.spec.replicas', manager: 'scaler', operation: 'Update', subresource: 'scale', current: 5, wanted: 2 }],
        },
      ],
    });
    expect((await server.admin.ok('GET', path)).metadata.resourceVersion).toBe(resourceVersion);
  });

  test('values of secrets are not shown', async () => {
    const secret = (pass: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key' }, data: { pass: btoa(pass) } });
    await plat.ok(['apply', '-f', '-', '-n', ns, '--field-manager', 'alice'], secret('hunter2'));
    for (const form of ['text', 'json']) {
      const { code, stdout, stderr } = await plat.run(['why', 'conflict', '-f', '-', '-n', ns, '-o', form], secret('swordfish'));
      expect(code).toBe(0);
      expect(stdout).toContain('.data.pass');
      for (const pass of ['hunter2', 'swordfish']) expect(stdout + stderr).not.toContain(btoa(pass));
    }
  });

  test('other refusals are reported as they are', async () => {
    const { code, stderr } = await plat.run(['why', 'conflict', '-f', '-', '-n', ns], { ...replicaSet('bad', 1, 'x'), spec: {} });
    expect(code).toBe(1);
    expect(stderr).toContain('spec.selector');
    expect((await plat.run(['why', 'conflict'])).code).toBe(2);
  });
});
