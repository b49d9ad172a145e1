import { expect, test } from 'vitest';
import type { Api } from '../../api/api.ts';
import { ApiError } from '../../api/api-error.ts';
import type { Kind } from '../../api/kinds.ts';
import { usualKinds } from '../../api/usual-kinds.ts';
import { byteText, numberText, percentText, secondsText } from './amounts.ts';
import { loadCount } from './counts.ts';
import { type EventObject, newestEvents } from './events.ts';
import { loadHealth } from './health.ts';
import { loadRecentChanges } from './recent.ts';

const kindOf = (resource: string, group = ''): Kind => ({
  group,
  version: 'v1',
  resource,
  kind: resource,
  isNamespaced: true,
  shortNames: [],
  verbs: ['list'],
  subresources: [],
});
const { signal } = new AbortController();
const answering = (answers: Readonly<Record<string, unknown>>) => {
  const answer = async (path: string): Promise<never> => {
    const value = answers[path];
    if (value instanceof Error) throw value;
    return value as never;
  };
  return { json: answer, text: answer } as Pick<Api, 'json' | 'text'>;
};

test('a count is the one that is listed and those that remain', async () => {
  const api = answering({
    '/api/v1/namespaces/team/pods': { metadata: { continue: 'x', remainingItemCount: 41 }, items: [{}] },
    '/api/v1/namespaces/team/secrets': new ApiError({ code: 403 }),
    '/api/v1/namespaces/team/services': { metadata: { continue: 'x' }, items: [{}] },
    '/api/v1/namespaces/team/jobs': { metadata: {}, items: null },
  });
  const counts = ['pods', 'secrets', 'services', 'jobs'].map((resource) => loadCount(api, kindOf(resource), 'team', signal));
  expect((await Promise.all(counts)).map(({ count, isDenied }) => [count, isDenied])).toEqual([
    [42, false],
    [undefined, true],
    [undefined, false],
    [0, false],
  ]);
});

test('health names the checks that failed, and what a user may not see', async () => {
  const failed = new ApiError({ code: 500, message: '[+]ping ok\n[-]etcd failed: reason withheld\nlivez check failed' });
  const api = answering({ '/livez': '[+]ping ok\n[+]log ok\nlivez check passed', '/readyz': failed });
  expect(await loadHealth(api, '/livez')).toEqual({ isGood: true, checks: 2, failed: [] });
  expect(await loadHealth(api, '/readyz')).toEqual({ isGood: false, checks: 2, failed: ['etcd'] });
  expect((await loadHealth(answering({ '/livez': new ApiError({ code: 403 }) }), '/livez')).isGood).toBeUndefined();
  await expect(loadHealth(answering({ '/livez': new ApiError({}, 0) }), '/livez')).rejects.toThrow('cannot be reached');
});

test('recent changes are those that somebody made, newest first, of the kinds that may be read', async () => {
  const version = (name: string, time: string, user: string, subresource?: string) => ({ name, time, user, subresource, type: 'updated' });
  const api = answering({
    '/api/v1/pods': {
      kind: 'ObjectHistory',
      items: [
        version('a', '2026-01-01T00:00:03Z', 'system:serviceaccount:plat-system:replicaset-controller'),
        version('b', '2026-01-01T00:00:02Z', 'system:serviceaccount:team:ci'),
        version('c', '2026-01-01T00:00:01Z', 'alice', 'status'),
        version('d', '2026-01-01T00:00:01Z', 'system:kube-scheduler'),
      ],
    },
    '/api/v1/services': { kind: 'ObjectHistory', items: [version('e', '2026-01-01T00:00:04Z', 'alice')] },
    '/api/v1/secrets': new ApiError({ code: 403 }),
  });
  const kinds = ['pods', 'services', 'secrets'].map((resource) => kindOf(resource));
  const { changes, denied, hasHistory } = await loadRecentChanges(api, kinds, undefined, 0, signal);
  expect([changes.map(({ name }) => name), denied, hasHistory]).toEqual([['e', 'b'], [kinds[2]], true]);
});

test('a server that answers with a list keeps no history', async () => {
  const api = answering({ '/api/v1/pods': { kind: 'PodList', items: [{ metadata: {} }] } });
  expect(await loadRecentChanges(api, [kindOf('pods')], undefined, 0, signal)).toEqual({ changes: [], denied: [], hasHistory: false });
});

test('events are ordered by when they were last seen, in each of their forms', () => {
  const event = (name: string, times: Partial<EventObject>) =>
    ({ metadata: { name, creationTimestamp: '2026-01-01T00:00:00Z' }, involvedObject: {}, ...times }) as EventObject;
  const events = [
    event('created', {}),
    event('series', { series: { lastObservedTime: '2026-01-01T00:00:03.000000Z' }, eventTime: '2026-01-01T00:00:01.000000Z' }),
    event('core', { lastTimestamp: '2026-01-01T00:00:02Z' }),
  ];
  expect(newestEvents(events, 2).map(({ metadata }) => metadata.name)).toEqual(['series', 'core']);
});

test('usual kinds come first, then custom ones, and built-in ones that few look at not at all', () => {
  const kinds = [kindOf('widgets', 'example.com'), kindOf('leases', 'coordination.k8s.io'), kindOf('services'), kindOf('pods')];
  expect(usualKinds(kinds, 24).map(({ resource }) => resource)).toEqual(['pods', 'services', 'widgets']);
  expect(usualKinds(kinds, 1).map(({ resource }) => resource)).toEqual(['pods']);
});

test('amounts are short', () => {
  expect([0, 0.42, 12, 950, 12_345, 3e6].map(numberText)).toEqual(['0', '0.42', '12', '950', '12k', '3M']);
  expect([0.0031, 1.5].map(secondsText)).toEqual(['3.1 ms', '1.5 s']);
  expect([0, 2048, 96 * 2 ** 20, 2 ** 31].map(byteText)).toEqual(['0', '2 KiB', '96 MiB', '2 GiB']);
  expect(percentText(0.025)).toBe('2.5 %');
});
