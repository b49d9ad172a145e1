/**
 * A server for a test: in this process, in memory, without a port unless one is requested.
 *
 *   const server = await startTestServer();
 *   await server.client().core.v1.namespaces().create({ metadata: { name: 'a' } });
 *   const answer = await server.request('GET', '/api/v1/namespaces/a', { user: 'alice' });   // 403
 *   await server.close();
 */

import { beginning } from './beginning.ts';
import { install } from './install.ts';
import type { TestServerOptions } from './options.ts';
import { startWith } from './running.ts';
import type { TestServer } from './test-server.ts';

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startWith(options, await beginning(options));
  return install(server, options);
}
