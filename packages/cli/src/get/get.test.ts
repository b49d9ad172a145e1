import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FakeClock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { run } from '../index.ts';
import { testIO } from '../testing.ts';

const columns = [
  { name: 'Name', type: 'string', format: 'name' },
  { name: 'Status', type: 'string' },
  { name: 'IP', type: 'string', priority: 1 },
];
const row = (name: string, status: string, version: string, namespace = 'default') => ({
  cells: [name, status, '10.0.0.1'],
  object: { kind: 'PartialObjectMetadata', metadata: { name, namespace, resourceVersion: version, labels: { app: name } } },
});
const table = (rows: unknown[], metadata: unknown = { resourceVersion: '9' }) => ({
  kind: 'Table',
  metadata,
  columnDefinitions: columns,
  rows,
});
const pod = (name: string) => ({ metadata: { name, managedFields: [{ manager: 'x' }] }, spec: { on: 'yes', mode: '0777' } });

const discovery: Record<string, unknown> = {
  '/api/v1': {
    resources: [
      {
        name: 'pods',
        singularName: 'pod',
        kind: 'Pod',
        namespaced: true,
        verbs: ['list', 'get', 'watch'],
        shortNames: ['po'],
        categories: ['all'],
      },
      { name: 'namespaces', singularName: 'namespace', kind: 'Namespace', namespaced: false, verbs: ['list'], shortNames: ['ns'] },
    ],
  },
  '/apis': { groups: [{ name: 'apps', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } }] },
  '/apis/apps/v1': {
    resources: [
      {
        name: 'deployments',
        singularName: 'deployment',
        kind: 'Deployment',
        namespaced: true,
        verbs: ['list', 'watch'],
        categories: ['all'],
      },
    ],
  },
};
let asked: string[] = [];
let included: (string | null)[] = [];
let answers: Record<string, unknown> = {};
let server: Server;
beforeAll(async () => {
  server = createServer((req, res) => {
    const asTable = req.headers.accept?.includes('as=Table') ?? false;
    // Rows without their objects are requested wherever nothing of them is shown.
    const url = (req.url as string).replace(/[?&]includeObject=None$/, '');
    const bare = url !== req.url;
    if (/\/pods\b/.test(url)) included.push(new URL(req.url as string, 'http://x').searchParams.get('includeObject'));
    if (discovery[url] !== undefined) return void res.end(JSON.stringify(discovery[url]));
    asked.push(`${asTable ? 'table ' : ''}${url}`);
    const answer = answers[url];
    if (typeof answer === 'function') return void answer(res);
    res.statusCode = answer === undefined ? 404 : 200;
    const missing = { kind: 'Status', code: 404, reason: 'NotFound', message: `${url} not found` };
    const withoutObjects = (key: string, value: unknown): unknown => (bare && key === 'object' ? null : value);
    res.end(typeof answer === 'string' ? answer : JSON.stringify(answer ?? missing, withoutObjects));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked = [];
  answers = {};
});
const address = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
async function get(...args: string[]) {
  const io = testIO();
  const code = await run(['get', ...args, '--server', address()], io);
  return { code, stdout: io.stdout, stderr: io.stderr };
}

test('a collection is a table', async () => {
  answers['/api/v1/namespaces/default/pods?limit=500'] = table([row('a', 'Running', '3'), row('longer-name', 'Bad\u001b[31m\nx', '4')]);
  expect(await get('po')).toEqual({
    code: 0,
    stdout: 'NAME          STATUS\na             Running\nlonger-name   Bad\\u001b[31m...\n',
    stderr: '',
  });
  expect(asked).toEqual(['table /api/v1/namespaces/default/pods?limit=500']);
});

test('the metadata of rows is requested only where it is shown', async () => {
  const all = ['pods', '-A'];
  for (const [args, expected] of [
    [['pods'], 'None'],
    [['pods', 'a'], 'None'],
    [['pods', '-o', 'wide', '--show-kind'], 'None'],
    [all, null],
    [['pods', '--show-labels'], null],
    [['pods', '-L', 'app'], null],
    [['pods', '--sort-by', '.metadata.name'], 'Object'],
    [['pods', '-o', 'json'], null],
    [['pods', '--server-print=false'], null],
  ] as const) {
    included = [];
    await get(...args);
    expect(included, args.join(' ')).toEqual([expected]);
  }
});

test('wide, labels, no headers', async () => {
  answers['/api/v1/namespaces/x/pods?limit=500'] = table([row('a', 'Running', '3')]);
  expect((await get('pods', '-nx', '-o', 'wide', '--show-labels')).stdout).toBe(
    'NAME   STATUS    IP         LABELS\na      Running   10.0.0.1   app=a\n',
  );
  expect((await get('pods', '-n', 'x', '--no-headers')).stdout).toBe('a     Running\n');
});

test('all namespaces, selectors, and pieces of a large collection', async () => {
  const query = 'fieldSelector=status.phase%3DRunning&labelSelector=app%3Da&limit=500';
  answers[`/api/v1/pods?${query}`] = table([row('a', 'Running', '3', 'one')], { continue: 'more', resourceVersion: '9' });
  answers[`/api/v1/pods?continue=more&${query}`] = table([row('b', 'Running', '4', 'two')]);
  const { stdout } = await get('pods', '-A', '-l', 'app=a', '--field-selector=status.phase=Running');
  expect(stdout).toBe('NAMESPACE   NAME   STATUS\none         a      Running\ntwo         b      Running\n');
});

test('nothing found is said aside', async () => {
  answers['/api/v1/namespaces/default/pods?limit=500'] = table([]);
  answers['/api/v1/namespaces/default'] = {};
  expect(await get('pods')).toEqual({ code: 0, stdout: '', stderr: 'No resources found in default namespace.\n' });
  expect(await get('pods', '--ignore-not-found')).toEqual({ code: 0, stdout: '', stderr: '' });
  answers['/api/v1/namespaces/defualt/pods?limit=500'] = table([]);
  answers['/api/v1/namespaces?limit=500'] = { items: [{ metadata: { name: 'default' } }, { metadata: { name: 'other' } }] };
  expect((await get('pods', '-n', 'defualt')).stderr).toBe(
    'No resources found in defualt namespace.\nThere is no namespace "defualt" (did you mean default?)\n',
  );
  answers['/api/v1/namespaces?limit=500'] = table([]);
  expect((await get('ns')).stderr).toBe('No resources found\n');
});

test('several types and categories are shown one after the other, each name with its type', async () => {
  answers['/api/v1/namespaces/default/pods?limit=500'] = table([row('a', 'Running', '3')]);
  answers['/apis/apps/v1/namespaces/default/deployments?limit=500'] = table([row('web', 'Up', '5')]);
  const expected = 'NAME    STATUS\npod/a   Running\n\nNAME                  STATUS\ndeployment.apps/web   Up\n';
  expect((await get('pods,deployments')).stdout).toBe(expected);
  expect((await get('all')).stdout).toBe(expected);
});

test('objects by name; one that is missing does not hide the others', async () => {
  answers['/api/v1/namespaces/default/pods/a'] = table([row('a', 'Running', '3')]);
  expect(await get('pods', 'gone', 'a')).toEqual({
    code: 1,
    stdout: 'NAME   STATUS\na      Running\n',
    stderr: 'plat: /api/v1/namespaces/default/pods/gone not found (NotFound)\n',
  });
  expect(await get('pod/gone')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'plat: /api/v1/namespaces/default/pods/gone not found (NotFound)\n',
  });
});

test('YAML, JSON and names', async () => {
  answers['/api/v1/namespaces/default/pods?limit=500'] = {
    kind: 'PodList',
    metadata: { resourceVersion: '9' },
    items: [pod('a'), pod('b')],
  };
  answers['/api/v1/namespaces/default/pods/a'] = { kind: 'Pod', apiVersion: 'v1', ...pod('a') };
  expect((await get('pods', '-o', 'name')).stdout).toBe('pod/a\npod/b\n');
  expect((await get('pod', 'a', '-o', 'yaml')).stdout).toBe(
    'apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  mode: "0777"\n  "on": "yes"\n',
  );
  const list = JSON.parse((await get('pods', '-o', 'json')).stdout);
  expect(list).toMatchObject({ kind: 'List', apiVersion: 'v1', items: [{ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' } }, {}] });
  expect(list.items[0].metadata.managedFields).toBeUndefined();
  // An object has its keys in the same order alone and in a list.
  expect((await get('pod', 'a', '-o', 'json')).stdout).toBe(`${jsonText(list.items[0], 4)}\n`);
  expect((await get('pod', 'a', '-o', 'json')).stdout).toMatch(/^\{\n {4}"apiVersion": "v1",\n {4}"kind": "Pod",\n {4}"metadata"/);
  expect((await get('pod', 'a', '-ojson', '--show-managed-fields')).stdout).toContain('managedFields');
  expect(asked.every((path) => !path.startsWith('table'))).toBe(true);
});

test("templates and columns of one's own", async () => {
  answers['/api/v1/namespaces/default/pods?limit=500'] = { kind: 'PodList', metadata: {}, items: [pod('a'), pod('b')] };
  answers['/api/v1/namespaces/default/pods/a'] = { kind: 'Pod', apiVersion: 'v1', ...pod('a') };
  expect((await get('pods', '-o', 'jsonpath={.items[*].metadata.name}')).stdout).toBe('a b');
  expect((await get('pods', '-o', 'jsonpath={range .items[*]}{.metadata.name}{"\\n"}{end}')).stdout).toBe('a\nb\n');
  expect((await get('pod/a', '-o', 'jsonpath={.spec.mode}')).stdout).toBe('0777');
  const columns = 'custom-columns=NAME:.metadata.name,Both:.spec["on","mode"],NONE:{.spec.none}'.replaceAll('"', "'");
  expect((await get('pods', '-o', columns)).stdout).toBe('NAME   Both       NONE\na      yes,0777   <none>\nb      yes,0777   <none>\n');
  expect((await get('pod/a', '-o', 'custom-columns=N:metadata.name', '--no-headers')).stdout).toBe('a\n');
});

test('a path as it is', async () => {
  answers['/readyz?verbose'] = '[+]ping ok\nreadyz check passed\n';
  expect((await get('--raw', '/readyz?verbose')).stdout).toBe('[+]ping ok\nreadyz check passed\n');
});

test('a watch shows changes until it is interrupted', async () => {
  answers['/api/v1/namespaces/default/pods?limit=500'] = table([row('a', 'Pending', '3')]);
  answers['/api/v1/namespaces/default/pods?watch=1&resourceVersion=9&allowWatchBookmarks=true'] = (
    res: import('node:http').ServerResponse,
  ) => {
    res.write(`${jsonText({ type: 'MODIFIED', object: table([row('a', 'Running', '10')]) })}\n`);
    res.write(`${jsonText({ type: 'BOOKMARK', object: table([row('', '', '12')]) })}\n`);
    res.write(`${JSON.stringify({ type: 'ADDED', object: { kind: 'Table', rows: [row('b', 'Pending', '13')] } })}\n`);
  };
  const io = testIO();
  const done = run(['get', 'pods', '-w', '--server', address()], io);
  await io.said('b      Pending');
  io.send('SIGINT');
  expect(await done).toBe(130);
  expect(io.stdout).toBe('NAME   STATUS\na      Pending\na      Running\nb      Pending\n');
});

test('a watch ends when the time of --request-timeout is over', async () => {
  answers['/api/v1/namespaces/default/pods?limit=500'] = table([row('a', 'Pending', '3')]);
  answers['/api/v1/namespaces/default/pods?watch=1&resourceVersion=9&allowWatchBookmarks=true'] = stream({
    type: 'MODIFIED',
    object: table([row('a', 'Running', '10')]),
  });
  const clock = new FakeClock();
  const io = testIO({ clock });
  const done = run(['get', 'pods', '-w', '--request-timeout=1h', '--server', address()], io);
  await io.said('a      Running');
  await clock.advance(3_600_000);
  expect(await done).toBe(0);
});

test('a watch that the server ends in error says why', async () => {
  answers['/api/v1/namespaces/default/pods?limit=500'] = table([row('a', 'Pending', '3')]);
  answers['/api/v1/namespaces/default/pods?watch=1&resourceVersion=9&allowWatchBookmarks=true'] = `${JSON.stringify({
    type: 'ERROR',
    object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' },
  })}\n`;
  expect(await get('pods', '-w')).toMatchObject({ code: 1, stderr: 'plat: too old resource version (Expired)\n' });
});

test.each([
  [[], 'which objects?'],
  [['pods', 'a', '-A'], 'cannot be retrieved by name across all namespaces'],
  [['pods', 'a', '-l', 'x'], 'exclude each other'],
  [['pods', '--output-watch-events'], 'can only be used with --watch or --watch-only'],
  [['pods', '--show-labels', '-o', 'json'], '--show-labels option cannot be used with json printer'],
  [['pods', '--subresource', 'status'], 'needs the names of objects'],
  [['pods', 'a', '--subresource', 'log'], 'must be one of status, scale'],
  [['pods', '-f', 'x.yaml'], 'exclude each other'],
  [['--raw', '/x', '-w'], '--raw may not be specified'],
  [['pods', '--sort-by', '.a[?'], '--sort-by: '],
  [['pods', '-o', 'go-template={{.a'], 'go-template: line 1: an action is not closed'],
  [['pods', '-o', 'go-template'], '-o go-template needs a template'],
  [['pods', '-o', 'go-template-file=/nonexistent/x'], 'the template /nonexistent/x cannot be read'],
  [['a/b/c'], 'is not of the form type/name'],
  [['--raw', 'x'], 'begins with a slash'],
  [['pods', '-o', 'xml'], '"xml" is not one of json, yaml, name, wide'],
  [['pods', '-o', 'jsonpath={.a'], 'a brace is not closed'],
  [['pods', '-o', 'custom-columns='], '-o custom-columns needs a template'],
  [['pods', '-o', 'custom-columns=NAME'], 'is not of the form HEADER:.path'],
  [['pods', '-o', 'custom-columns=A:.a[?'], 'custom-columns: '],
])('%j is refused', async (args, message) => {
  const { code, stderr } = await get(...args);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(asked).toEqual([]);
});

test('an unknown type is refused with a suggestion', async () => {
  expect(await get('podz')).toMatchObject({
    code: 1,
    stderr: `plat: the server doesn't have a resource type "podz" (did you mean pods?)\n`,
  });
});

test('without a server there is advice', async () => {
  const io = testIO();
  expect(await run(['get', 'pods'], io)).toBe(2);
  expect(io.stderr).toContain('start one with `plat server`');
});

test('groups that do not answer are reported, and do not hide the others', async () => {
  const io = testIO();
  expect(await run(['api-resources', '-o', 'name', '--server', address()], io)).toBe(0);
  expect(io.stdout).toBe('namespaces\npods\ndeployments.apps\n');
  const { groups } = discovery['/apis'] as { groups: object[] };
  groups.push({ name: 'gone.example.com', versions: [{ version: 'v1' }] });
  const other = testIO();
  expect(await run(['api-resources', '-o', 'name', '--server', address()], other)).toBe(1);
  groups.pop();
  expect(other.stdout).toBe(io.stdout);
  expect(other.stderr).toBe('plat: gone.example.com/v1 failed: /apis/gone.example.com/v1 not found\n');
});

test('warnings of the server are shown once each', async () => {
  const warned = (res: import('node:http').ServerResponse): void => {
    res.setHeader('Warning', ['299 - "old \\"thing\\""', '299 - "older"']);
    res.end(JSON.stringify({ kind: 'Pod', apiVersion: 'v1', ...pod('a') }));
  };
  answers['/api/v1/namespaces/default/pods/a?fieldManager=plat'] = warned;
  answers['/api/v1/namespaces/default/pods/a'] = warned;
  const io = testIO();
  expect(await run(['label', 'pod/a', 'x=1', '--server', address()], io)).toBe(0);
  expect(io.stderr).toBe('Warning: old "thing"\nWarning: older\n');
});

test('rows are sorted by a path of their objects, which are requested in one piece', async () => {
  const sized = (name: string, version: string, size?: string) => {
    const one = row(name, 'Running', version);
    return { ...one, object: { ...one.object, spec: size === undefined ? {} : { size } } };
  };
  answers['/api/v1/namespaces/default/pods?includeObject=Object'] = table([
    sized('a', '1', '10'),
    sized('b', '2', '9'),
    sized('c', '3', '500m'),
    sized('d', '4'),
  ]);
  expect((await get('pods', '--sort-by', '{.spec.size}', '--no-headers')).stdout).toBe(
    'd     Running\nc     Running\nb     Running\na     Running\n',
  );
  expect(await get('pods', '--sort-by=spec.siez')).toMatchObject({
    code: 1,
    stderr: `plat: couldn't find any field with path "{.spec.siez}" in the list of objects (did you mean size?)\n`,
  });
});

test('as kubectl a table that cannot be sorted is not printed, one of a single row is, and neither fails', async () => {
  const kubectl = async (...args: string[]) => {
    const io = testIO({ program: 'kubectl' });
    return { code: await run(['get', ...args, '--server', address()], io), stdout: io.stdout, stderr: io.stderr };
  };
  const one = row('a', 'Running', '1');
  answers['/api/v1/namespaces/default/pods?includeObject=Object'] = table([one, row('b', 'Running', '2')]);
  answers['/api/v1/namespaces/default/pods/a?includeObject=Object'] = table([one]);
  answers['/api/v1/namespaces/default/pods/b?includeObject=Object'] = table([one]);
  for (const [path, why] of [
    ['x[', '--sort-by: a bracket is not closed'],
    ['x', `couldn't find any field with path "{.x}" in the list of objects`],
  ] as const) {
    const stderr = `warning: ${why}\nNo resources found in default namespace.\n`;
    expect(await kubectl('pods', '--sort-by', path)).toEqual({ code: 0, stdout: '', stderr });
    expect(await kubectl('pods', 'a', '--sort-by', path, '--no-headers')).toEqual({ code: 0, stdout: 'a     Running\n', stderr: '' });
    expect((await kubectl('pods', 'a', 'b', '--sort-by', path)).code).toBe(1);
    expect((await kubectl('pods', '--sort-by', path, '-o', 'name')).code).toBe(1);
  }
});

test('as kubectl a list without resources has headers', async () => {
  const io = testIO({ program: 'kubectl' });
  expect(await run(['api-resources', '--verbs=none', '--server', address()], io)).toBe(0);
  expect(io.stdout).toBe('NAME   SHORTNAMES   APIVERSION   NAMESPACED   KIND\n');
  expect(io.stderr).toBe('');
});

test('columns of labels, and types before names', async () => {
  answers['/api/v1/namespaces/default/pods?limit=500'] = table([row('a', 'Running', '3')]);
  expect((await get('pods', '-L', 'app,example.com/tier', '--show-kind')).stdout).toBe(
    'NAME    STATUS    APP   TIER\npod/a   Running   a     \n',
  );
});

test('a chunk size, or all at once', async () => {
  answers['/api/v1/namespaces/default/pods?limit=2'] = table([row('a', 'Running', '3')]);
  answers['/api/v1/namespaces/default/pods'] = table([row('b', 'Running', '3')]);
  expect((await get('pods', '--chunk-size=2', '--no-headers')).stdout).toBe('a     Running\n');
  expect((await get('pods', '--chunk-size', '0', '--no-headers')).stdout).toBe('b     Running\n');
});

test('a server that makes no tables: names and ages', async () => {
  const created = new Date(Date.now() - 3 * 86_400_000).toISOString();
  const aged = { metadata: { name: 'a', namespace: 'default', creationTimestamp: created } };
  answers['/api/v1/namespaces/default/pods?limit=500'] = { kind: 'PodList', metadata: {}, items: [aged] };
  expect((await get('pods')).stdout).toBe('NAME   AGE\na      3d\n');
  asked = [];
  expect((await get('pods', '--server-print=false', '--show-kind')).stdout).toBe('NAME    AGE\npod/a   3d\n');
  expect(asked).toEqual(['/api/v1/namespaces/default/pods?limit=500']);
});

test('objects that are missing may be no error', async () => {
  answers['/api/v1/namespaces/default/pods/a'] = table([row('a', 'Running', '3')]);
  expect(await get('pods', 'a', 'gone', '--ignore-not-found')).toEqual({ code: 0, stdout: 'NAME   STATUS\na      Running\n', stderr: '' });
  expect(await get('pod/gone', '--ignore-not-found', '-o', 'json')).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('an object that does not exist: the name that was meant', async () => {
  answers['/api/v1/namespaces/default/pods?limit=500'] = { items: [{ metadata: { name: 'web' } }] };
  answers['/api/v1/namespaces/default/pods/wbe'] = (res: import('node:http').ServerResponse) => {
    res.statusCode = 404;
    const details = { name: 'wbe', kind: 'pods' };
    res.end(JSON.stringify({ kind: 'Status', code: 404, reason: 'NotFound', message: 'pods "wbe" not found', details }));
  };
  expect((await get('pod/wbe')).stderr).toBe('plat: pods "wbe" not found (did you mean web?) (NotFound)\n');
});

test('templates from flags and files, subresources', async () => {
  answers['/api/v1/namespaces/default/pods/a'] = { kind: 'Pod', apiVersion: 'v1', ...pod('a') };
  answers['/api/v1/namespaces/default/pods/a/status'] = { kind: 'Pod', apiVersion: 'v1', ...pod('status') };
  expect((await get('pod/a', '-o', 'go-template={{.metadata.name}}:{{.spec.mode}}')).stdout).toBe('a:0777');
  expect((await get('pod/a', '--template', '{{.kind}}')).stdout).toBe('Pod');
  expect((await get('pod/a', '-o', 'jsonpath', '--template', '{.kind}')).stdout).toBe('Pod');
  expect((await get('pod/a', '-o', 'jsonpath-as-json={.kind}')).stdout).toBe('[\n    "Pod"\n]\n');
  expect((await get('pod/a', '-o', 'name', '--subresource', 'status')).stdout).toBe('pod/status\n');
  expect(await get('pod/a', '--template={{.nothing}}', '--allow-missing-template-keys=false')).toMatchObject({
    code: 1,
    stderr: 'plat: go-template: line 1: map has no entry for key "nothing"\n',
  });
});

/** A stream of events that stays open. */
const stream =
  (...events: unknown[]) =>
  (res: import('node:http').ServerResponse): void => {
    for (const event of events) res.write(`${jsonText(event)}\n`);
  };
async function watching(args: readonly string[], until: string) {
  const io = testIO();
  const done = run(['get', ...args, '--server', address()], io);
  await io.said(until);
  io.send('SIGINT');
  expect(await done).toBe(130);
  return io.stdout;
}

test('several types are watched together', async () => {
  answers['/api/v1/namespaces/default/pods?limit=500'] = table([row('a', 'Pending', '3')]);
  answers['/apis/apps/v1/namespaces/default/deployments?limit=500'] = table([row('web', 'Up', '5')]);
  answers['/apis/apps/v1/namespaces/default/deployments?watch=1&resourceVersion=9&allowWatchBookmarks=true'] = stream();
  answers['/api/v1/namespaces/default/pods?watch=1&resourceVersion=9&allowWatchBookmarks=true'] = stream({
    type: 'MODIFIED',
    object: table([row('a', 'Running', '10')]),
  });
  expect(await watching(['all', '-w'], 'pod/a   Running')).toBe(
    'NAME    STATUS\npod/a   Pending\n\nNAME                  STATUS\ndeployment.apps/web   Up\n\nNAME    STATUS\npod/a   Running\n',
  );
});

test('changes with their type, and without the list before', async () => {
  answers['/api/v1/namespaces/default/pods?limit=500'] = table([row('a', 'Pending', '3')]);
  answers['/api/v1/namespaces/default/pods?watch=1&resourceVersion=9&allowWatchBookmarks=true'] = stream(
    { type: 'MODIFIED', object: table([row('a', 'Running', '10')]) },
    { type: 'DELETED', object: table([row('a', 'Running', '11')]) },
  );
  expect(await watching(['pods', '-w', '--output-watch-events'], 'DELETED')).toBe(
    'EVENT      NAME   STATUS\nADDED      a      Pending\nMODIFIED   a      Running\nDELETED    a      Running\n',
  );
  expect(await watching(['pods', '--watch-only', '--output-watch-events'], 'DELETED')).toBe(
    'EVENT      NAME   STATUS\nMODIFIED   a      Running\nDELETED    a      Running\n',
  );
});

test('changes of one object as JSON: its current state is not shown twice', async () => {
  const at = (version: string, phase: string) => ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'a', resourceVersion: version },
    phase,
  });
  answers['/api/v1/namespaces/default/pods/a'] = at('3', 'Pending');
  answers['/api/v1/namespaces/default/pods?watch=1&resourceVersion=0&allowWatchBookmarks=true&fieldSelector=metadata.name%3Da'] = stream(
    { type: 'ADDED', object: at('3', 'Pending') },
    { type: 'MODIFIED', object: at('4', 'Running') },
  );
  expect(await watching(['pod', 'a', '-w', '-o', 'jsonpath={.phase};'], 'Running')).toBe('Pending;Running;');
  expect(await watching(['pod', 'a', '-w', '-o', 'json', '--output-watch-events'], 'Running')).toBe(
    '{"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","resourceVersion":"3"},"phase":"Pending"}}\n' +
      '{"type":"MODIFIED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","resourceVersion":"4"},"phase":"Running"}}\n',
  );
});
