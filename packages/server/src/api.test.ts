/** Requests for kinds whose objects are still being loaded. */
import { expect, test } from 'vitest';
import { serveResource } from './api.ts';
import type { Context } from './context.ts';
import type { Services } from './services.ts';

/** A request for pods, which are loaded when `loaded` is called; `lookups` counts how often their kind was looked up. */
function waiting(res: { destroyed: boolean; headersSent: boolean }) {
  let loaded = (): void => {};
  const isLoaded = new Promise<void>((resolve) => {
    loaded = resolve;
  });
  const collection: { pending: (() => Promise<void>) | undefined } = { pending: () => isLoaded };
  let lookups = 0;
  const find = (): object => {
    if (lookups++ > 0) collection.pending = undefined;
    return { collection, kind: { namespaced: true }, definition: {} };
  };
  const services = { registry: { catalog: { serves: () => false } } } as unknown as Services;
  const ctx = {
    info: { group: '', version: 'v1', resource: 'pods', inNamespace: true, subresource: '', tooLong: false, verb: '' },
    route: { resource: find },
    method: 'GET',
    res,
    get ended() {
      return res.destroyed || res.headersSent;
    },
  } as unknown as Context;
  return { answer: serveResource(services, ctx) as Promise<void>, loaded, lookups: () => lookups };
}

test('a request is served when the objects are loaded', async () => {
  const { answer, loaded, lookups } = waiting({ destroyed: false, headersSent: false });
  loaded();
  // It has no verb, which is found out when it is served.
  await expect(answer).rejects.toMatchObject({ code: 405 });
  expect(lookups()).toBe(2);
});

test.each([
  ['has disconnected', 'destroyed'],
  ['got a timeout error', 'headersSent'],
] as const)('a request whose client %s meanwhile is dropped: nothing of it is done', async (_, what) => {
  const res = { destroyed: false, headersSent: false };
  const { answer, loaded, lookups } = waiting(res);
  res[what] = true;
  loaded();
  await answer;
  expect(lookups()).toBe(1);
});
