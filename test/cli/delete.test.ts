import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { definitionOf } from '../support/custom.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer, unique } from '../support/server.ts';

// These commands take the names of groups from the server, so that one identity shows what they do.
describe('delete', () => {
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
  const path = (name: string): string => `/api/v1/namespaces/${ns}/configmaps${name === '' ? '' : `/${name}`}`;
  const make = (name: string, metadata: object = {}) => server.admin.ok('POST', path(''), { metadata: { name, ...metadata } });
  const names = async (): Promise<string[]> =>
    (await server.admin.ok('GET', path(''))).items
      .map((item: { metadata: { name: string } }) => item.metadata.name)
      .filter((n: string) => !n.endsWith('.crt'));

  test('by name, by label, all of them, by file', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await make(name, { labels: { odd: String(['a', 'c', 'e'].includes(name)) } });
    expect(await plat.ok(['delete', 'cm', 'a', '-n', ns])).toBe('configmap "a" deleted\n');
    expect(await plat.ok(['delete', 'configmaps', '-l', 'odd=true', '-n', ns])).toBe('configmap "c" deleted\nconfigmap "e" deleted\n');
    const file = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b', namespace: ns } };
    expect(await plat.ok(['delete', '-f', '-', '-o', 'name'], file)).toBe('configmap/b\n');
    expect(await names()).toEqual(['d']);
    expect(await plat.ok(['delete', 'cm', '--field-selector', 'metadata.name=d', '-n', ns])).toBe('configmap "d" deleted\n');
    await make('f');
    expect(await plat.ok(['delete', 'cm', '--all', '-n', ns])).toContain('configmap "f" deleted\n');
    expect(await names()).toEqual([]);
  });

  test('what is not there is a failure, unless it may be', async () => {
    await make('x');
    expect(await plat.run(['delete', 'cm/none', 'cm/x', '-n', ns])).toEqual({
      code: 1,
      stdout: 'configmap "x" deleted\n',
      stderr: 'plat: configmap/none: configmaps "none" not found (NotFound)\n',
    });
    expect(await plat.run(['delete', 'cm/none', '-n', ns, '--ignore-not-found'])).toEqual({ code: 0, stdout: '', stderr: '' });
    const unknown = { apiVersion: 'nowhere.example.com/v1', kind: 'Thing', metadata: { name: 't' } };
    expect(await plat.run(['delete', '-f', '-', '--ignore-not-found'], unknown)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect((await plat.run(['delete', '-f', '-'], unknown)).code).toBe(1);
  });

  test('it waits until objects are gone, and says what holds them', async () => {
    await make('held', { finalizers: ['example.com/hold'] });
    expect(await plat.timedOut(['delete', 'cm/held', '-n', ns, '--timeout=1m'])).toEqual({
      code: 1,
      stdout: 'configmap "held" deleted\n',
      stderr: `plat: configmap/held: timed out waiting for the deletion: the object has finalizers example.com/hold; \`plat why not deleted configmaps/held -n ${ns} --kubeconfig ${server.running.adminConfigPath}\` explains it\n`,
    });
    expect(await plat.ok(['delete', 'cm/held', '-n', ns, '--wait=false'])).toBe('configmap "held" deleted\n');
    const { io, code } = plat.start(['delete', 'cm/held', '-n', ns]);
    await io.said('deleted');
    await server.admin.patch(path('held'), { metadata: { finalizers: null } });
    expect(await code).toBe(0);
    expect(await names()).toEqual([]);
  });

  test('on a terminal it says what it waits for', async () => {
    await make('first');
    await make('slow', { finalizers: ['example.com/hold'] });
    const { terminal } = testIO();
    const io = testIO({ cwd: plat.cwd, terminal: { ...terminal, size: () => ({ width: 200, height: 9 }) } });
    const code = run(['delete', 'cm', 'first', 'slow', '-n', ns, '--kubeconfig', server.running.adminConfigPath], io);
    await io.said('waiting for the deletion of 2 of 2: configmap/slow: the object has finalizers example.com/hold');
    await server.admin.patch(path('slow'), { metadata: { finalizers: null } });
    expect(await code).toBe(0);
    expect(io.stdout).toBe('configmap "first" deleted\nconfigmap "slow" deleted\n');
  });

  test('an interrupt ends the wait', async () => {
    await make('stuck', { finalizers: ['example.com/hold'] });
    const { io, code } = plat.start(['delete', 'cm/stuck', '-n', ns]);
    await io.said('deleted');
    io.send('SIGINT');
    expect(await code).toBe(130);
  });

  test('dry runs delete nothing', async () => {
    await make('kept');
    expect(await plat.ok(['delete', 'cm/kept', '-n', ns, '--dry-run=server'])).toBe('configmap "kept" deleted (server dry run)\n');
    expect(await plat.ok(['delete', 'cm/kept', '-n', ns, '--dry-run=client'])).toBe('configmap "kept" deleted (dry run)\n');
    expect(await names()).toEqual(['kept']);
  });

  test('owned objects go with their owner, or are kept', async () => {
    const own = async (name: string, owner: { metadata: { name: string; uid: string } }) =>
      make(name, { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: owner.metadata.name, uid: owner.metadata.uid }] });
    await own('child', await make('parent'));
    await plat.ok(['delete', 'cm/parent', '-n', ns, '--cascade=orphan']);
    expect((await server.admin.ok('GET', path('child'))).metadata.ownerReferences).toBeUndefined();
    await own('second', await make('other'));
    await plat.ok(['delete', 'cm/other', '-n', ns, '--cascade=foreground']);
    await plat.ok(['wait', 'cm/second', '-n', ns, '--for=delete']);
  });

  test('a category of types, in all namespaces, by label', async () => {
    const other = await server.namespace();
    for (const namespace of [ns, other]) {
      const service = { metadata: { name: 's', labels: { in: ns } }, spec: { ports: [{ port: 80 }] } };
      await server.admin.ok('POST', `/api/v1/namespaces/${namespace}/services`, service);
    }
    expect(await plat.ok(['delete', 'all', '-l', `in=${ns}`, '-A', '--cascade'])).toBe('service "s" deleted\nservice "s" deleted\n');
  });

  test('a definition and its objects, a namespace and its content: in the reverse order of the file, each once', async () => {
    const group = `${unique('g')}.example.com`;
    const definition = definitionOf(server, group, 'Bed', [{ schema: { type: 'object' } }]);
    const inner = unique('inner');
    const items = [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: inner } },
      definition,
      { apiVersion: `${group}/v1`, kind: 'Bed', metadata: { name: 'b', namespace: inner } },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: inner } },
    ];
    plat.file('all.json', { apiVersion: 'v1', kind: 'List', items });
    await plat.ok(['apply', '-f', 'all.json']);
    const crd = `customresourcedefinition.apiextensions.${server.identity.groupSuffix}`;
    expect(await plat.run(['delete', '-f', 'all.json'])).toEqual({
      code: 0,
      stdout: `configmap "c" deleted\nbed.${group} "b" deleted\n${crd} "beds.${group}" deleted\nnamespace "${inner}" deleted\n`,
      stderr: '',
    });
  });

  test('what goes with another object of the files is deleted, too; what never existed is an error', async () => {
    await make('once');
    const file = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: ns } });
    // The second request finds nothing: the first one, as any owner could, took the object with it.
    const list = { apiVersion: 'v1', kind: 'List', items: [file('never'), file('once'), file('once')] };
    expect(await plat.run(['delete', '-f', '-'], list)).toEqual({
      code: 1,
      stdout: 'configmap "once" deleted\nconfigmap "once" deleted\n',
      stderr: 'plat: configmap/never: configmaps "never" not found (NotFound)\n',
    });
  });

  test('a raw path, with a body', async () => {
    await make('raw');
    const answer = await plat.ok(['delete', '--raw', path('raw'), '-f', '-'], { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'] });
    expect(JSON.parse(answer)).toMatchObject({ kind: 'Status', status: 'Success' });
    expect(await names()).toEqual(['raw']);
    await plat.ok(['delete', '--raw', path('raw')]);
    expect(await names()).toEqual([]);
  });

  test('called as kubectl: the order of the file, its errors, and 1 second without force', async () => {
    const kubectl = platFor(server, {}, undefined, 'kubectl');
    for (const name of ['a', 'b']) await make(name);
    const file = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: ns } });
    const list = { apiVersion: 'v1', kind: 'List', items: [file('a'), file('none'), file('b')] };
    expect(await kubectl.run(['delete', '-f', '-'], list)).toMatchObject({
      code: 1,
      stdout: 'configmap "a" deleted\nconfigmap "b" deleted\n',
      stderr: 'Error from server (NotFound): configmaps "none" not found\n',
    });
    const pod = {
      metadata: { name: 'p' },
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }], automountServiceAccountToken: false },
    };
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/pods`, pod);
    expect(await kubectl.ok(['delete', 'pod', 'p', '-n', ns, '--grace-period=0', '--wait=false'])).toBe('pod "p" deleted\n');
    expect((await server.admin.ok('GET', `/api/v1/namespaces/${ns}/pods/p`)).metadata.deletionGracePeriodSeconds).toBe(1);
    expect(await kubectl.ok(['delete', 'cm', '-l', 'x=y', '-n', ns])).toBe('No resources found\n');
  });

  test('the grace period of pods', async () => {
    const pod = (name: string) => ({
      metadata: { name },
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }], automountServiceAccountToken: false },
    });
    for (const name of ['one', 'two']) await server.admin.ok('POST', `/api/v1/namespaces/${ns}/pods`, pod(name));
    await plat.ok(['delete', 'pod/one', '-n', ns, '--grace-period=7', '--wait=false']);
    expect((await server.admin.ok('GET', `/api/v1/namespaces/${ns}/pods/one`)).metadata.deletionGracePeriodSeconds).toBe(7);
    expect(await plat.ok(['delete', 'pod/one', 'pod/two', '-n', ns, '--force'])).toBe('pod "one" force deleted\npod "two" force deleted\n');
  });
});

test.each([
  [[], 'which objects?'],
  [['pods'], 'which pods? Name them, select by label with -l, or use --all'],
  [['pods', 'a', '--all'], 'exclude each other'],
  [['pods', 'a', '-A'], 'cannot be named in all namespaces'],
  [['pods', 'a', '-f', 'x'], 'exclude each other'],
  [['-f', 'x', '--all'], 'exclude each other'],
  [['pods', 'a', '--cascade=foregruond'], '(did you mean foreground?)'],
  [['pods', 'a', '--now', '--grace-period=3'], 'cannot be specified together'],
  [['pods', 'a', '--force', '--grace-period=3'], 'cannot be specified together'],
  [['pods', '--all', '-l', 'a=b'], 'cannot set --all and --selector at the same time'],
  [['--raw', 'api/v1', '-o', 'name'], '--raw and --output are mutually exclusive'],
  [['--raw', 'api/v1'], '--raw must be a valid URL path'],
  [['-k', 'x', '-f', 'y'], 'only one of -f or -k'],
  [['pods', 'a', '-o', 'yaml'], 'is not one of name'],
])('%j is refused', async (args, message) => {
  const io = testIO();
  expect(await run(['delete', ...args], io)).toBe(2);
  expect(io.stderr).toContain(message);
});
