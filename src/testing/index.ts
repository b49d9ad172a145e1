/** The kit for tests: `import { startTestServer } from '@plat-dev/plat/testing'`. */

export { FakeClock } from '../lib/clock.ts';
export type { RequestChoice, TestAnswer, TestFetchInit } from './answers.ts';
export type { ClockChoice, TestClock } from './clock.ts';
export type { TestServerOptions } from './options.ts';
export { startTestServer, type TestServer } from './server.ts';
export type { ForkOptions, Snapshot } from './snapshot.ts';
