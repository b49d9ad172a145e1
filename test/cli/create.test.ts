import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { define, definitionOf } from '../support/custom.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer, unique } from '../support/server.ts';

describe.each(['plat', 'kubernetes'])('create with identity %s', (identity) => {
  let server: TestServer;
  let plat: Plat;
  let ns: string;
  let rbac: string;
  beforeAll(async () => {
    server = await startTestServer({ identity });
    rbac = `rbac.authorization.${server.identity.groupSuffix}`;
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    plat = platFor(server, { FROM_HERE: 'there' });
    ns = await server.namespace();
  });
  const read = (path: string) => server.admin.ok('GET', path.replace('NS', `namespaces/${ns}`));

  test('from files; what exists is reported, the others are created', async () => {
    const configMap = (metadata: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { x: '1' } });
    expect(await plat.ok(['create', '-n', ns, '-f', '-'], configMap({ name: 'a' }))).toBe('configmap/a created\n');
    const items = [configMap({ name: 'a' }), configMap({ generateName: 'g-' })];
    const { code, stdout, stderr } = await plat.run(['create', '-n', ns, '-f', '-'], { apiVersion: 'v1', kind: 'List', items });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^configmap\/g-\w+ created\n$/);
    expect(stderr).toBe('plat: configmap/a: configmaps "a" already exists; `plat apply` changes objects that exist (AlreadyExists)\n');
    expect((await read('/api/v1/NS/configmaps/a')).metadata.managedFields[0].manager).toBe('plat');
  });

  test('what was dumped from a server is created again, without its version', async () => {
    await plat.ok(['create', '-n', ns, 'configmap', 'a', '--from-literal=x=1']);
    const dumped = await plat.ok(['get', '-n', ns, 'configmap', 'a', '-o', 'yaml']);
    await plat.ok(['delete', '-n', ns, 'configmap', 'a']);
    expect(await plat.ok(['create', '-n', ns, '-f', '-'], dumped)).toBe('configmap/a created\n');
    await plat.ok(['delete', '-n', ns, 'configmap', 'a']);
    expect(await plat.ok(['apply', '-n', ns, '--server-side=false', '-f', '-'], dumped)).toBe('configmap/a created\n');
  });

  test('an object of another namespace than that of the command line is refused', async () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } };
    expect(await plat.run(['create', '-n', ns, '-f', '-'], object)).toMatchObject({
      code: 1,
      stderr: `plat: the standard input: the object is of namespace "default", but the command line has -n ${ns}\n`,
    });
  });

  test('fields that the kind does not have are refused, warned of or ignored', async () => {
    const typo = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'typo', lables: {} }, data: { x: '1' } };
    expect(await plat.run(['create', '-n', ns, '-f', '-'], typo)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'plat: configmap/typo: unknown field "metadata.lables" (did you mean labels?); --validate=ignore sends it anyway\n',
    });
    expect(await plat.run(['create', '-n', ns, '-f', '-', '--validate=warn', '--dry-run=server'], typo)).toEqual({
      code: 0,
      stdout: 'configmap/typo created (server dry run)\n',
      stderr: 'Warning: unknown field "metadata.lables" (did you mean labels?)\n',
    });
    expect(await plat.run(['create', '-n', ns, '-f', '-', '--validate=false'], typo)).toMatchObject({ code: 0, stderr: '' });
  });

  test('custom kinds may hold what they keep, and nothing else', async () => {
    const group = `${unique('g')}.example.com`;
    const keep = { [`${server.identity.schemaExtensionPrefix}preserve-unknown-fields`]: true };
    const inner = { type: 'object', properties: { rows: { type: 'integer' } } };
    await define(
      server,
      definitionOf(server, group, 'Bed', [{ schema: { type: 'object', properties: { spec: inner, free: { ...inner, ...keep } } } }]),
    );
    await define(server, definitionOf(server, group, 'Heap', [{ schema: { type: 'object', ...keep } }]));
    const object = (kind: string, more: object) => ({ apiVersion: `${group}/v1`, kind, metadata: { name: 'x' }, ...more });
    const args = ['create', '-n', ns, '-f', '-'];
    expect(await plat.ok(args, object('Heap', { anything: { at: 'all' } }))).toBe(`heap.${group}/x created\n`);
    expect((await plat.run(args, object('Bed', { spec: { rws: 1 } }))).stderr).toContain('unknown field "spec.rws" (did you mean rows?)');
    expect(await plat.ok(args, object('Bed', { spec: { rows: 1 }, free: { rws: 1 } }))).toBe(`bed.${group}/x created\n`);
  });

  test('namespaces, service accounts', async () => {
    const name = unique('made');
    expect(await plat.ok(['create', 'ns', name])).toBe(`namespace/${name} created\n`);
    expect(await plat.ok(['create', 'namespace', unique('dry'), '--dry-run=server', '-o', 'name'])).toMatch(/^namespace\/dry/);
    expect(await plat.ok(['create', 'serviceaccount', 'robot', '-n', ns])).toBe('serviceaccount/robot created\n');
    expect((await read('/api/v1/NS/serviceaccounts/robot')).metadata.name).toBe('robot');
  });

  test('config maps and secrets from literals, files, directories and variables', async () => {
    plat.file('conf/a.txt', 'A');
    plat.file('conf/b.txt', 'B,b=1');
    plat.file('.env', '# some\nX=1 = 2\n\nFROM_HERE\nNOT_HERE\n');
    const sources = ['--from-literal=l=1,2=3', '--from-file=conf', '--from-file=other=conf/a.txt', '--from-env-file=.env'];
    await plat.ok(['create', 'configmap', 'c', '-n', ns, ...sources]);
    const data = { l: '1,2=3', 'a.txt': 'A', 'b.txt': 'B,b=1', other: 'A', X: '1 = 2', FROM_HERE: 'there', NOT_HERE: '' };
    expect((await read('/api/v1/NS/configmaps/c')).data).toEqual(data);
    await plat.ok(['create', 'secret', 'generic', 's', '-n', ns, '--type=example.com/x', ...sources]);
    const secret = await read('/api/v1/NS/secrets/s');
    expect(secret.type).toBe('example.com/x');
    expect(secret.data).toEqual(Object.fromEntries(Object.entries(data).map(([k, v]) => [k, Buffer.from(v).toString('base64')])));
  });

  test('only objects with some labels, the object in its annotation, raw requests', async () => {
    const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { name } } });
    const items = [configMap('a'), configMap('b')];
    expect(await plat.ok(['create', '-n', ns, '-f', '-', '-l', 'name=b', '--save-config'], { apiVersion: 'v1', kind: 'List', items })).toBe(
      'configmap/b created\n',
    );
    const [text] = Object.values((await read('/api/v1/NS/configmaps/b')).metadata.annotations) as string[];
    expect(JSON.parse(text as string)).toEqual({
      ...configMap('b'),
      metadata: { annotations: {}, name: 'b', namespace: ns, labels: { name: 'b' } },
    });
    expect(await plat.run(['create', '-n', ns, '-f', '-', '-l', 'name=c'], configMap('a'))).toMatchObject({
      code: 1,
      stderr: 'plat: no objects passed to create\n',
    });
    const answer = await plat.ok(['create', '--raw', `/api/v1/namespaces/${ns}/configmaps`, '-f', '-'], configMap('raw'));
    expect(JSON.parse(answer).metadata).toMatchObject({ name: 'raw', namespace: ns });
  });

  test('flags before the kind; workloads, services and policies', async () => {
    expect(await plat.ok(['create', '-n', ns, 'deploy', 'web', '--image=nginx', '--', 'date'])).toBe('deployment.apps/web created\n');
    expect((await read('/apis/apps/v1/NS/deployments/web')).spec.template.spec.containers[0]).toMatchObject({
      name: 'nginx',
      command: ['date'],
    });
    expect(await plat.ok(['create', 'cronjob', 'tidy', '--image=busybox', '--schedule=@daily', '-n', ns])).toBe(
      'cronjob.batch/tidy created\n',
    );
    expect(await plat.ok(['create', 'job', 'now', '--from=cronjob/tidy', '-n', ns])).toBe('job.batch/now created\n');
    const job = await read('/apis/batch/v1/NS/jobs/now');
    expect(job.metadata.annotations[`cronjob.${server.identity.domain}/instantiate`]).toBe('manual');
    expect(job.metadata.ownerReferences).toMatchObject([{ kind: 'CronJob', name: 'tidy' }]);
    expect(job.spec.template.spec.containers[0].image).toBe('busybox');
    const networking = `networking.${server.identity.groupSuffix}`;
    expect(await plat.ok(['create', 'ingress', 'i', '--rule=a.example.com/*=web:80', '-n', ns])).toBe(`ingress.${networking}/i created\n`);
    expect(await plat.ok(['create', 'svc', 'loadbalancer', 's', '--tcp=80', '-n', ns])).toBe('service/s created\n');
    expect(await plat.ok(['create', 'quota', 'q', '--hard=pods=9', '-n', ns])).toBe('resourcequota/q created\n');
    expect(await plat.ok(['create', 'pdb', 'p', '--selector=app=web', '--max-unavailable=1', '-n', ns])).toBe(
      'poddisruptionbudget.policy/p created\n',
    );
    const scheduling = `scheduling.${server.identity.groupSuffix}`;
    const name = unique('pc');
    expect(await plat.ok(['create', 'priorityclass', name, '--value=9'])).toBe(`priorityclass.${scheduling}/${name} created\n`);
    await plat.ok(['create', 'secret', 'docker-registry', 'd', '--docker-username=a', '--docker-password=b', '-n', ns]);
    expect((await read('/api/v1/NS/secrets/d')).type).toBe(`${server.identity.domain}/dockerconfigjson`);
  });

  test('roles and bindings', async () => {
    await plat.ok([
      'create',
      'role',
      'r',
      '-n',
      ns,
      '--verb=get,list',
      '--verb=get',
      '--resource=po,deploy,pods/log',
      '--resource-name=web',
    ]);
    expect((await read(`/apis/${rbac}/v1/NS/roles/r`)).rules).toEqual([
      { apiGroups: [''], resources: ['pods', 'pods/log'], resourceNames: ['web'], verbs: ['get', 'list'] },
      { apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['web'], verbs: ['get', 'list'] },
    ]);
    const name = unique('cr');
    await plat.ok(['create', 'clusterrole', name, '--verb=get', '--non-resource-url=/metrics', '--resource=nodes']);
    expect((await read(`/apis/${rbac}/v1/clusterroles/${name}`)).rules).toEqual([
      { apiGroups: [''], resources: ['nodes'], verbs: ['get'] },
      { nonResourceURLs: ['/metrics'], verbs: ['get'] },
    ]);
    expect((await plat.json(['create', 'clusterrole', 'x', '--aggregation-rule=a=b', '--dry-run=server'])).aggregationRule).toEqual({
      clusterRoleSelectors: [{ matchLabels: { a: 'b' } }],
    });
    await plat.ok(['create', 'rolebinding', 'b', '-n', ns, '--role=r', '--user=alice', '--group=dev', `--serviceaccount=${ns}:robot`]);
    expect(await read(`/apis/${rbac}/v1/NS/rolebindings/b`)).toMatchObject({
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'r' },
      subjects: [
        { apiGroup: rbac, kind: 'User', name: 'alice' },
        { apiGroup: rbac, kind: 'Group', name: 'dev' },
        { kind: 'ServiceAccount', name: 'robot', namespace: ns },
      ],
    });
    expect(await plat.ok(['create', 'clusterrolebinding', name, `--clusterrole=${name}`, '--group=dev'])).toBe(
      `clusterrolebinding.${rbac}/${name} created\n`,
    );
    expect(await plat.run(['create', 'role', 'x', '-n', ns, '--verb=get', '--resource=podz'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('(did you mean pods?)'),
    });
  });
});

