import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { define, definitionOf } from '../support/custom.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer, unique } from '../support/server.ts';

// These commands take the names of groups from the server, so that one identity shows what they do.
describe('replace', () => {
  let server: TestServer;
  let plat: Plat;
  let ns: string;
  beforeAll(async () => {
    server = await startTestServer({ identity: 'plat' });
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    plat = platFor(server);
    ns = await server.namespace();
  });
  const path = (name = ''): string => `/api/v1/namespaces/${ns}/configmaps${name}`;
  const configMap = (data: object, metadata: object = {}) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', ...metadata },
    data,
  });

  test('an object becomes exactly what the file says', async () => {
    await server.admin.ok('POST', path(), configMap({ x: '1' }, { labels: { l: '1' } }));
    expect(await plat.ok(['replace', '-n', ns, '-f', '-'], configMap({ y: '2' }))).toBe('configmap/a replaced\n');
    const now = await server.admin.ok('GET', path('/a'));
    expect(now.data).toEqual({ y: '2' });
    expect(now.metadata.labels).toBeUndefined();
    expect(await plat.ok(['replace', '-n', ns, '-f', '-', '--dry-run=server'], configMap({ z: '3' }))).toBe(
      'configmap/a replaced (server dry run)\n',
    );
    expect((await plat.json(['replace', '-n', ns, '-f', '-', '--dry-run=client'], configMap({ z: '3' }))).data).toEqual({ z: '3' });
    expect((await server.admin.ok('GET', path('/a'))).data).toEqual({ y: '2' });
  });

  test('an older version is refused; what does not exist is reported', async () => {
    const { metadata } = await server.admin.ok('POST', path(), configMap({ x: '1' }));
    await server.admin.patch(path('/a'), { data: { x: '2' } });
    const old = configMap({ x: '3' }, { resourceVersion: metadata.resourceVersion });
    expect(await plat.run(['replace', '-n', ns, '-f', '-'], old)).toMatchObject({ code: 1, stderr: expect.stringContaining('(Conflict)') });
    const none = { ...configMap({}), metadata: { name: 'none' } };
    expect(await plat.run(['replace', '-n', ns, '-f', '-'], none)).toMatchObject({
      code: 1,
      stderr:
        'plat: configmap/none: configmaps "none" not found; use `plat create` or `plat apply` for objects that do not exist (NotFound)\n',
    });
  });

  test('by force it is made anew', async () => {
    const { metadata } = await server.admin.ok('POST', path(), configMap({ x: '1' }));
    await plat.ok(['replace', '-n', ns, '-f', '-', '--force'], configMap({ x: '2' }, { resourceVersion: '1' }));
    const now = await server.admin.ok('GET', path('/a'));
    expect(now.data).toEqual({ x: '2' });
    expect(now.metadata.uid).not.toBe(metadata.uid);
    const fresh = { ...configMap({}), metadata: { name: 'fresh' } };
    expect(await plat.ok(['replace', '-n', ns, '-f', '-', '--force'], fresh)).toBe('configmap/fresh replaced\n');
    await server.admin.ok('POST', path(), configMap({}, { name: 'held', finalizers: ['example.com/hold'] }));
    const held = { ...configMap({}), metadata: { name: 'held' } };
    expect(await plat.timedOut(['replace', '-n', ns, '-f', '-', '--force', '--timeout=1m'], held)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('finalizers example.com/hold'),
    });
  });

  test('the annotation of a client-side apply, a raw path, and the lines of a forced one', async () => {
    const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
    await server.admin.ok('POST', path(), configMap({ x: '1' }));
    await plat.ok(['replace', '-n', ns, '-f', '-', '--save-config'], configMap({ x: '2' }));
    expect((await server.admin.ok('GET', path('/a'))).metadata.annotations[annotation]).toContain('"x":"2"');
    const raw = { ...configMap({ x: '3' }), metadata: { name: 'a', namespace: ns } };
    expect(JSON.parse(await plat.ok(['replace', '--raw', path('/a'), '-f', '-'], raw)).data).toEqual({ x: '3' });
    const kubectl = platFor(server, {}, undefined, 'kubectl');
    expect(await kubectl.ok(['replace', '-n', ns, '-f', '-', '--force'], configMap({ x: '4' }))).toBe(
      'configmap "a" deleted\nconfigmap/a replaced\n',
    );
    expect((await server.admin.ok('GET', path('/a'))).metadata.managedFields).toMatchObject([{ manager: 'kubectl-replace' }]);
    expect(await kubectl.run(['replace', '-n', ns, '-f', '-'], { ...configMap({}), metadata: { name: 'none' } })).toMatchObject({
      code: 1,
      stderr: 'Error from server (NotFound): error when replacing "STDIN": configmaps "none" not found\n',
    });
  });

  test('the status of a custom object', async () => {
    const group = `${unique('g')}.example.com`;
    const part = { type: 'object', properties: { n: { type: 'integer' } } };
    const schema = { type: 'object', properties: { spec: part, status: part } };
    await define(server, definitionOf(server, group, 'Bed', [{ schema, subresources: { status: {} } }]));
    const bed = (n: number) => ({
      apiVersion: `${group}/v1`,
      kind: 'Bed',
      metadata: { name: 'b', namespace: ns },
      spec: { n },
      status: { n },
    });
    await plat.ok(['create', '-f', '-'], bed(1));
    await plat.ok(['replace', '-f', '-', '--subresource=status'], bed(2));
    expect(await server.admin.ok('GET', `/apis/${group}/v1/namespaces/${ns}/beds/b`)).toMatchObject({ spec: { n: 1 }, status: { n: 2 } });
  });
});

test.each([
  [['-f', 'x', '--timeout=1s'], '--timeout must have --force specified'],
  [['-f', 'x', '--force', '--dry-run'], 'cannot be undone'],
  [[], 'which objects?'],
  [['cm/a'], 'name files with -f'],
])('%j is refused', async (args, message) => {
  const io = testIO();
  expect(await run(['replace', ...args], io)).toBe(2);
  expect(io.stderr).toContain(message);
});
