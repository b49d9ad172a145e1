/** `plat alpha`: commands under the names that they had before they were stable. */
import { commandGroup } from './command-group.ts';

export const alpha = commandGroup(
  'alpha',
  'Commands that may change.',
  [{ name: 'events', summary: 'List events.', load: async () => (await import('./objects/events.ts')).events }],
  ['plat alpha events', 'plat alpha events -n team --for pod/web', 'plat alpha events -A --watch'],
);
