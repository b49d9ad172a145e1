/** Apply on the client's side, which is the default when the program is called as kubectl. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { define, definitionOf } from '../support/custom.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { type Loose, startTestServer, type TestServer, unique } from '../support/server.ts';

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

// With stock names of groups, test/kubectl/apply-scenarios.test.ts does the same.
describe('client-side apply', () => {
  let server: TestServer;
  let kubectl: Plat;
  let ns: string;
  beforeAll(async () => {
    server = await startTestServer({ identity: 'plat' });
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    kubectl = platFor(server, {}, undefined, 'kubectl');
    ns = await server.namespace();
  });
  const configMap = (name: string, data: object, metadata: object = {}) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, ...metadata },
    data,
  });
  const read = (name: string, path = 'configmaps', group = '/api/v1'): Promise<Loose> =>
    server.admin.ok('GET', `${group}/namespaces/${ns}/${path}/${name}`);
  const apply = (object: unknown, ...flags: string[]): Promise<string> => kubectl.ok(['apply', '-n', ns, '-f', '-', ...flags], object);

  test('an object is created with the annotation, changed, and left alone', async () => {
    expect(await apply(configMap('a', { x: '1', y: '<&>' }))).toBe('configmap/a created\n');
    const made = await read('a');
    expect(made.metadata.annotations[ANNOTATION]).toBe(
      `{"apiVersion":"v1","data":{"x":"1","y":"\\u003c\\u0026\\u003e"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"a","namespace":"${ns}"}}\n`,
    );
    expect(made.metadata.managedFields).toMatchObject([{ manager: 'kubectl-client-side-apply', operation: 'Update' }]);
    expect(await apply(configMap('a', { x: '1', y: '<&>' }))).toBe('configmap/a unchanged\n');
    expect((await read('a')).metadata.resourceVersion).toBe(made.metadata.resourceVersion);
    await server.admin.patch(`/api/v1/namespaces/${ns}/configmaps/a`, { data: { theirs: '3' } });
    expect(await apply(configMap('a', { x: '2' }))).toBe('configmap/a configured\n');
    expect((await read('a')).data).toEqual({ x: '2', theirs: '3' });
  });

  test('containers are merged by name, and what was applied before goes', async () => {
    const deployment = (containers: object[]) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers } } },
    });
    const images = async (): Promise<string[]> =>
      (await read('web', 'deployments', '/apis/apps/v1')).spec.template.spec.containers.map((c: Loose) => `${c.name}=${c.image}`);
    await apply(
      deployment([
        { name: 'a', image: '1', workingDir: '/x' },
        { name: 'b', image: '1' },
      ]),
    );
    const injected = { spec: { template: { spec: { containers: [{ name: 'injected', image: '9' }] } } } };
    await server.admin.patch(`/apis/apps/v1/namespaces/${ns}/deployments/web`, injected, 'strategic-merge-patch');
    expect(
      await apply(
        deployment([
          { name: 'c', image: '3' },
          { name: 'a', image: '2' },
        ]),
      ),
    ).toBe('deployment.apps/web configured\n');
    expect((await images()).sort()).toEqual(['a=2', 'c=3', 'injected=9']);
  });

  test('lists of a custom kind are replaced', async () => {
    const group = `${unique('g')}.example.com`;
    const schema = { type: 'object', [`${server.identity.schemaExtensionPrefix}preserve-unknown-fields`]: true };
    await define(server, definitionOf(server, group, 'Bed', [{ schema }]));
    const bed = (spec: object) => ({ apiVersion: `${group}/v1`, kind: 'Bed', metadata: { name: 'b' }, spec });
    await apply(bed({ rows: [{ name: 'a' }], gone: 1 }));
    expect(await apply(bed({ rows: [{ name: 'b' }] }))).toBe(`bed.${group}/b configured\n`);
    expect((await read('b', 'beds', `/apis/${group}/v1`)).spec).toEqual({ rows: [{ name: 'b' }] });
    expect(await apply(bed({ rows: [{ name: 'b' }] }))).toBe(`bed.${group}/b unchanged\n`);
  });

  test('an object that was not applied before gets the annotation, with a warning', async () => {
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, configMap('w', { x: '1', y: '2' }));
    const { code, stdout, stderr } = await kubectl.run(['apply', '-n', ns, '-f', '-'], configMap('w', { x: '1' }));
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'configmap/w configured\n' });
    expect(stderr).toContain(`Warning: resource configmaps/w is missing the ${ANNOTATION} annotation which is required by kubectl apply.`);
    expect((await read('w')).data).toEqual({ x: '1', y: '2' });
  });

  test('without overwrite, what others changed is refused', async () => {
    await apply(configMap('o', { x: '1' }));
    await server.admin.patch(`/api/v1/namespaces/${ns}/configmaps/o`, { data: { x: 'theirs' } });
    const { code, stderr } = await kubectl.run(['apply', '-n', ns, '-f', '-', '--overwrite=false'], configMap('o', { x: '2' }));
    expect(code).toBe(1);
    expect(stderr).toContain('data.x');
    expect(await apply(configMap('o', { x: '2' }))).toBe('configmap/o configured\n');
  });

  test('dry runs, and the output of objects', async () => {
    expect(await apply(configMap('d', { x: '1' }), '--dry-run=client')).toBe('configmap/d created (dry run)\n');
    expect(await apply(configMap('d', { x: '1' }), '--dry-run=server')).toBe('configmap/d created (server dry run)\n');
    expect((await server.admin.get(`/api/v1/namespaces/${ns}/configmaps/d`)).status).toBe(404);
    await apply(configMap('d', { x: '1' }));
    expect(await apply(configMap('d', { x: '2' }), '--dry-run=client')).toBe('configmap/d configured (dry run)\n');
    expect(await apply(configMap('d', { x: '2' }), '--dry-run=server')).toBe('configmap/d configured (server dry run)\n');
    expect(await apply(configMap('d', { x: '2' }), '-o', 'name')).toBe('configmap/d\n');
    expect((await read('d')).data).toEqual({ x: '2' });
  });

  test('an immutable field: refused, or by force created again', async () => {
    const secret = (type: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, type });
    await apply(secret('one'));
    const { uid } = (await read('s', 'secrets')).metadata;
    const refused = await kubectl.run(['apply', '-n', ns, '-f', '-'], secret('two'));
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^(Error from server \(Invalid\): error when applying patch|The Secret "s" is invalid)/),
    });
    expect(await apply(secret('two'), '--force')).toBe('secret/s configured\n');
    const now = await read('s', 'secrets');
    expect(now.type).toBe('two');
    expect(now.metadata.uid).not.toBe(uid);
  });

  test('prune deletes what was applied before and matches, and nothing else', async () => {
    const labelled = (name: string, app: string) => configMap(name, { x: '1' }, { labels: { app } });
    const list = (...items: object[]) => ({ apiVersion: 'v1', kind: 'List', items });
    await apply(list(labelled('one', 'x'), labelled('two', 'x'), labelled('other', 'y')));
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, labelled('created', 'x'));
    const flags = ['--prune', '-l', 'app=x', '--prune-whitelist=core/v1/ConfigMap'];
    expect(await apply(list(labelled('one', 'x')), ...flags, '--dry-run=server')).toBe(
      'configmap/one unchanged (server dry run)\nconfigmap/two pruned (server dry run)\n',
    );
    expect(await apply(list(labelled('one', 'x')), ...flags)).toBe('configmap/one unchanged\nconfigmap/two pruned\n');
    const names = (await server.admin.ok('GET', `/api/v1/namespaces/${ns}/configmaps`)).items.map((item: Loose) => item.metadata.name);
    expect(names.filter((name: string) => !name.endsWith('.crt'))).toEqual(['created', 'one', 'other']);
    // The usual kinds are found under either identity.
    expect(await apply(list(labelled('one', 'x')), '--prune', '-l', 'app=x')).toBe('configmap/one unchanged\n');
  });

  test('the annotation is shown and set', async () => {
    await apply(configMap('l', { x: '1' }));
    expect(await kubectl.ok(['apply', 'view-last-applied', 'cm/l', '-n', ns])).toBe(
      `apiVersion: v1\ndata:\n  x: "1"\nkind: ConfigMap\nmetadata:\n  annotations: {}\n  name: l\n  namespace: ${ns}\n`,
    );
    const set = (object: object, ...flags: string[]) => kubectl.run(['apply', 'set-last-applied', '-n', ns, '-f', '-', ...flags], object);
    expect(await set(configMap('l', { x: '9' }))).toMatchObject({ code: 0, stdout: 'configmap/l configured\n' });
    expect(await set(configMap('l', { x: '9' }))).toMatchObject({ code: 0, stdout: 'set-last-applied l: no changes required.\n' });
    expect(await read('l')).toMatchObject({
      data: { x: '1' },
      metadata: { annotations: { [ANNOTATION]: expect.stringContaining('"x":"9"') } },
    });
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, configMap('bare', {}));
    expect((await set(configMap('bare', {}))).stderr).toContain('run the command with --create-annotation');
    expect(await set(configMap('bare', {}), '--create-annotation')).toMatchObject({ code: 0, stdout: 'configmap/bare configured\n' });
    expect((await kubectl.run(['apply', 'view-last-applied', 'cm/none', '-n', ns])).code).toBe(1);
  });

  test('the command line is recorded', async () => {
    await apply(configMap('r', { x: '1' }), '--record');
    const { annotations } = (await read('r')).metadata;
    expect(annotations[`${server.identity.domain}/change-cause`]).toBe(`kubectl apply --namespace=${ns} --filename=- --record=true`);
    expect(await apply(configMap('r', { x: '1' }))).toBe('configmap/r configured\n');
  });

  test('from client-side to server-side apply and back', async () => {
    await apply(configMap('m', { x: '1', y: '1' }));
    expect(await apply(configMap('m', { x: '2', y: '1' }), '--server-side')).toBe('configmap/m serverside-applied\n');
    expect(await apply(configMap('m', { x: '3' }))).toBe('configmap/m configured\n');
    expect((await read('m')).data).toEqual({ x: '3' });
  });

  test('plat goes from its side to the server and back, too: what was applied in between and left the file goes', async () => {
    const plat = platFor(server);
    const applied = (data: Record<string, string>, mode: string) => plat.ok(['apply', '-n', ns, '-f', '-', mode], configMap('back', data));
    await applied({ x: '1' }, '--server-side=false');
    await applied({ x: '2', y: '1', z: '1' }, '--server-side');
    expect(JSON.parse((await read('back')).metadata.annotations[ANNOTATION]).data).toEqual({ x: '2', y: '1', z: '1' });
    await applied({ x: '2', z: '1' }, '--server-side');
    expect((await read('back')).data).toEqual({ x: '2', z: '1' });
    await applied({ x: '3' }, '--server-side=false');
    expect((await read('back')).data).toEqual({ x: '3' });
    // Under another name neither is kept current.
    await plat.ok(
      ['apply', '-n', ns, '-f', '-', '--server-side', '--field-manager=ci', '--force-conflicts'],
      configMap('back', { x: '4' }),
    );
    expect(JSON.parse((await read('back')).metadata.annotations[ANNOTATION]).data).toEqual({ x: '3' });
  });

  test('plat applies on its side if it is asked to', async () => {
    const plat = platFor(server);
    expect(await plat.ok(['apply', '-n', ns, '-f', '-', '--server-side=false'], configMap('p', { x: '1' }))).toBe('configmap/p created\n');
    expect((await read('p')).metadata.managedFields).toMatchObject([{ manager: 'plat', operation: 'Update' }]);
    expect((await read('p')).metadata.annotations[ANNOTATION]).toContain('"x":"1"');
  });
});
