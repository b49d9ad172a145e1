/** For Jest: `const { withServer } = require('@plat-dev/plat/testing/jest')`. */

import type { MaybePromise } from '@plat-dev/lib/when-ready';
import type {} from 'expect';
import { type ExpectHelpers, expectHelpers } from './expect.ts';
import type { ServerMatchers } from './matchers.ts';

export const { withServer, matchers }: ExpectHelpers = expectHelpers(globalThis as object);
export type { ObjectPattern, ObjectReference } from './eventually.ts';
export type { ExpectRunner } from './expect.ts';
export type { ServerMatchers } from './matchers.ts';
export type { RequestPattern } from './request-checks.ts';
export type { OnServer, WithServerOptions } from './with-server.ts';

/** For `import { expect } from '@jest/globals'`. */
declare module 'expect' {
  interface Matchers<R extends MaybePromise<void>, T = unknown> extends ServerMatchers<R> {}
}
/** For the globals of @types/jest. */
declare global {
  namespace jest {
    interface Matchers<R, T> extends ServerMatchers<R> {}
  }
}
