/** A store that does not respond: clients are sent 503 and whether a write may have happened, operators read why. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Engine, StoreUnavailable, WriteTooLarge } from '../../packages/storage/src/engine.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const PATH = '/api/v1/namespaces/default/configmaps';
let server: TestServer;
/** What commits fail with; undefined: they do not. */
let fault: Error | undefined;

beforeAll(async () => {
  const failing = (engine: Engine): Engine =>
    new Proxy(engine, {
      get(target, name) {
        const value = Reflect.get(target, name, target) as unknown;
        if (typeof value !== 'function') return value;
        if (name !== 'commit') return value.bind(target);
        return (...args: Parameters<Engine['commit']>) => (fault === undefined ? target.commit(...args) : Promise.reject(fault));
      },
    });
  server = await startTestServer({ wrapEngine: failing, controllers: [] });
});
afterAll(() => server.close());

const notDone = 'the store does not respond; try again';
const inDoubt = 'the store does not respond, and whether the write happened is not known; read the object before you try again';

test.each([
  ['a write that was not sent', new StoreUnavailable('etcd cannot be reached at 10.0.0.7'), 503, 'ServiceUnavailable', notDone],
  ['one without an answer', new StoreUnavailable('lost by 10.0.0.7', { inDoubt: true }), 503, 'ServiceUnavailable', inDoubt],
  [
    'one larger than the store accepts',
    new WriteTooLarge('the write is too large'),
    413,
    'RequestEntityTooLarge',
    'the write is too large',
  ],
])('%s', async (_, error, status, reason, message) => {
  const logged = server.errors.length;
  fault = error;
  const answer = await server.admin.post(PATH, { metadata: { name: 'a' } });
  fault = undefined;
  expect(answer.json).toMatchObject({ kind: 'Status', code: status, reason, message });
  expect(answer.status).toBe(status);
  // Clients repeat a request by themselves where they are sent this.
  expect(answer.headers['retry-after']).toBeUndefined();
  // The reason is in the log, unless it is the client's.
  expect(server.errors.slice(logged).some((line) => line.includes(error.message))).toBe(status === 503);
});
