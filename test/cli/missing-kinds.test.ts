/** Objects in files whose kind the server does not have: the words of plat and of the stock client, and what is done with the others. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let plat: Plat;
let kubectl: Plat;
let ns: string;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', controllers: [] });
  plat = platFor(server);
  kubectl = platFor(server, {}, ['--kubeconfig', server.running.adminConfigPath], 'kubectl');
  ns = await server.namespace();
});
afterAll(() => server.close());

const gadget = (name: string, namespace?: string) => ({ apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name, namespace } });
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const list = (...items: object[]) => ({ apiVersion: 'v1', kind: 'List', items });
const noMatches = 'no matches for kind "Gadget" in version "example.com/v1"';
const notMapped = (name: string, file = 'STDIN', namespace = '') =>
  `resource mapping not found for name: "${name}" namespace: "${namespace}" from "${file}": ${noMatches}\nensure CRDs are installed first\n`;
const notRecognized = `unable to recognize ${noMatches}\n`;
const documents = (...objects: object[]) => objects.map((object) => JSON.stringify(object)).join('\n---\n');

describe('as kubectl', () => {
  const run = (line: string, input?: unknown) => kubectl.run([...line.split(' '), '-n', ns], input);

  test.each([
    'create -f -',
    'apply -f -',
    'apply --server-side -f -',
    'delete -f -',
    'replace -f -',
    'edit -f -',
    'wait --for=condition=Ready -f -',
    'scale --replicas=1 -f -',
    'label a=b -f -',
    'annotate a=b -f -',
    'patch -p {} -f -',
    'set image a=b -f -',
    'rollout history -f -',
    'apply set-last-applied -f -',
    'apply view-last-applied -f -',
    'get -o json -f -',
    'get -o name -f -',
  ])('%s names the object and the file', async (line) => {
    expect(await run(line, gadget('x'))).toEqual({ code: 1, stdout: '', stderr: `error: ${notMapped('x')}` });
  });

  test.each(['get -f -', 'describe -f -'])('%s lists the errors, so that they begin without a word', async (line) => {
    expect(await run(line, gadget('x'))).toEqual({ code: 1, stdout: '', stderr: notMapped('x') });
  });

  test('nothing is watched', async () => {
    expect(await run('get --watch -f -', documents(gadget('x'), configMap('c')))).toEqual({ code: 1, stdout: '', stderr: notMapped('x') });
  });

  test('diff exits with 2, since 1 means a difference', async () => {
    expect(await run('diff -f -', gadget('x'))).toEqual({ code: 2, stdout: '', stderr: `error: ${notMapped('x')}` });
  });

  test('the namespace is that of the object; the file is named as on the command line', async () => {
    mkdirSync(join(kubectl.cwd, 'sub'), { recursive: true });
    writeFileSync(join(kubectl.cwd, 'sub', 'one.json'), JSON.stringify(gadget('x', ns)));
    const stderr = `error: ${notMapped('x', 'sub/one.json', ns)}`;
    expect(await run('create -f sub/one.json')).toEqual({ code: 1, stdout: '', stderr });
    expect(await run('create -f sub')).toEqual({ code: 1, stdout: '', stderr });
    expect(await run('create -f -', gadget(''))).toMatchObject({ stderr: `error: ${notMapped('')}` });
  });

  test('items of a list are not recognized', async () => {
    for (const command of ['create', 'apply', 'delete', 'get'])
      expect(await run(`${command} -f -`, list(gadget('x')))).toEqual({ code: 1, stdout: '', stderr: notRecognized });
    expect(await run('create -f -', list(gadget('x'), gadget('y')))).toMatchObject({ stderr: `${notRecognized}${notRecognized}` });
  });

  test.each([
    ['diff -f -', 2],
    ['apply set-last-applied -f -', 1],
    ['apply view-last-applied -f -', 1],
  ] as const)('%s stops at the first document with errors: that of one item begins with the word', async (line, code) => {
    await run('apply -f -', configMap('kept'));
    const changed = { ...configMap('kept'), data: { a: 'b' } };
    const one = { code, stdout: '', stderr: `error: ${notRecognized}` };
    expect(await run(line, list(gadget('x')))).toEqual(one);
    // Nothing is shown or set of the other objects.
    expect(await run(line, list(changed, gadget('x')))).toEqual(one);
    expect(await run(line, list(gadget('x'), gadget('y')))).toEqual({ ...one, stderr: `${notRecognized}${notRecognized}` });
  });

  test.each(['diff -f -', 'apply set-last-applied -f -'])('%s does not look at documents after an error', async (line) => {
    const { stdout, stderr } = await run(line, documents(list(gadget('x')), gadget('y')));
    expect([stdout, stderr]).toEqual(['', `error: ${notRecognized}`]);
  });

  test('delete --ignore-not-found reports them: it is about objects', async () => {
    await run('create -f -', configMap('there'));
    expect(await run('delete --ignore-not-found -f -', documents(gadget('x'), configMap('there'), configMap('gone')))).toEqual({
      code: 1,
      stdout: 'configmap "there" deleted\n',
      stderr: `error: ${notMapped('x')}`,
    });
    expect(await run('delete --ignore-not-found gadgets x')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: the server doesn\'t have a resource type "gadgets"\n',
    });
  });

  test('of several errors none begins with the word, and the other objects are used', async () => {
    const both = documents(gadget('x'), configMap('between'), gadget('y'));
    const stderr = `${notMapped('x')}${notMapped('y')}`;
    expect(await run('create -f -', both)).toEqual({ code: 1, stdout: 'configmap/between created\n', stderr });
    expect(await run('apply -f -', both)).toMatchObject({ code: 1, stdout: 'configmap/between configured\n' });
    expect(await run('label a=b -f -', both)).toEqual({ code: 1, stdout: 'configmap/between labeled\n', stderr });
    expect(await run('get -f - -o name', both)).toEqual({ code: 1, stdout: 'configmap/between\n', stderr });
    expect(await run('get -f - --no-headers', both)).toMatchObject({ code: 1, stdout: expect.stringMatching(/^between /), stderr });
    expect(await run('delete -f -', both)).toEqual({ code: 1, stdout: 'configmap "between" deleted\n', stderr });
    expect(await run('create -f -', documents(gadget('x'), configMap('NO')))).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^resource mapping not found [\s\S]*\nThe ConfigMap "NO" is invalid: /),
    });
  });
});

describe('as plat', () => {
  const run = (line: string, input?: unknown) => plat.run([...line.split(' '), '-n', ns], input);
  const missing = 'the server has no kind "Gadget" in example.com/v1';

  test.each(['create', 'delete', 'replace', 'get', 'describe', 'label a=b', 'scale --replicas=1'])('%s says which kind', async (line) => {
    const { code, stdout, stderr } = await run(`${line} -f -`, gadget('x'));
    expect([code, stdout, stderr]).toEqual([1, '', `plat: the standard input: ${missing}\n`]);
  });

  test('delete --ignore-not-found skips them', async () => {
    expect(await run('delete --ignore-not-found -f -', gadget('x'))).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('the other objects are used', async () => {
    const both = documents(gadget('x'), configMap('other'));
    expect((await run('create -f -', both)).stdout).toBe('configmap/other created\n');
    expect(await run('get -o name -f -', both)).toEqual({
      code: 1,
      stdout: 'configmap/other\n',
      stderr: `plat: the standard input, document 1: ${missing}\n`,
    });
  });
});
