import { expect, test } from 'vitest';
import { createApi } from './api.ts';
import type { ApiError } from './api-error.ts';

function started(answer: () => Response | Promise<Response>) {
  const requests: { url: string; init: RequestInit }[] = [];
  let unauthorized = 0;
  const api = createApi(
    async (url, init) => {
      requests.push({ url: String(url), init: init as RequestInit });
      return answer();
    },
    { signal: new AbortController().signal, expire: () => unauthorized++ },
  );
  const failure = async (): Promise<ApiError> =>
    api.json('/api/v1/pods').then(
      () => expect.unreachable(),
      (error) => error,
    );
  return { api, requests, failure, unauthorizedCount: () => unauthorized };
}

test('a request has the header of the page, and what it sends', async () => {
  const { api, requests } = started(() => Response.json({ ok: true }));
  const query = { dryRun: 'All', limit: undefined, labelSelector: 'a=b,c' };
  expect(await api.json('/api/v1/pods', { method: 'POST', query, body: { kind: 'Pod' } })).toEqual({ ok: true });
  expect(requests[0]?.url).toBe('/console/api/api/v1/pods?dryRun=All&labelSelector=a%3Db%2Cc');
  expect(requests[0]?.init).toMatchObject({
    method: 'POST',
    headers: { 'X-Plat-Console': '1', 'content-type': 'application/json' },
    body: '{"kind":"Pod"}',
    credentials: 'same-origin',
    // Where another server would lead it, the rights of the user do not go.
    redirect: 'error',
  });
});

test('an error has the words and causes of the server', async () => {
  const causes = [{ field: 'spec.replicas', message: 'must be positive' }];
  const { failure } = started(() => Response.json({ reason: 'Invalid', message: 'not valid', details: { causes } }, { status: 422 }));
  expect(await failure()).toMatchObject({ code: 422, reason: 'Invalid', message: 'not valid', causes });
});

test.each([
  [new Response('<html>', { status: 502 }), 502, '<html>'],
  [new Response('not json', { status: 500, headers: { 'content-type': 'application/json' } }), 500, 'The server answered with code 500.'],
  [new Response('null', { status: 403, headers: { 'content-type': 'application/json' } }), 403, 'You may not do this.'],
  [new Response('x'.repeat(5000), { status: 500 }), 500, 'x'.repeat(1000)],
])('an answer that is no Status is an error, too: %#', async (response, code, message) => {
  expect(await started(() => response).failure()).toMatchObject({ code, message });
});

test('no answer is an error in plain words; 401 ends the session', async () => {
  const unreachable = started(() => Promise.reject(new TypeError('Failed to fetch')));
  expect(await unreachable.failure()).toMatchObject({ code: 0, message: 'The server cannot be reached.' });
  const expired = started(() => Response.json({}, { status: 401 }));
  expect([(await expired.failure()).code, expired.unauthorizedCount()]).toEqual([401, 1]);
});
