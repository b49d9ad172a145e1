import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { FakeClock } from '../../packages/lib/src/clock.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { define, definitionOf } from '../support/custom.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer, unique } from '../support/server.ts';

describe.each(['plat', 'kubernetes'])('apply with identity %s', (identity) => {
  let server: TestServer;
  let plat: Plat;
  let ns: string;
  beforeAll(async () => {
    server = await startTestServer({ identity });
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    plat = platFor(server);
    ns = await server.namespace();
  });
  const configMap = (name: string, data: object, metadata: object = {}) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ...metadata },
    data,
  });

  test('an object is made, changed, and left alone', async () => {
    const input = configMap('a', { x: '1' });
    expect(await plat.ok(['apply', '-n', ns, '-f', '-'], input)).toBe('configmap/a created\n');
    expect(await plat.ok(['apply', '-n', ns, '-f', '-'], input)).toBe('configmap/a unchanged\n');
    expect(await plat.ok(['apply', '-n', ns, '-f', '-'], configMap('a', { y: '2' }))).toBe('configmap/a configured\n');
    const { data, metadata } = await server.admin.ok('GET', `/api/v1/namespaces/${ns}/configmaps/a`);
    expect(data).toEqual({ y: '2' });
    expect(metadata.managedFields).toMatchObject([{ manager: 'plat', operation: 'Apply' }]);
  });

  test('files, directories with and without those below, several documents and lists', async () => {
    const document = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n`;
    plat.file('dir/1.yaml', `---\n${document('one')}---\n# nothing here\n---\n${document('two')}`);
    plat.file('dir/2.json', { apiVersion: 'v1', kind: 'List', items: [configMap('three', {}), configMap('four', {})] });
    plat.file('dir/notes.txt', 'not for us');
    plat.file('dir/below/5.yml', document('five'));
    expect(await plat.ok(['apply', '-n', ns, '-f', 'dir'])).toBe(
      'configmap/one created\nconfigmap/two created\nconfigmap/three created\nconfigmap/four created\n',
    );
    const again = await plat.ok(['apply', '-n', ns, '-R', '-f', 'dir', '-o', 'name']);
    expect(again.split('\n').slice(0, -1)).toEqual(['one', 'two', 'three', 'four', 'five'].map((n) => `configmap/${n}`));
  });

  test('conflicts name managers and fields, and can be forced', async () => {
    await plat.ok(['apply', '-n', ns, '-f', '-', '--field-manager', 'alice'], configMap('c', { x: '1', y: '1' }));
    const mine = configMap('c', { x: '2', y: '2', z: '3' });
    const refused = await plat.run(['apply', '-n', ns, '-f', '-', '--field-manager=bob'], mine);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toBe(
      'plat: configmap/c: 2 fields are owned by other managers:\n  "alice"\n    .data.x\n    .data.y\n' +
        'Remove them from the file to leave ownership as it is, set their current values to share ownership,\n' +
        `or take ownership with --force-conflicts. \`plat why conflict -f FILE -n ${ns} --kubeconfig ${server.running.adminConfigPath}\` shows their values and more ways out.\n`,
    );
    expect(await plat.ok(['apply', '-n', ns, '-f', '-', '--field-manager=bob', '--force-conflicts'], mine)).toBe(
      'configmap/c configured\n',
    );
  });

  test('dry runs leave nothing behind', async () => {
    const input = configMap('d', { x: '1' });
    expect(await plat.ok(['apply', '-n', ns, '-f', '-', '--dry-run=server'], input)).toBe('configmap/d created (server dry run)\n');
    expect(await plat.ok(['apply', '-n', ns, '-f', '-', '--dry-run=client'], input)).toBe('configmap/d applied (dry run)\n');
    expect(await plat.json(['apply', '-n', ns, '-f', '-', '--dry-run'], input)).toEqual(configMap('d', { x: '1' }, { namespace: ns }));
    expect((await server.admin.get(`/api/v1/namespaces/${ns}/configmaps/d`)).status).toBe(404);
  });

  test('a definition and its objects come in one file', async () => {
    const group = `${unique('g')}.example.com`;
    const definition = definitionOf(server, group, 'Bed', [
      { schema: { type: 'object', [`${server.identity.schemaExtensionPrefix}preserve-unknown-fields`]: true } },
    ]);
    const bed = { apiVersion: `${group}/v1`, kind: 'Bed', metadata: { name: 'b' }, spec: { rows: 3 } };
    plat.file('bed.yaml', `${jsonText(definition)}\n---\n${JSON.stringify(bed)}\n`);
    const said = await plat.ok(['apply', '-n', ns, '-f', 'bed.yaml']);
    expect(said).toContain(`customresourcedefinition.apiextensions.${server.identity.groupSuffix}/beds.${group} created\n`);
    expect(said).toContain(`bed.${group}/b created\n`);
  });

  test('what fails does not keep the others from being applied', async () => {
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      items: [
        configMap('Bad_Name', {}),
        { ...configMap('x', {}), kind: 'ConfigMop' },
        { ...configMap('y', {}), metadata: {} },
        configMap('good', {}),
      ],
    };
    const { code, stdout, stderr } = await plat.run(['apply', '-n', ns, '-f', '-'], list);
    expect(code).toBe(1);
    expect(stdout).toBe('configmap/good created\n');
    expect(stderr).toContain('plat: configmap/Bad_Name: ');
    expect(stderr).toContain('plat: the standard input, item 2: the server has no kind "ConfigMop" in v1 (did you mean ConfigMap?)\n');
    expect(stderr).toContain('plat: the standard input, item 3: the object has no metadata.name\n');
  });

  test('a kind of another version or group is reported with its place', async () => {
    const { stderr } = await plat.run(['apply', '-f', '-'], {
      apiVersion: 'extensions/v1beta1',
      kind: 'Deployment',
      metadata: { name: 'x' },
    });
    expect(stderr).toBe(
      'plat: the standard input: the server has no kind "Deployment" in extensions/v1beta1; it has one in apps/v1: `plat convert` converts manifests\n',
    );
  });

  test('labels choose among the objects of a file', async () => {
    const items = [configMap('in', {}, { labels: { app: 'x' } }), configMap('out', {})];
    expect(await plat.ok(['apply', '-n', ns, '-l', 'app=x', '-f', '-'], { apiVersion: 'v1', kind: 'List', items })).toBe(
      'configmap/in created\n',
    );
  });

  test('the tool never conflicts with itself: what it wrote by other commands is taken over', async () => {
    const deployment = (replicas: number, labels: object = {}) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', labels },
      spec: {
        replicas,
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    const apply = (object: object) => plat.run(['apply', '-n', ns, '-f', '-'], object);
    await plat.ok(['create', '-n', ns, '-f', '-'], deployment(1, { x: '1', y: '1' }));
    expect(await apply(deployment(2, { x: '2', y: '1' }))).toMatchObject({
      code: 0,
      stdout: 'deployment.apps/web configured\n',
      stderr: '',
    });
    await plat.ok(['scale', '-n', ns, 'deployment/web', '--replicas=5']);
    await plat.ok(['label', '-n', ns, 'deployment/web', 'x=3', '--overwrite']);
    expect(await apply(deployment(3, { x: '4', y: '1' }))).toMatchObject({
      code: 0,
      stdout: 'deployment.apps/web configured\n',
      stderr: '',
    });
    const live = () => server.admin.ok('GET', `/apis/apps/v1/namespaces/${ns}/deployments/web`);
    expect(await live()).toMatchObject({ spec: { replicas: 3 }, metadata: { labels: { x: '4', y: '1' } } });
    // Fields that create wrote and apply took over go when the file drops them.
    expect(await apply(deployment(3, { x: '4' }))).toMatchObject({ code: 0, stdout: 'deployment.apps/web configured\n' });
    expect((await live()).metadata.labels).toEqual({ x: '4' });
    expect(await apply(deployment(3, { x: '4' }))).toMatchObject({ code: 0, stdout: 'deployment.apps/web unchanged\n' });
  });

  test('of a conflict with itself and others, only the others are named', async () => {
    await plat.ok(['create', '-n', ns, '-f', '-'], configMap('both', { mine: '1', theirs: '1' }));
    await plat.ok(['apply', '-n', ns, '-f', '-', '--field-manager=alice', '--force-conflicts'], configMap('both', { theirs: '2' }));
    const { code, stderr } = await plat.run(['apply', '-n', ns, '-f', '-'], configMap('both', { mine: '2', theirs: '3' }));
    expect(code).toBe(1);
    expect(stderr).toContain('1 field is owned by other managers:\n  "alice"\n    .data.theirs\n');
    expect((await plat.run(['diff', '-n', ns, '-f', '-'], configMap('both', { mine: '2', theirs: '2' }))).code).toBe(1);
  });

  test('prune deletes what it applied on the server', async () => {
    const labelled = (name: string) => configMap(name, {}, { labels: { app: 'x' } });
    const list = (...items: object[]) => ({ apiVersion: 'v1', kind: 'List', items });
    await plat.ok(['apply', '-n', ns, '-f', '-'], list(labelled('one'), labelled('two')));
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, labelled('created'));
    const flags = ['--prune', '-l', 'app=x', '--prune-whitelist=core/v1/ConfigMap', '--wait'];
    expect(await plat.ok(['apply', '-n', ns, '-f', '-', ...flags], list(labelled('one')))).toBe(
      'configmap/one unchanged\nconfigmap/two pruned\n',
    );
  });

  test('it waits until all objects are ready, and says what is not', async () => {
    const group = `${unique('g')}.example.com`;
    const schema = { type: 'object', [`${server.identity.schemaExtensionPrefix}preserve-unknown-fields`]: true };
    const definition = definitionOf(server, group, 'Bed', [{ schema, subresources: { status: {} } }]);
    const bed = { apiVersion: `${group}/v1`, kind: 'Bed', metadata: { name: 'b' } };
    const list = { apiVersion: 'v1', kind: 'List', items: [definition, configMap('c', {}), bed] };
    await plat.ok(['apply', '-n', ns, '-f', '-'], list);
    // The time is up when the test says so, after the object was seen.
    const clock = new FakeClock();
    const { terminal } = testIO();
    const late = testIO({
      clock,
      cwd: plat.cwd,
      stdin: async () => jsonText(list),
      terminal: { ...terminal, size: () => ({ width: 200, height: 9 }) },
    });
    const connection = ['--kubeconfig', server.running.adminConfigPath];
    const timedOut = run(['apply', '-n', ns, '-f', '-', '--wait=ready', '--timeout=1m', ...connection], late);
    await late.said(`waiting for 3 of 3: bed.${group}/b: it has no condition Ready`);
    clock.advance(60_000);
    expect(await timedOut).toBe(1);
    expect(late.stderr).toContain('3 objects: 3 unchanged\n');
    expect(late.stderr).toContain(`plat: bed.${group}/b is not ready: it has no condition Ready\n`);
    const { io, code } = plat.start(['apply', '-n', ns, '-f', '-', '--wait=ready'], list);
    await io.said(`bed.${group}/b `);
    const path = `/apis/${group}/v1/namespaces/${ns}/beds/b/status`;
    await server.admin.patch(path, { status: { conditions: [{ type: 'Ready', status: 'True' }] } });
    expect(await code).toBe(0);
    expect(io.stderr).toBe('');
  });

  test('a directory with a kustomization', async () => {
    plat.file('k/kustomization.yaml', 'namePrefix: p-\nresources: [a.json]\nconfigMapGenerator: [{name: g, literals: [a=1]}]\n');
    plat.file('k/a.json', configMap('a', { x: '1' }));
    const said = await plat.ok(['apply', '-n', ns, '-k', 'k']);
    expect(said).toMatch(/^configmap\/p-a created\nconfigmap\/p-g-[a-z0-9]{10} created\n$/);
    expect((await plat.run(['diff', '-n', ns, '-k', 'k'])).code).toBe(0);
    expect(await plat.ok(['delete', '-n', ns, '-k', 'k', '-o', 'name'])).toBe(
      `${said
        .split('\n')
        .slice(0, -1)
        .reverse()
        .map((line) => line.split(' ')[0])
        .join('\n')}\n`,
    );
  });

  test('who may write but not read is served', async () => {
    const group = `rbac.authorization.${server.identity.groupSuffix}`;
    const base = `/apis/${group}/v1/namespaces/${ns}`;
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['patch', 'create'] }];
    await server.admin.ok('POST', `${base}/roles`, { metadata: { name: 'w' }, rules });
    const subjects = [{ kind: 'User', apiGroup: group, name: 'bob' }];
    await server.admin.ok('POST', `${base}/rolebindings`, {
      metadata: { name: 'w' },
      roleRef: { apiGroup: group, kind: 'Role', name: 'w' },
      subjects,
    });
    const bob = platFor(server, {}, ['--server', server.address, '--token', 'bob-token', '--insecure-skip-tls-verify']);
    expect(await bob.run(['apply', '-n', ns, '-f', '-'], configMap('w', {}))).toEqual({
      code: 0,
      stdout: 'configmap/w created\n',
      stderr: '',
    });
    expect(await bob.ok(['apply', '-n', ns, '-f', '-'], configMap('w', {}))).toBe('configmap/w applied\n');
    const refused = await bob.run(['apply', '-n', 'default', '-f', '-'], configMap('w', {}));
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('plat: configmap/w: configmaps "w" is forbidden') });
  });

  test('custom objects are applied as others are', async () => {
    const group = `${unique('g')}.example.com`;
    await define(
      server,
      definitionOf(server, group, 'Pot', [
        { schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } } },
      ]),
    );
    const pot = (size: number) => ({ apiVersion: `${group}/v1`, kind: 'Pot', metadata: { name: 'p', namespace: ns }, spec: { size } });
    expect(await plat.ok(['apply', '-f', '-'], pot(1))).toBe(`pot.${group}/p created\n`);
    expect(await plat.ok(['apply', '-f', '-', '-o', 'jsonpath={.spec.size}{"\\n"}'], pot(2))).toBe('2\n');
  });
});
