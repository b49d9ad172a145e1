/** What scripts that were written for kubectl read from it, or do with it, when plat is called as kubectl. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { FakeClock } from '../../packages/lib/src/clock.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let kubectl: Plat;
let ns: string;
let flags: string[];
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes' });
  flags = ['--kubeconfig', server.running.adminConfigPath];
  kubectl = platFor(server, {}, flags, 'kubectl');
  ns = await server.namespace();
});
afterAll(() => server.close());

const configMap = (name: string, namespace?: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } });

test.each<[line: string, input: unknown, stderr: string]>([
  ['run p --image=InvalidImageName', '', 'error: Invalid image name "InvalidImageName": invalid reference format\n'],
  [
    'apply -f -',
    { ...configMap('c'), kind: 'Bogus', apiVersion: 'example.com/v1' },
    'error: resource mapping not found for name: "c" namespace: "" from "STDIN": no matches for kind "Bogus" in version "example.com/v1"\nensure CRDs are installed first\n',
  ],
  ['create -f -', configMap('POD-B'), 'The ConfigMap "POD-B" is invalid: metadata.name: Invalid value'],
  [
    'apply -f -',
    configMap('c', 'other'),
    `error: the namespace from the provided object "other" does not match the namespace "NS". You must pass '--namespace=other' to perform this operation.\n`,
  ],
  ['cordon', '', 'error: USAGE: cordon NODE [flags]\n'],
  ['drain', '', 'error: USAGE: drain NODE [flags]\n'],
  ['cordon --selector=', '', 'error: must provide one or more resources by argument or filename\n'],
  [
    'create role r --verb=get --resource=deployments.invalid-group',
    '',
    `error: the server doesn't have a resource type "deployments" in group "invalid-group"\n`,
  ],
  ['set env -f - -', 'A=1', 'error: standard input cannot be used for multiple arguments\n'],
  ['get pods,configmaps --watch', '', 'error: watch is only supported on individual resources and resource collections'],
  ['get pods --request-timeout=1p', '', 'error: Invalid timeout value. Timeout must be a single integer in seconds'],
  ['create -f - --validate=foo', configMap('c'), 'error: invalid - validate option "foo"\n'],
  ['create -f -', { ...configMap('c'), dat: {} }, 'error: error validating "STDIN": error validating data: unknown field "dat"'],
  ['create -f -', { apiVersion: 'v1' }, 'error: error validating "STDIN": error validating data: kind not set; if you choose'],
  [
    'create -f - --validate=false',
    { apiVersion: 'v1' },
    `error: unable to decode "STDIN": Object 'Kind' is missing in '{"apiVersion":"v1"}'`,
  ],
  ['get pods --as-group=a', '', 'without impersonating a user\n'],
  ['get pods --as-uid=a', '', 'without impersonating a user\n'],
  ['get pods --context=missing', '', 'Error in configuration: context was not found for specified context: missing\n'],
  ['get pods --cluster=missing', '', 'Error in configuration: no server found for cluster "missing"\n'],
  ['get pods --user=missing', '', 'error: auth info "missing" does not exist\n'],
  ['delete -f missing.yaml', '', 'error: the path "missing.yaml" does not exist\n'],
  ['auth can-i get /logs --subresource=log', '', 'error: --subresource can not be used with NonResourceURL'],
  ['rollout history namespace/default', '', 'error: no history viewer has been implemented for "Namespace"\n'],
  ['rollout undo namespace/default', '', 'error: no rollbacker has been implemented for "Namespace"\n'],
  ['rollout pause namespace/default', '', 'error: namespaces "default" pausing is not supported\n'],
  ['label pod absent a=b', '', 'Error from server (NotFound): pods "absent" not found\n'],
])('%s is refused in the words of kubectl', async (line, input, stderr) => {
  const found = await kubectl.run([...line.split(' '), ...(/cordon|drain/.test(line) ? [] : ['-n', ns])], input);
  expect(found).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(stderr.replace('NS', ns)) });
});

test('exec into what has no pods', async () => {
  await kubectl.ok(['create', 'configmap', 'no-pods', '-n', ns]);
  expect(await kubectl.run(['exec', 'configmap/no-pods', '-n', ns, '--', 'date'])).toMatchObject({
    code: 1,
    stderr: 'error: cannot attach to *v1.ConfigMap: selector for *v1.ConfigMap not implemented\n',
  });
});

test('a recreation by force that the server refuses leaves the object as it was', async () => {
  const deployment = (selector: string, label: string) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'forced' },
    spec: {
      selector: { matchLabels: { name: selector } },
      template: { metadata: { labels: { name: label } }, spec: { containers: [{ name: 'a', image: 'b' }] } },
    },
  });
  await kubectl.ok(['apply', '-n', ns, '-f', '-'], deployment('one', 'one'));
  const { code, stderr } = await kubectl.run(['apply', '-n', ns, '--force', '-f', '-'], deployment('two', 'three'));
  expect(code).toBe(1);
  expect(stderr).toContain('Invalid value');
  const { spec } = await kubectl.json(['get', '-n', ns, 'deployment', 'forced']);
  expect(spec.selector.matchLabels).toEqual({ name: 'one' });
});

test('a wait for a deletion has one line for each object that was there', async () => {
  const other = await server.namespace();
  for (const name of ['one', 'two']) await kubectl.ok(['create', 'secret', 'generic', name, '-n', other]);
  const { io, code } = kubectl.start(['wait', 'secret', '--for=delete', '--all', '-n', other]);
  await kubectl.ok(['delete', 'secret', 'one', 'two', '-n', other]);
  expect(await code, io.stderr).toBe(0);
  for (const line of io.stdout.trimEnd().split('\n').filter(Boolean)) expect(line).toMatch(/^secret\/(one|two) condition met$/);
  expect(await kubectl.run(['wait', 'secret/gone', '--for=delete', '-n', other])).toMatchObject({ code: 0, stdout: '' });
});

test('a watch ends when --request-timeout has passed', async () => {
  await kubectl.ok(['create', 'configmap', 'watched', '-n', ns]);
  const clock = new FakeClock();
  const io = testIO({ program: 'kubectl', cwd: kubectl.cwd, clock });
  let code: number | undefined;
  const ended = run(['get', 'configmap', 'watched', '-n', ns, '--watch', '--request-timeout=1h', '-v=5', ...flags], io).then((one) => {
    code = one;
  });
  await io.said('watched');
  while (code === undefined) {
    clock.advance(60_000);
    await setImmediate();
  }
  await ended;
  expect({ code, stderr: io.stderr }).toEqual({ code: 0, stderr: 'Timeout of --request-timeout: the watch ended\n' });
});

test('names of fields of a kustomization count in any case', async () => {
  kubectl.file('k/map.yaml', configMap('map'));
  kubectl.file('k/kustomization.yaml', 'nameprefix: test-\nresources: [map.yaml]\nIMAGES: [{name: a, newtag: b}]\n');
  expect(await kubectl.ok(['apply', '-k', 'k', '-n', ns])).toBe('configmap/test-map created\n');
});

test('a file of the configuration that is missing, or of another version, is called so', async () => {
  const io = testIO({ program: 'kubectl', cwd: kubectl.cwd });
  expect(await run(['get', 'pods', '--kubeconfig=missing'], io)).toBe(1);
  expect(io.stderr).toBe('error: stat missing: no such file or directory\n');
  const other = join(kubectl.cwd, kubectl.file('other.conf', { apiVersion: 'v-1', kind: 'Config' }));
  expect(await run(['get', 'pods', '--kubeconfig', other], io)).toBe(1);
  expect(io.stderr).toContain(`error: error loading config file "${other}": no kind "Config" is registered for version "v-1"\n`);
});

test('a credential plug-in that must ask is not run where the standard input is read', async () => {
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'false', interactiveMode: 'Always' };
  const file = kubectl.file('exec.conf', {
    clusters: [{ name: 'c' }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
    users: [{ name: 'u', user: { exec } }],
  });
  const client = platFor(server, {}, ['-s', server.address, '--kubeconfig', join(kubectl.cwd, file)], 'kubectl');
  for (const line of ['apply -f -', 'set env deployment/web -', 'replace -f - --force'])
    expect((await client.run(line.split(' '), line.startsWith('set') ? 'A=b' : configMap('a'))).stderr, line).toContain(
      'standard input is unavailable: used by stdin resource manifest reader\n',
    );
});

test('what can-i is not sure of is a warning', async () => {
  for (const [words, warning] of [
    ['get foo', "Warning: the server doesn't have a resource type 'foo'\n"],
    ['get foo.bar', "Warning: the server doesn't have a resource type 'foo' in group 'bar'\n"],
    ['get nodes', "Warning: resource 'nodes' is not namespace scoped\n"],
    ['get nodes --all-namespaces', ''],
    ['grab pods', "Warning: verb 'grab' is not a known verb\n"],
  ] as const)
    expect(await kubectl.run(['auth', 'can-i', ...words.split(' ')]), words).toEqual({ code: 0, stdout: 'yes\n', stderr: warning });
});

test('several objects are edited in one file, and those that changed are stored', async () => {
  const other = await server.namespace();
  for (const name of ['a', 'b', 'c']) await kubectl.ok(['create', 'secret', 'generic', name, '-n', other]);
  const editing = (command: string) => platFor(server, { EDITOR: command, PATH: process.env.PATH ?? '' }, undefined, 'kubectl');
  expect(await editing(`cp -t ${kubectl.cwd}`).run(['edit', 'secrets', '-n', other])).toMatchObject({
    code: 0,
    stderr: 'Edit cancelled, no changes made.\n',
  });
  expect(readFileSync(join(kubectl.cwd, 'list.yaml'), 'utf8')).toMatch(
    /^# .*\napiVersion: v1\nitems:\n- apiVersion: v1\n(?:.*\n)*kind: List\n/,
  );
  const edit = await editing('sed -i "s/name: [ac]$/&\\n    labels: {edited: yes-it-is}/"').run([
    'edit',
    'secret/a',
    'secret/b',
    'secret/c',
    '-n',
    other,
  ]);
  expect(edit).toEqual({ code: 0, stdout: 'secret/a edited\nsecret/b skipped\nsecret/c edited\n', stderr: '' });
  expect(await kubectl.ok(['get', 'secrets', '-l', 'edited', '-n', other, '-o', 'name'])).toBe('secret/a\nsecret/c\n');
  const broken = await editing('sed -i "s/^items:/none:/"').run(['edit', 'secret/a', 'secret/b', '-n', other]);
  expect(broken).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('A copy of your changes has been stored to') });
});

test('what a template fails with stands on the standard output', async () => {
  const args = ['get', 'namespace', ns, '--allow-missing-template-keys=false', '-o', 'go-template={{.missing}}'];
  const { code, stdout, stderr } = await kubectl.run(args);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^Error executing template: .*map has no entry for key "missing"\. Printing more information/);
  expect(stderr).toMatch(/^error: .*map has no entry for key "missing"\n$/);
});

describe('one broken file among several', () => {
  const controller = (name: string, replicas = 1) => ({
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name, labels: { name } },
    spec: { replicas, selector: { name }, template: { metadata: { labels: { name } }, spec: { containers: [{ name: 'c', image: 'i' }] } } },
  });
  beforeAll(() => {
    kubectl.file('rc/one.yaml', controller('one'));
    kubectl.file('rc/below/two.yaml', controller('two'));
    kubectl.file('rc/below/three.yaml', { ...controller('three'), kind: undefined, ind: 'Pod' });
  });
  const missing = `error: unable to decode "rc/below/three.yaml": Object 'Kind' is missing in '{"apiVersion":"v1","ind":"Pod",`;
  const invalid = 'error: error validating "rc/below/three.yaml": error validating data: kind not set; ';
  // In the order of a life: each line leaves what the next one needs.
  const lines: readonly [line: string, stdout: string, stderr?: string][] = [
    ['create -f rc -R', 'replicationcontroller/two created\nreplicationcontroller/one created\n', invalid],
    ['apply -f rc -R', 'replicationcontroller/two configured\nreplicationcontroller/one configured\n', invalid],
    ['replace -f rc -R', 'replicationcontroller/two replaced\nreplicationcontroller/one replaced\n', invalid],
    ['get -f rc -R -o name', 'replicationcontroller/two\nreplicationcontroller/one\n'],
    ['label -f rc -R x=y', 'replicationcontroller/two labeled\nreplicationcontroller/one labeled\n'],
    ['annotate -f rc -R x=y', 'replicationcontroller/two annotated\nreplicationcontroller/one annotated\n'],
    ['patch -f rc -R -p {"spec":{"minReadySeconds":1}}', 'replicationcontroller/two patched\nreplicationcontroller/one patched\n'],
    ['scale -f rc -R --replicas=2', 'replicationcontroller/two scaled\nreplicationcontroller/one scaled\n'],
    ['set image -f rc -R c=j', 'replicationcontroller/two image updated\nreplicationcontroller/one image updated\n'],
    [
      'autoscale -f rc -R --max=2',
      'horizontalpodautoscaler.autoscaling/two autoscaled\nhorizontalpodautoscaler.autoscaling/one autoscaled\n',
    ],
    ['expose -f rc -R --port=80', 'service/two exposed\nservice/one exposed\n'],
    ['describe -f rc -R', 'Name:         two\n', missing.slice('error: '.length)],
    ['delete -f rc -R', 'replicationcontroller "two" deleted\nreplicationcontroller "one" deleted\n'],
  ];
  test.each(lines)('%s works on the others', async (line, stdout, stderr = missing) => {
    const found = await kubectl.run([...line.split(' '), '-n', ns]);
    expect(found.code, found.stderr).toBe(1);
    expect(found.stdout.slice(0, line.startsWith('describe') ? stdout.length : undefined)).toBe(stdout);
    expect(found.stderr).toContain(stderr);
  });

  test('nothing is pruned, since what the broken file holds is not known', async () => {
    const other = await server.namespace();
    await kubectl.ok(['apply', '-n', other, '-f', '-'], configMap('kept'));
    const pruning = ['apply', '-n', other, '-f', 'rc', '-R', '--prune', '--all', '--prune-whitelist=core/v1/ConfigMap'];
    expect(await kubectl.run(pruning)).toMatchObject({ code: 1, stdout: expect.not.stringContaining('pruned') });
    expect(await kubectl.ok(['get', 'configmap', 'kept', '-n', other, '-o', 'name'])).toBe('configmap/kept\n');
  });

  test('an editor opens nothing, and convert reports it', async () => {
    const edited = await kubectl.run(['edit', '-f', 'rc', '-R', '-n', ns]);
    expect(edited).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining("Object 'Kind' is missing") });
    const converted = await kubectl.run(['convert', '-f', 'rc', '-R', '--template={{range .items}}{{.metadata.name}}:{{end}}']);
    expect(converted).toMatchObject({ code: 1, stdout: 'two:one:', stderr: expect.stringContaining("Object 'Kind' is missing") });
  });
});

test('what is in a file need not be on the server to be exposed or scaled', async () => {
  const set = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'only-here', labels: { app: 'a' } },
    spec: { selector: { matchLabels: { app: 'a' } }, template: { metadata: { labels: { app: 'a' } }, spec: { containers: [] } } },
  };
  expect(await kubectl.ok(['expose', '-n', ns, '-f', '-', '--port=80', '--selector=b=c'], set)).toBe('service/only-here exposed\n');
  const { spec } = await kubectl.json(['get', '-n', ns, 'service', 'only-here']);
  expect(spec.selector).toEqual({ b: 'c' });
  expect(await kubectl.ok(['autoscale', '-n', ns, '-f', '-', '--max=2'], set)).toBe(
    'horizontalpodautoscaler.autoscaling/only-here autoscaled\n',
  );
  expect(await kubectl.run(['expose', '-n', ns, 'replicaset', 'only-here', '--port=80', '--selector=b=c'])).toMatchObject({
    code: 1,
    stderr: 'Error from server (NotFound): replicasets.apps "only-here" not found\n',
  });
});

test('as plat, commands about one object suggest the name that was meant', async () => {
  const plat = platFor(server);
  await server.admin.ok('POST', '/api/v1/nodes', { metadata: { name: 'worker-one' } });
  await plat.ok(['create', 'deployment', 'website', '--image=a', '-n', ns]);
  const lines = ['cordon worker-oen', 'drain worker-oen', 'taint node worker-oen a=b:NoSchedule', 'expose deployment webiste --port=80'];
  const more = ['autoscale deployment webiste --max=2', 'rollout pause deployment webiste', 'rollout status deployment webiste'];
  for (const line of [...lines, ...more, 'rollout undo deployment webiste', 'set image deployment webiste a=b']) {
    const found = await plat.run([...line.split(' '), ...(/node|cordon|drain/.test(line) ? [] : ['-n', ns])]);
    expect(found, line).toMatchObject({ code: 1, stderr: expect.stringMatching(/\(did you mean (worker-one|website)\?\)/) });
  }
});

test('requests have their parameters in order, and drain lists nodes and pods in chunks', async () => {
  await server.admin.ok('POST', '/api/v1/nodes', { metadata: { name: 'chunked', labels: { chunk: 'yes' } } });
  const line = ['drain', '-l', 'chunk=yes', '--pod-selector=a=b', '--chunk-size=1', '--dry-run=client', '-v=6'];
  const { stderr } = await kubectl.run(line);
  expect(stderr).toContain('/api/v1/nodes?labelSelector=chunk%3Dyes&limit=1 200 OK');
  expect(stderr).toContain('/api/v1/pods?fieldSelector=spec.nodeName%3Dchunked&labelSelector=a%3Db&limit=1 200 OK');
});
