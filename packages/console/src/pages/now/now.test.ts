import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { ApiError } from '../../api/api-error.ts';
import type { Kind } from '../../api/kinds.ts';
import type { WatchEvent, WatchRequest } from '../../api/watch-connection.ts';
import { shortUser } from '../../parts/users.ts';
import { ChangeStream } from './change-stream.ts';
import { chosenKinds, kindName, withKind } from './chosen-kinds.ts';
import { detailsOf, filterRows, MAX_NOW_ROWS, type NowRow, NowRows, rowsOf } from './now.ts';
import { refusalRow, requestReader } from './requests.ts';
import { visibleRange } from './visible-range.ts';

const kindOf = (resource: string, group = '', isNamespaced = true): Kind => ({
  group,
  version: 'v1',
  resource,
  kind: resource,
  isNamespaced,
  shortNames: [],
  verbs: ['list', 'watch'],
  subresources: [],
});
const pods = kindOf('pods');
const event = (type: WatchEvent['type'], name: string, resourceVersion: string, managedFields: object[] = []): WatchEvent => ({
  type,
  object: { metadata: { name, namespace: 'team', resourceVersion, managedFields } },
});
const row = (key: string, parts: Partial<NowRow> = {}): NowRow => ({
  key,
  at: 0,
  what: 'changed',
  resource: 'pods',
  namespace: 'team',
  name: key,
  user: 'alice',
  text: '',
  href: undefined,
  ...parts,
});
const names = (rows: readonly NowRow[]) => rows.map(({ name }) => name);

test('rows are the newest first, and 5,000 at most', () => {
  const rows = new NowRows();
  rows.add([row('a', { at: 1 }), row('b', { at: 2 })]);
  rows.add([row('c', { at: 3 })]);
  expect(names(rows.rows.value)).toEqual(['c', 'b', 'a']);
  rows.add(Array.from({ length: MAX_NOW_ROWS }, (_, index) => row(`n${index}`, { at: 4 })));
  expect([rows.rows.value.length, rows.rows.value.at(-1)?.name]).toEqual([MAX_NOW_ROWS, 'n0']);
});

test('a paused stream shows what it showed, counts what comes, and shows it when it goes on', () => {
  const rows = new NowRows();
  rows.add([row('a')]);
  rows.pause(true);
  rows.add([row('b'), row('c')]);
  rows.complete(new Map([['a', { user: 'bob', text: 'scaled' }]]));
  expect([names(rows.rows.value), rows.rows.value[0]?.user, rows.waiting.value]).toEqual([['a'], 'bob', 2]);
  rows.pause(false);
  expect([names(rows.rows.value), rows.waiting.value]).toEqual([['c', 'b', 'a'], 0]);
});

test('an event names the owner of fields that wrote last; history adds the user and the change', () => {
  const managers = [
    { manager: 'new', time: '2026-01-01T00:00:02Z', subresource: 'scale' },
    { manager: 'old', time: '2026-01-01T00:00:01Z' },
  ];
  const bookmark = event('BOOKMARK', '', '9');
  const rows = new NowRows();
  rows.add(rowsOf(pods, [event('MODIFIED', 'web', '7', managers), bookmark, event('DELETED', 'api', '8', managers)], 5));
  const short = () => rows.rows.value.map(({ what, name, user, text }) => [what, name, user, text].join(' ').trim());
  expect(short()).toEqual(['deleted api', 'changed web ~new scale']);
  const versions = [
    { name: 'api', resourceVersion: '8', type: 'deleted', user: 'bob', verb: 'delete', userAgent: 'kubectl/v1.24 (linux)' },
    { name: 'web', resourceVersion: '7', type: 'updated', user: 'alice', change: 'spec.replicas 3 → 5', fieldManager: 'plat' },
    { name: 'web', resourceVersion: '6', type: 'updated', user: 'carol' },
  ] as const;
  rows.complete(detailsOf(pods, versions));
  expect(short()).toEqual(['deleted api bob delete (kubectl)', 'changed web alice spec.replicas 3 → 5 (plat)']);
});

test('users of the system have short names', () => {
  const users = ['system:serviceaccount:team:ci', 'system:kube-scheduler', 'system:', 'alice'];
  expect(users.map(shortUser)).toEqual(['ci', 'kube-scheduler', 'system:', 'alice']);
});

test('filters hold together, in any case of letters', () => {
  const rows = [
    row('web'),
    row('api', { user: 'Bob' }),
    row('db', { namespace: 'other' }),
    row('x', { what: 'deleted', text: 'Spec.Image' }),
  ];
  const everything = { namespace: undefined, user: '', text: '', what: '' };
  expect(names(filterRows(rows, everything))).toEqual(['web', 'api', 'db', 'x']);
  expect(names(filterRows(rows, { ...everything, namespace: 'team', user: 'ALICE' }))).toEqual(['web', 'x']);
  expect(names(filterRows(rows, { ...everything, text: 'pods/W' }))).toEqual(['web']);
  expect(names(filterRows(rows, { ...everything, text: 'image', what: 'deleted' }))).toEqual(['x']);
});

function streamWorld(history: () => unknown) {
  const clock = new FakeClock();
  const opened: WatchRequest[] = [];
  const asked: string[] = [];
  const rows = new NowRows();
  const api = {
    json: async (path: string, { query = {} }: { query?: object } = {}): Promise<never> => {
      asked.push(`${path}${'history' in query ? ' history' : ''}`);
      if (path.endsWith('/secrets')) throw new ApiError({ code: 403, message: 'no' });
      return ('history' in query ? history() : { metadata: { resourceVersion: '5' } }) as never;
    },
  };
  const watches = {
    open: (request: WatchRequest) => {
      opened.push(request);
      return () => opened.splice(opened.indexOf(request), 1);
    },
  };
  const stream = new ChangeStream({ api, watches, clock, rows, kinds: [pods, kindOf('secrets')], namespace: 'team' });
  return { clock, opened, asked, rows, stream };
}

