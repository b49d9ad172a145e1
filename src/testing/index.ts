/** The kit for tests: `import { startTestServer } from '@plat-dev/plat/testing'`. */
export type { TestServerOptions } from './options.ts';
export { startTestServer, TestServer } from './server.ts';
export type { RequestChoice, TestAnswer, TestFetchInit } from './transport.ts';