test('an editor changes objects before they are created', async () => {
  const server = await startTestServer({ identity: 'kubernetes' });
  try {
    const ns = await server.namespace();
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: '1' } };
    const edited = platFor(server, { EDITOR: "sed -i 's/name: a/name: b/'", PATH: process.env.PATH ?? '' });
    expect(await edited.ok(['create', '-f', '-', '--edit', '-n', ns], object)).toBe('configmap/b created\n');
    const untouched = platFor(server, { EDITOR: 'true', PATH: process.env.PATH ?? '' });
    expect(await untouched.run(['create', '-f', '-', '--edit', '-n', ns], object)).toEqual({
      code: 0,
      stdout: '',
      stderr: 'Edit cancelled, no changes made.\n',
    });
    const broken = platFor(server, { EDITOR: 'cp /dev/null', PATH: process.env.PATH ?? '' });
    expect((await broken.run(['create', '-f', '-', '--edit', '-n', ns], object)).stderr).toBe('Edit cancelled, saved file was empty.\n');
  } finally {
    await server.close();
  }
});

test('objects of the core group are shown without a server', async () => {
  const io = testIO();
  expect(await run(['create', 'configmap', 'c', '--from-literal=a=1', '--dry-run=client', '-o', 'yaml'], io)).toBe(0);
  expect(io.stdout).toBe('apiVersion: v1\ndata:\n  a: "1"\nkind: ConfigMap\nmetadata:\n  name: c\n');
});

test.each([
  [[], 'which objects?'],
  [['namespce', 'a'], '(did you mean namespace?)'],
  [['secret', 'login'], 'unknown command "create secret login"'],
  [['namespace'], 'needs a name'],
  [['namespace', 'a', 'b'], 'too many arguments: "b"'],
  [['configmap', 'c', '--dry-run', '--from-literal=x'], 'not of the form key=value'],
  [['configmap', 'c', '--dry-run', '--from-literal=a b=1'], 'cannot be a key'],
  [['configmap', 'c', '--dry-run', '--from-literal=a=1', '--from-literal=a=2'], 'is given twice'],
  [['configmap', 'c', '--dry-run', '--from-file=a=b=c'], 'is not of the form [key=]path'],
  [['configmap', 'c', '--dry-run', '--from-file=/nonexistent'], 'there is no file or directory /nonexistent'],
  [['namespace', 'a', '--form-literal=a'], 'unknown flag --form-literal'],
])('%j is refused', async (args, message) => {
  const io = testIO();
  expect(await run(['create', ...args], io)).toBe(2);
  expect(io.stderr).toContain(message);
});
