import { expect, test } from 'vitest';
import type { Api, RequestOptions } from '../../api/api.ts';
import { ApiError } from '../../api/api-error.ts';
import type { Row } from '../../api/collection.ts';
import { deleteRows } from './delete-rows.ts';

const kind = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', isNamespaced: true, shortNames: [], verbs: [], subresources: [] };
const rowOf = (name: string): Row => ({
  key: `a/${name}`,
  name,
  namespace: 'a',
  uid: `uid-${name}`,
  createdAt: 0,
  isTerminating: false,
  cells: [],
});

test('each object that was seen is deleted, a few at a time; one that is gone is no failure', async () => {
  const requests: [string, unknown][] = [];
  let [running, most] = [0, 0];
  const fetch = async (path: string, { body }: RequestOptions = {}) => {
    requests.push([path, body]);
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
    if (path.endsWith('/gone')) throw new ApiError({}, 404);
    if (path.endsWith('/denied')) throw new ApiError({ message: 'no' }, 403);
    return new Response();
  };
  const names = ['gone', 'denied', ...Array.from({ length: 20 }, (_, i) => `pod-${i}`)];
  const progress: number[] = [];
  const rows = names.map(rowOf);
  const result = await deleteRows({ fetch } as Api, kind, rows, (done) => progress.push(done), new AbortController().signal);
  expect(result).toEqual({ deleted: 21, failures: [{ key: 'a/denied', message: 'no' }] });
  expect(requests[0]).toEqual(['/api/v1/namespaces/a/pods/gone', { preconditions: { uid: 'uid-gone' } }]);
  expect(progress).toEqual(Array.from({ length: 22 }, (_, i) => i + 1));
  expect(most).toBe(6);
});

test('what has not been sent when it is cancelled stays', async () => {
  const abort = new AbortController();
  const fetch = async () => {
    abort.abort();
    return new Response();
  };
  const rows = Array.from({ length: 50 }, (_, i) => rowOf(`pod-${i}`));
  const { deleted } = await deleteRows({ fetch } as unknown as Api, kind, rows, () => undefined, abort.signal);
  expect(deleted).toBeLessThanOrEqual(6);
});
