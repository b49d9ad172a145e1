/** The client of a test: the typed client, which also waits for conditions. */
import { typedClient } from '@plat-dev/client/typed/client';
import type { ClientContext } from '@plat-dev/client/typed/resource';
import type { KeepAlive } from '../keep-alive.ts';
import type { TestClient } from './types.ts';
import { waitUntil } from './wait.ts';

export function testClient(context: ClientContext & { readonly keepAlive: KeepAlive }): TestClient {
  const client = typedClient(context);
  return {
    ...client,
    waitFor: async (object, condition, options = {}) => {
      const informer = client.informer(object);
      const { apiVersion = '', kind = '', metadata } = object;
      const what = `${kind} (${apiVersion}) ${metadata?.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata?.name}`;
      const whenClosed = (stop: () => void): (() => void) => context.stopLater({ stop });
      return waitUntil({ what, informer, clock: context.clock, keepAlive: context.keepAlive, whenClosed }, condition as never, options);
    },
  } as TestClient;
}
