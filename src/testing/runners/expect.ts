/** What vitest and Jest share: their hooks have the same names, and so has what they assert with. */
import { matchers } from './matchers.ts';
import { type OnServer, onServerWith, type SuiteHooks, type WithServerOptions } from './with-server.ts';

/** The functions of a runner that are used. */
export interface ExpectRunner extends SuiteHooks {
  /** Is given the matchers, where it is there. */
  readonly expect?: { extend(matchers: object): unknown } | undefined;
}

export interface ExpectHelpers {
  /**
   * A server for each test: a copy of one that was set up once. Without a runner, its global functions are used.
   *
   *   const onServer = withServer({ setUp: (server) => … }, { beforeAll, afterAll, expect });
   *   test('…', onServer(async (server) => { … }));
   */
  withServer(options?: WithServerOptions, runner?: ExpectRunner): OnServer;
  /** For `expect.extend`, where `withServer` is not used or was not given `expect`. */
  readonly matchers: typeof matchers;
}

/** `globals`: where the functions of the runner are, for those who do not pass them. */
export const expectHelpers = (globals: Partial<ExpectRunner>): ExpectHelpers => ({
  matchers,
  withServer(options, { beforeAll, afterAll, expect } = globals as ExpectRunner) {
    if (typeof beforeAll !== 'function' || typeof afterAll !== 'function')
      throw new TypeError('the runner has no global functions: use withServer(options, { beforeAll, afterAll, expect })');
    expect?.extend(matchers);
    return onServerWith({ beforeAll, afterAll }, options);
  },
});
