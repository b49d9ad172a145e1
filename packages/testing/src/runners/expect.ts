/** The shared part of vitest and Jest, whose hooks and `expect` have the same names. */
import { matchers } from './matchers.ts';
import { type OnServer, onServerWith, type SuiteHooks, type WithServerOptions } from './with-server.ts';

/** The functions of a runner that are used. */
export interface ExpectRunner extends SuiteHooks {
  /** Gets the matchers, if it is given. */
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

/** `globals`: the functions of the runner for calls that do not pass them. */
export const expectHelpers = (globals: Partial<ExpectRunner>): ExpectHelpers => ({
  matchers,
  withServer(options, { beforeAll, afterAll, expect } = globals as ExpectRunner) {
    if (typeof beforeAll !== 'function' || typeof afterAll !== 'function')
      throw new TypeError('the runner has no global functions: use withServer(options, { beforeAll, afterAll, expect })');
    expect?.extend(matchers);
    return onServerWith({ beforeAll, afterAll }, options);
  },
});
