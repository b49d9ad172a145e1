/** What scripts that were written for kubectl read from it, or do with it, when plat is called as kubectl. */
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../../src/cli/index.ts';
import { testIO } from '../../src/cli/testing.ts';
import { FakeClock } from '../../src/lib/clock.ts';
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
    'no matches for kind "Bogus" in version "example.com/v1"\nensure CRDs are installed first\n',
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
  const ended = run(['get', 'configmap', 'watched', '-n', ns, '--watch', '--request-timeout=1h', ...flags], io).then((one) => {
    code = one;
  });
  await io.said('watched');
  while (code === undefined) {
    clock.advance(60_000);
    await setImmediate();
  }
  await ended;
  expect({ code, stderr: io.stderr }).toEqual({ code: 0, stderr: '' });
});

test('names of fields of a kustomization count in any case', async () => {
  kubectl.file('k/map.yaml', configMap('map'));
  kubectl.file('k/kustomization.yaml', 'nameprefix: test-\nresources: [map.yaml]\nIMAGES: [{name: a, newtag: b}]\n');
  expect(await kubectl.ok(['apply', '-k', 'k', '-n', ns])).toBe('configmap/test-map created\n');
});
