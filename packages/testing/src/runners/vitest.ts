/** For vitest: `import { withServer } from '@plat-dev/plat/testing/vitest'`. */
import type {} from 'vitest';
import { type ExpectHelpers, expectHelpers } from './expect.ts';
import type { ServerMatchers } from './matchers.ts';

export const { withServer, matchers }: ExpectHelpers = expectHelpers(globalThis as object);
export type { ObjectPattern, ObjectReference } from './eventually.ts';
export type { ExpectRunner } from './expect.ts';
export type { ServerMatchers } from './matchers.ts';
export type { RequestPattern } from './request-checks.ts';
export type { OnServer, WithServerOptions } from './with-server.ts';

declare module 'vitest' {
  interface Matchers<T> extends ServerMatchers {}
}
