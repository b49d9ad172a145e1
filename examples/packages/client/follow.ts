/** The same for browsers and Node: follows config maps while it creates, changes and deletes one. */
import type { ConnectedClient } from '@plat-dev/client';
import type { ConfigMap } from '@plat-dev/kinds/core/schema/config';

interface Widget {
  metadata: { name?: string };
  spec: { size: number };
}

export async function follow(client: ConnectedClient, print: (line: string) => void): Promise<void> {
  const maps = client.core.v1.configmaps('default');
  const informer = maps.informer({ labelSelector: 'app=greeting' });
  const changes = listen<ConfigMap>(informer);
  await informer.synced;
  print(`synced with ${informer.size} objects`);

  await maps.create({ metadata: { name: 'hello', labels: { app: 'greeting' } }, data: { text: 'hello' } });
  print(await changes.next());
  await maps.patch('hello', { data: { text: 'good day' } });
  print(await changes.next());
  await maps.delete('hello');
  print(await changes.next());
  informer.stop();

  const error = await client
    .resource<Widget>('widgets', 'default')
    .get('none')
    .catch((thrown: Error) => thrown.message);
  print(`widgets: ${error}`);
}

/** Changes, one after the other. */
function listen<T extends { metadata: { name?: string }; data?: Record<string, string> }>(informer: {
  onChange(listener: (change: { type: string; object: T }) => void): () => void;
}): { next(): Promise<string> } {
  const seen: string[] = [];
  let wake: () => void = () => {};
  informer.onChange(({ type, object }) => {
    seen.push(`${type} ${object.metadata.name}: ${object.data?.text}`);
    wake();
  });
  return {
    async next() {
      while (seen.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      return seen.shift() as string;
    },
  };
}
