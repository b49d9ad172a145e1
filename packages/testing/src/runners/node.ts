/** For node:test: `import { withServer, assertSeen } from '@plat-dev/plat/testing/node'`. */
import { after, before } from 'node:test';
import { type OnServer, onServerWith, type WithServerOptions } from './with-server.ts';

/**
 * A server for each test: a copy of one that was set up once.
 *
 *   const onServer = withServer({ setUp: (server) => … });
 *   test('…', onServer(async (server) => { … }));
 */
export const withServer = (options?: WithServerOptions): OnServer =>
  onServerWith({ beforeAll: (call) => before(call), afterAll: (call) => after(call) }, options);

export {
  assertCondition,
  assertEventually,
  assertEventuallyGone,
  assertOwnedBy,
  assertSeen,
  assertSeenTimes,
} from './assertions.ts';
export type { ObjectPattern, ObjectReference } from './eventually.ts';
export type { RequestPattern } from './request-checks.ts';
export type { OnServer, WithServerOptions } from './with-server.ts';
