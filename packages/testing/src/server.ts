/**
 * A server for a test: in this process, in memory, without a port unless one is requested.
 *
 *   const server = await startTestServer();
 *   await server.client().core.v1.namespaces().create({ metadata: { name: 'a' } });
 *   const answer = await server.request('GET', '/api/v1/namespaces/a', { user: 'alice' });   // 403
 *   await server.close();
 */

import { initialState } from './initial-state.ts';
import { install } from './install.ts';
import type { TestServerOptions } from './options.ts';
import { startWith } from './start-server.ts';
import type { TestServer } from './test-server.ts';

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startWith(options, await initialState(options));
  return install(server, options);
}
