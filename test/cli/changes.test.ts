/** Commands that change some fields of objects: patch, label, annotate, scale. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { define, definitionOf } from '../support/custom.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer, unique } from '../support/server.ts';

// These commands take the names of groups from the server, so that one identity shows what they do.
describe('changes', () => {
  let server: TestServer;
  let plat: Plat;
  let ns: string;
  const group = `${unique('g')}.example.com`;
  beforeAll(async () => {
    server = await startTestServer({ identity: 'kubernetes' });
    const number = { type: 'integer' };
    const schema = {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { rows: number } },
        status: { type: 'object', properties: { rows: number } },
      },
    };
    const subresources = { status: {}, scale: { specReplicasPath: '.spec.rows', statusReplicasPath: '.status.rows' } };
    await define(server, definitionOf(server, group, 'Bed', [{ schema, subresources }]));
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    plat = platFor(server);
    ns = await server.namespace();
  });
  const maps = (name = ''): string => `/api/v1/namespaces/${ns}/configmaps${name}`;
  const makeMap = (name: string, more: object = {}) =>
    server.admin.ok('POST', maps(), { metadata: { name }, data: { x: '1', y: '2' }, ...more });
  const makeDeployment = (name: string) =>
    server.admin.ok('POST', `/apis/apps/v1/namespaces/${ns}/deployments`, {
      metadata: { name },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels: { app: name } },
          spec: {
            containers: [
              { name: 'a', image: 'a' },
              { name: 'b', image: 'b' },
            ],
          },
        },
      },
    });
  const makeBed = (name: string) =>
    server.admin.ok('POST', `/apis/${group}/v1/namespaces/${ns}/beds`, {
      apiVersion: `${group}/v1`,
      kind: 'Bed',
      metadata: { name },
      spec: { rows: 1 },
    });

  describe('patch', () => {
    test('each kind of patch', async () => {
      await makeMap('c');
      expect(await plat.ok(['patch', 'cm/c', '-n', ns, '--type=merge', '-p', 'data: {x: null, z: "3"}'])).toBe('configmap/c patched\n');
      expect(await plat.ok(['patch', 'cm', 'c', '-n', ns, '--type=json', '-p', '[{"op":"remove","path":"/data/y"}]'])).toBe(
        'configmap/c patched\n',
      );
      expect((await server.admin.ok('GET', maps('/c'))).data).toEqual({ z: '3' });
      expect(await plat.ok(['patch', 'cm/c', '-n', ns, '--type=merge', '-p', '{"data":{"z":"3"}}'])).toBe(
        'configmap/c patched (no change)\n',
      );
      await makeDeployment('d');
      plat.file('p.yaml', 'spec:\n  template:\n    spec:\n      containers:\n      - {name: b, image: new}\n');
      const images = await plat.ok([
        'patch',
        'deploy/d',
        '-n',
        ns,
        '--patch-file=p.yaml',
        '-o',
        'jsonpath={.spec.template.spec.containers[*].image}',
      ]);
      expect(images.split(' ').sort()).toEqual(['a', 'new']);
    });

    test('files and dry runs of the client are patched here', async () => {
      const containers = [
        { name: 'a', image: 'x' },
        { name: 'b', image: 'y' },
      ];
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers } };
      const nowhere = platFor(server, {}, []);
      const local = ['patch', '--local', '-f', '-', '-p'];
      const patch = '{"spec":{"containers":[{"name":"b","image":"z"}]}}';
      expect((await nowhere.json([...local, patch], pod)).spec.containers).toEqual([containers[0], { name: 'b', image: 'z' }]);
      expect((await nowhere.json([...local, patch, '--type=merge'], pod)).spec.containers).toEqual([{ name: 'b', image: 'z' }]);
      expect(await nowhere.ok([...local, '[]', '--type=json'], pod)).toBe('pod/p patched (no change)\n');
      const bed = { apiVersion: 'example.com/v1', kind: 'Bed', metadata: { name: 'b' } };
      expect((await nowhere.run([...local, patch], bed)).stderr).toContain('use --type merge');
      await makeMap('c');
      expect(await plat.ok(['patch', 'cm/c', '-n', ns, '-p', '{"data":{"x":"9"}}', '--dry-run=client', '-o', 'jsonpath={.data.x}'])).toBe(
        '9',
      );
      expect((await server.admin.ok('GET', maps('/c'))).data.x).toBe('1');
    });

    test('apply as a patch tells its conflicts', async () => {
      await makeMap('c');
      const patch = (value: string) => `{"apiVersion":"v1","kind":"ConfigMap","data":{"x":"${value}"}}`;
      const args = ['patch', 'cm/c', '-n', ns, '--type=apply', '--field-manager=me', '-p', patch('9')];
      const refused = await plat.run(args);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain('1 field is owned by other managers:\n  "test" using v1\n    .data.x\n');
      expect(await plat.ok([...args, '--force-conflicts'])).toBe('configmap/c patched\n');
    });

    test('subresources, dry runs, and kinds without strategic patches', async () => {
      await makeBed('b');
      const args = ['patch', 'bed/b', '-n', ns];
      expect(
        await plat.ok([...args, '--type=merge', '--subresource=status', '-p', '{"status":{"rows":7}}', '-o', 'jsonpath={.status.rows}']),
      ).toBe('7');
      expect(await plat.ok([...args, '--type=merge', '-p', '{"spec":{"rows":5}}', '--dry-run=server'])).toBe(
        `bed.${group}/b patched (server dry run)\n`,
      );
      expect((await server.admin.ok('GET', `/apis/${group}/v1/namespaces/${ns}/beds/b`)).spec.rows).toBe(1);
      expect(await plat.run([...args, '-p', '{"spec":{"rows":5}}'])).toMatchObject({
        code: 1,
        stderr: `plat: bed.${group}/b: this kind has no strategic patches: use --type merge, json or apply\n`,
      });
      expect((await plat.run([...args, '--type=merge', '--subresource=sun', '-p', '{}'])).stderr).toContain(
        'this kind has no subresource "sun"',
      );
    });
  });

  describe('label and annotate', () => {
    test('add, change, remove', async () => {
      await makeMap('a');
      const args = ['label', 'cm/a', '-n', ns];
      expect(await plat.ok([...args, 'x=1', 'y=2'])).toBe('configmap/a labeled\n');
      expect(await plat.ok([...args, 'x=1'])).toBe('configmap/a not labeled\n');
      expect(await plat.run([...args, 'x=2', 'z=3'])).toEqual({
        code: 1,
        stdout: '',
        stderr: "plat: configmap/a: 'x' already has a value (1), and --overwrite is false\n",
      });
      expect(await plat.ok([...args, 'x=2', '--overwrite'])).toBe('configmap/a labeled\n');
      expect(await plat.ok([...args, 'y-'])).toBe('configmap/a unlabeled\n');
      expect(await plat.ok([...args, 'none-'])).toBe('label "none" not found.\nconfigmap/a not labeled\n');
      expect(await plat.ok([...args, '--list'])).toBe('x=2\n');
      expect(await plat.ok(['annotate', 'cm/a', '-n', ns, 'note=a, b = c'])).toBe('configmap/a annotated\n');
      expect(await plat.ok(['annotate', 'cm/a', '-n', ns, '--list'])).toBe('note=a, b = c\n');
      expect(await plat.ok(['annotate', 'cm/a', '-n', ns, 'note-'])).toBe('configmap/a annotated\n');
    });

    test('as kubectl, a value that is there already needs --overwrite', async () => {
      await makeMap('a', { metadata: { name: 'a', labels: { x: '1' }, annotations: { x: '1', 'kubernetes.io/change-cause': 'y' } } });
      const kubectl = platFor(server, {}, undefined, 'kubectl');
      const refused = async (...args: string[]) => (await kubectl.run([...args, '-n', ns])).stderr;
      expect(await refused('label', 'cm', 'a', 'x=1')).toBe("error: 'x' already has a value (1), and --overwrite is false\n");
      expect(await refused('annotate', 'cm', 'a', 'x=1', 'kubernetes.io/change-cause=z')).toBe(
        "error: --overwrite is false but found the following declared annotation(s): 'x' already has a value (1)\n",
      );
      expect(await kubectl.ok(['annotate', 'cm', 'a', 'kubernetes.io/change-cause=z', '-n', ns])).toBe('configmap/a annotated\n');
    });

    test('several are listed under their names, as they would be', async () => {
      await makeMap('a', { metadata: { name: 'a', labels: { x: '1' } } });
      await makeMap('b');
      expect(await plat.ok(['label', 'cm', 'a', 'b', '-n', ns, '--list', 'y=2'])).toBe(
        'Listing labels for ConfigMap./a:\n x=1\n y=2\nListing labels for ConfigMap./b:\n y=2\n',
      );
      expect((await server.admin.ok('GET', maps('/b'))).metadata.labels).toBeUndefined();
    });

    test('the objects of files, without a server', async () => {
      const file = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'b', labels: { a: 'b' } } };
      const nowhere = platFor(server, {}, []);
      expect(await nowhere.ok(['label', '--local', '-f', '-', 'x=1'], file)).toBe('deployment.apps/b labeled\n');
      expect(await nowhere.ok(['label', '--local', '-f', '-', 'a-'], file)).toBe('deployment.apps/b unlabeled\n');
      expect(await nowhere.json(['annotate', '--local', '-f', '-', 'x=1'], file)).toEqual({
        ...file,
        metadata: { ...file.metadata, annotations: { x: '1' } },
      });
      expect(await nowhere.run(['label', '--local', '-f', '-', 'a=c'], file)).toMatchObject({ code: 1, stdout: '' });
      nowhere.file('k/kustomization.yaml', { namePrefix: 'my-', resources: ['b.json'] });
      nowhere.file('k/b.json', file);
      expect(await nowhere.ok(['label', '--local', '-k', 'k', 'x=1'])).toBe('deployment.apps/my-b labeled\n');
      nowhere.file('k/broken.yaml', 'a: [');
      const patch = ['patch', '-p', '{"metadata":{"labels":{"x":"1"}}}'];
      for (const [line, verb] of [
        [['label', 'x=1'], 'labeled'],
        [patch, 'patched'],
      ] as const) {
        const { code, stdout, stderr } = await nowhere.run([...line, '--local', '-f', 'k/broken.yaml', '-f', 'k/b.json']);
        expect([code, stdout, stderr]).toEqual([1, `deployment.apps/b ${verb}\n`, expect.stringContaining('k/broken.yaml')]);
      }
    });

    test('many at once, files, dry runs, versions', async () => {
      await makeMap('a', { metadata: { name: 'a', labels: { odd: 'yes' } } });
      await makeMap('b');
      expect(await plat.ok(['label', 'cm', '-l', 'odd=yes', '-n', ns, 'x=1'])).toBe('configmap/a labeled\n');
      const file = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b', namespace: ns } };
      expect(await plat.json(['label', '-f', '-', 'x=1', '--dry-run=client'], file)).toMatchObject({ metadata: { labels: { x: '1' } } });
      expect(await plat.ok(['label', '-f', '-', 'x=1', '--dry-run=server'], file)).toBe('configmap/b labeled (server dry run)\n');
      expect((await server.admin.ok('GET', maps('/b'))).metadata.labels).toBeUndefined();
      expect(await plat.run(['label', 'cm/b', '-n', ns, 'x=1', '--resource-version=1'])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('(Conflict)'),
      });
      expect(await plat.run(['label', 'cm/b', '-n', ns, 'x=not allowed'])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('(Invalid)'),
      });
      await makeBed('c');
      expect(await plat.ok(['label', 'beds', '--all', '-n', ns, 'x=1'])).toBe(`bed.${group}/c labeled\n`);
    });
  });

  describe('scale', () => {
    test('deployments and custom kinds', async () => {
      await makeDeployment('d');
      expect(await plat.ok(['scale', 'deploy/d', '-n', ns, '--replicas=3'])).toBe('deployment.apps/d scaled\n');
      expect((await server.admin.ok('GET', `/apis/apps/v1/namespaces/${ns}/deployments/d`)).spec.replicas).toBe(3);
      await makeBed('b');
      expect(await plat.ok(['scale', 'beds', '--all', '-n', ns, '--replicas=4'])).toBe(`bed.${group}/b scaled\n`);
      expect((await server.admin.ok('GET', `/apis/${group}/v1/namespaces/${ns}/beds/b`)).spec.rows).toBe(4);
    });

    test('only if so many are wanted now', async () => {
      await makeDeployment('d');
      expect(await plat.run(['scale', 'deploy/d', '-n', ns, '--replicas=3', '--current-replicas=2'])).toMatchObject({
        code: 1,
        stderr: 'plat: deployment.apps/d: expected 2 current replicas, but found 1: not scaled\n',
      });
      expect(await plat.ok(['scale', 'deploy/d', '-n', ns, '--replicas=9', '--dry-run=client'])).toBe(
        'deployment.apps/d scaled (dry run)\n',
      );
      expect(await plat.ok(['scale', 'deploy/d', '-n', ns, '--replicas=9', '--dry-run=server', '-o', 'jsonpath={.spec.replicas}'])).toBe(
        '9',
      );
      await plat.ok(['scale', 'deploy/d', '-n', ns, '--replicas=0', '--current-replicas=1']);
      expect((await plat.run(['scale', 'deploy/d', '-n', ns, '--replicas=3', '--resource-version=1'])).stderr).toContain('(Conflict)');
    });

    test('it waits until there are as many', async () => {
      await makeBed('b');
      const path = `/apis/${group}/v1/namespaces/${ns}/beds/b/status`;
      expect(await plat.run(['scale', 'bed/b', '-n', ns, '--replicas=2', '--timeout=100ms'])).toMatchObject({
        code: 1,
        stderr: `plat: bed.${group}/b: timed out waiting for replicas: 0 of 2\n`,
      });
      const { io, code } = plat.start(['scale', 'bed/b', '-n', ns, '--replicas=2', '--timeout=10m']);
      await io.said('scaled');
      await server.admin.patch(path, { status: { rows: 2 } });
      expect(await code).toBe(0);
    });

    test('what cannot be scaled differs from what does not exist', async () => {
      await makeMap('c');
      expect((await plat.run(['scale', 'cm/c', '-n', ns, '--replicas=1'])).stderr).toBe('plat: configmap/c: configmaps cannot be scaled\n');
      expect((await plat.run(['scale', 'deploy/none', '-n', ns, '--replicas=1'])).stderr).toContain('"none" not found (NotFound)');
    });
  });

  test.each([
    ['label', 'cm', 'setings', 'a=b'],
    ['patch', 'cm', 'setings', '-p', '{}'],
    ['edit', 'cm', 'setings'],
    ['delete', 'cm', 'setings'],
  ])('%s names the object that was probably meant', async (...args) => {
    await makeMap('settings');
    const { code, stderr } = await plat.run([...args, '-n', ns]);
    expect(code).toBe(1);
    expect(stderr).toContain('"setings" not found (did you mean settings?)');
  });

  test('scale names the object that was probably meant', async () => {
    await makeDeployment('website');
    const { code, stderr } = await plat.run(['scale', 'deployment', 'webste', '--replicas=2', '-n', ns]);
    expect(code).toBe(1);
    expect(stderr).toContain('"webste" not found (did you mean website?)');
  });
});

test.each([
  [['patch', 'pod/a'], 'patch missing'],
  [['patch', 'pod/a', '-p', '{}', '--patch-file', 'x'], 'patch missing'],
  [['patch', 'pod/a', '--patch-file', 'nowhere'], 'cannot be read'],
  [['patch', 'pod/a', '-p', '[]'], 'a list of operations is --type json'],
  [['patch', 'pod/a', '-p', '{}', '--type', 'json'], 'is a list of operations'],
  [['patch', 'pod/a', '-p', '{'], 'the patch cannot be read'],
  [['patch', 'pod/a', '-p', '{}', '--type', 'apply', '--dry-run=client'], 'use --dry-run=server'],
  [['patch', 'pod/a', '-p', '{}', '--local'], '--local takes objects from files alone'],
  [['label', '-f', '-', '--local', 'x=1', '--dry-run=server'], '--local and --dry-run=server exclude each other'],
  [['label', '--local', 'x=1'], '--local needs files'],
  [['label', 'pod/a', '--list', '-o', 'yaml'], '--list and --output exclude each other'],
  [['patch', 'pod/a', '-p', '{}', '--type', 'strategy'], '(did you mean strategic?)'],
  [['patch', 'pod/a', '-p', '{}', '--force-conflicts'], 'needs --type apply'],
  [['label', 'pod/a'], 'which labels?'],
  [['label', 'pods', 'x=1'], 'which pods?'],
  [['annotate', 'pod/a'], 'which annotations?'],
  [['scale', 'deploy/a'], 'number of replicas missing'],
  [['scale', 'deploy/a', '--replicas=-1'], 'not between 0'],
])('%j is refused', async (args, message) => {
  const io = testIO();
  expect(await run(args, io)).toBe(2);
  expect(io.stderr).toContain(message);
});