test('kinds are watched from their present version; one question about history serves many changes', async () => {
  const versions = { kind: 'ObjectHistory', items: [{ name: 'web', resourceVersion: '6', user: 'alice', change: 'created' }] };
  const { clock, opened, asked, rows, stream } = streamWorld(() => versions);
  await clock.advance(1);
  expect(opened.map(({ path, resourceVersion }) => [path, resourceVersion])).toEqual([['/api/v1/namespaces/team/pods', '5']]);
  expect([...stream.failures.value.keys()]).toEqual(['secrets']);
  opened[0]?.onEvents([event('ADDED', 'web', '6')]);
  opened[0]?.onEvents([event('MODIFIED', 'web', '7')]);
  await clock.advance(5000);
  expect(asked.filter((path) => path.endsWith('history')).length).toBe(1);
  expect(rows.rows.value.map(({ what, user }) => [what, user])).toEqual([
    ['changed', ''],
    ['created', 'alice'],
  ]);
  stream.close();
  expect(opened.length).toBe(0);
});

test('a server without history is asked once; a watch whose version is gone starts anew', async () => {
  const { clock, opened, asked } = streamWorld(() => ({ kind: 'PodList' }));
  await clock.advance(1);
  for (const version of ['6', '7', '8']) {
    opened[0]?.onEvents([event('MODIFIED', 'web', version)]);
    await clock.advance(5000);
  }
  expect(asked.filter((path) => path.endsWith('history')).length).toBe(1);
  opened[0]?.onEnd(new ApiError({ code: 410 }));
  await clock.advance(1);
  expect(opened.length).toBe(2);
});

test('requests are told once, and slow ones of all users where the user may see them', async () => {
  const specs: object[] = [];
  const refusal = {
    auditID: '1',
    time: '2026-01-01T00:00:00Z',
    resourceAttributes: { verb: 'list', resource: 'secrets', namespace: 'team' },
  };
  const slow = {
    auditID: '2',
    time: '2026-01-01T00:00:00Z',
    user: 'bob',
    method: 'GET',
    path: '/api/v1/namespaces/team/pods',
    code: 200,
    milliseconds: 812.4,
  };
  const api = {
    json: async (path: string, { body }: { body?: unknown } = {}): Promise<never> => {
      const { spec } = body as { spec: { allUsers?: boolean } };
      specs.push(spec);
      if (spec.allUsers === true) throw new ApiError({ code: 403 });
      return { status: path.includes('refusal') ? { refusals: [refusal] } : { requests: [slow] } } as never;
    },
  };
  const read = requestReader(
    api,
    { refusals: kindOf('refusalsearches', 'explain.example'), slow: kindOf('slowrequestsearches', 'explain.example') },
    'alice',
  );
  const { signal } = new AbortController();
  expect((await read(signal)).map(({ what, resource, namespace, user, text }) => [what, resource, namespace, user, text])).toEqual([
    ['refused', 'secrets', 'team', 'alice', 'may not list'],
    ['slow', '/api/v1/namespaces/team/pods', 'team', 'bob', 'GET took 812 ms, answered with 200'],
  ]);
  expect(await read(signal)).toEqual([]);
  expect(specs).toEqual([{}, { allUsers: true }, { allUsers: false }, {}, { allUsers: false }]);
});

test('a refusal leads to its explanation', () => {
  const common = { auditID: '1', time: '2026-01-01T00:00:00Z' };
  expect(refusalRow({ ...common, nonResourceAttributes: { verb: 'get', path: '/metrics' } }, 'alice').href).toBe(
    '/console/access?verb=get&path=%2Fmetrics',
  );
  const attributes = { verb: 'get', resource: 'pods', subresource: 'log', name: 'web', namespace: 'team' };
  expect(refusalRow({ ...common, resourceAttributes: attributes }, 'alice').href).toBe(
    '/console/ns/team/access?verb=get&resource=pods&subresource=log&name=web',
  );
});

test('the URL names the kinds; without it they are the usual ones', () => {
  const kinds = [pods, kindOf('deployments', 'apps'), kindOf('leases', 'coordination.k8s.io'), kindOf('nodes', '', false)];
  const chosen = (text: string | null, namespace?: string) => chosenKinds(kinds, text, namespace).map(kindName);
  expect(chosen(null)).toEqual(['pods', 'deployments.apps', 'nodes']);
  expect(chosen(null, 'team')).toEqual(['pods', 'deployments.apps']);
  expect(chosen('leases.coordination.k8s.io,unknown')).toEqual(['leases.coordination.k8s.io']);
  expect(chosen('none')).toEqual([]);
  expect([withKind([pods], kinds[1] as Kind, true), withKind([pods], pods, false)]).toEqual(['pods,deployments.apps', 'none']);
});

test('rows in sight and some beyond are in the page, wherever it is scrolled', () => {
  expect(visibleRange(5000, 32, 0, 640)).toEqual({ first: 0, end: 30 });
  expect(visibleRange(5000, 32, 3200, 640)).toEqual({ first: 90, end: 130 });
  expect(visibleRange(5, 32, 3200, 640)).toEqual({ first: 5, end: 5 });
});
