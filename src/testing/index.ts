/** The kit for tests: `import { startTestServer } from '@plat-dev/plat/testing'`. */

export type { RequestChoice, TestAnswer, TestFetchInit } from './answers.ts';
export type { TestServerOptions } from './options.ts';
export { startTestServer, type TestServer } from './server.ts';
export type { ForkOptions, Snapshot } from './snapshot.ts';
