/** The client of a test: the typed client, which also waits for conditions. */
import { typedClient } from '@plat-dev/client/typed/client';
import type { ClientContext } from '@plat-dev/client/typed/resource';
import type { KeepAlive } from '../keep-alive.ts';
import type { ObjectChange, ObjectReference } from '../requests.ts';
import type { TestClient } from './types.ts';
import { waitUntil } from './wait.ts';

interface TestContext extends ClientContext {
  readonly keepAlive: KeepAlive;
  /** The changes of an object, oldest first. */
  readonly history: (object: ObjectReference) => ObjectChange[];
}

export function testClient(context: TestContext): TestClient {
  const client = typedClient(context);
  return {
    ...client,
    waitFor: async (object, condition, options = {}) => {
      const informer = client.informer(object);
      const { apiVersion = '', kind = '', metadata } = object;
      const what = `${kind} (${apiVersion}) ${metadata?.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata?.name}`;
      const whenClosed = (stop: () => void): (() => void) => context.stopLater({ stop });
      const { clock, keepAlive } = context;
      const changes = (): ObjectChange[] => context.history(object as ObjectReference);
      return waitUntil({ what, informer, clock, keepAlive, changes, whenClosed }, condition as never, options);
    },
  } as TestClient;
}
