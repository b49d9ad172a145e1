/** `plat owners`: who owns the fields of an object, and repairs of it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseYaml } from '../../packages/schema/src/yaml/index.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

describe.each(['plat', 'kubernetes'])('owners with identity %s', (identity) => {
  let server: TestServer;
  let plat: Plat;
  let ns: string;
  beforeAll(async () => {
    server = await startTestServer({ identity });
    plat = platFor(server);
    ns = await server.namespace();
  });
  afterAll(() => server.close());

  const path = (name: string): string => `/api/v1/namespaces/${ns}/configmaps/${name}`;
  async function made(name: string): Promise<void> {
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: '1', 'some.key': 'x\ny\n' } };
    await plat.ok(['apply', '-f', '-', '-n', ns, '--field-manager', 'alice'], applied);
    await plat.ok(['patch', 'cm', name, '-n', ns, '-p', '{"data":{"b":"2"}}', '--field-manager', 'bob']);
  }
  async function fieldsOf(name: string): Promise<Record<string, string[]>> {
    const { fields } = await plat.json(['owners', `cm/${name}`, '-n', ns]);
    return Object.fromEntries(
      fields.map(({ field, owners }: Loose) => [field, owners.map((o: Loose) => `${o.manager} ${o.operation}`)]),
    ) as Record<string, string[]>;
  }

  test('the object is printed as YAML with the owners of each field beside it', async () => {
    await made('shown');
    const stdout = await plat.ok(['owners', 'cm/shown', '-n', ns]);
    expect(stdout).toMatch(/^ {2}a: "1" +# alice \(Apply, \d{4}-.*Z\)$/m);
    expect(stdout).toMatch(/^ {2}b: "2" +# bob \(Update, \d{4}-.*Z\)$/m);
    expect(stdout).toMatch(/^ {2}some\.key: \| +# alice \(Apply, /m);
    expect(parseYaml(stdout)).toMatchObject({ kind: 'ConfigMap', data: { a: '1', b: '2', 'some.key': 'x\ny\n' } });
    expect(await fieldsOf('shown')).toEqual({
      '.data.a': ['alice Apply'],
      '.data.some.key': ['alice Apply'],
      '.data.b': ['bob Update'],
    });
  });

  test('values of secrets are not shown', async () => {
    await plat.ok(['create', 'secret', 'generic', 'key', '-n', ns, '--from-literal=pass=hunter2']);
    const stdout = await plat.ok(['owners', 'secret/key', '-n', ns]);
    expect(stdout).toMatch(/pass: '?"?\*\*\*'?"? +# plat \(Update/);
    expect(stdout).not.toContain(Buffer.from('hunter2').toString('base64'));
    expect(await plat.ok(['owners', 'secret/key', '-n', ns, '-o', 'json'])).not.toContain(Buffer.from('hunter2').toString('base64'));
  });

  test('a manager takes a field, releases it, and gets another name; the values stay', async () => {
    await made('repaired');
    const preview = await plat.ok(['owners', 'take', 'cm/repaired', '.data.b', '--manager', 'alice', '-n', ns, '--yes']);
    expect(preview).toContain('configmap/repaired\n');
    expect(preview).toMatch(/ {2}alice \(Apply, .*\) gains\n {4}\+ \.data\.b\n/);
    expect(preview).toMatch(/ {2}bob \(Update, .*\) loses\n {4}- \.data\.b\n/);
    expect((await fieldsOf('repaired'))['.data.b']).toEqual(['alice Apply']);
    await plat.ok(['owners', 'release', 'cm/repaired', 'data.a', '--manager', 'alice', '-n', ns, '--yes']);
    expect((await fieldsOf('repaired'))['.data.a']).toBeUndefined();
    await plat.ok(['owners', 'rename', 'cm/repaired', 'alice', 'carol', '-n', ns, '--yes']);
    expect((await fieldsOf('repaired'))['.data.b']).toEqual(['carol Apply']);
    await plat.ok(['owners', 'release', 'cm/repaired', '--manager', 'carol', '-n', ns, '--yes']);
    const { data, metadata } = await server.admin.ok('GET', path('repaired'));
    expect(data).toEqual({ a: '1', b: '2', 'some.key': 'x\ny\n' });
    expect(metadata.managedFields).toBeUndefined();
  });

  test('fields of client-side apply become those of server-side apply: what is left out of the file then goes', async () => {
    const before = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'migrated' }, data: { a: '1', b: '2' } };
    await server.admin.ok('POST', `${path('')}?fieldManager=kubectl-client-side-apply`.replace('/?', '?'), before);
    await plat.ok(['owners', 'rename', 'cm/migrated', 'kubectl-client-side-apply', 'plat', '--as-apply', '-n', ns, '-y']);
    await plat.ok(['apply', '-f', '-', '-n', ns], { ...before, data: { a: '1' } });
    expect((await server.admin.ok('GET', path('migrated'))).data).toEqual({ a: '1' });
  });

  test('a dry run and a missing --yes change nothing', async () => {
    await made('dry');
    const command = ['owners', 'take', 'cm/dry', '.data.b', '--manager', 'alice', '-n', ns];
    const { resourceVersion } = (await server.admin.ok('GET', path('dry'))).metadata;
    expect(await plat.ok([...command, '--dry-run=server'])).toContain('ownership changed (server dry run)\n');
    expect(await plat.ok([...command, '--dry-run=client'])).toContain('gains');
    expect(await plat.run(command)).toMatchObject({ code: 2, stderr: expect.stringContaining('add --yes') });
    expect((await server.admin.ok('GET', path('dry'))).metadata.resourceVersion).toBe(resourceVersion);
    expect(await plat.ok(['owners', 'take', 'cm/dry', '.data.a', '--manager', 'alice', '-n', ns])).toContain('as wanted already');
  });

  test('what cannot be repaired is an error that says why', async () => {
    await made('wrong');
    const failed = async (...args: string[]): Promise<string> => (await plat.run(['owners', ...args, '-n', ns, '--yes'])).stderr;
    expect(await failed('take', 'cm/wrong', '.data.z', '--manager', 'alice')).toContain('no manager owns the field .data.z');
    expect(await failed('take', 'cm/wrong', '--manager', 'alice')).toContain('which fields?');
    expect(await failed('take', 'cm/wrong', '.data.b')).toContain('--manager');
    expect(await failed('rename', 'cm/wrong', 'zoe', 'alice')).toContain('"zoe" owns no fields; managers are "alice", "bob"');
    expect(await failed('rename', 'cm/wrong', 'zoe')).toContain('the old name and the new one');
    expect(await failed('release', 'cm/none', '--manager', 'alice')).toContain('not found');
  });
});
