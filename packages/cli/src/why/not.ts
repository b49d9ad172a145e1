/** `plat why not`: what keeps an object from a state. */
import { commandGroup } from '../command-group.ts';

export const whyNot = commandGroup(
  'why not',
  'Explain what keeps an object from being deleted or ready.',
  [
    {
      name: 'deleted',
      summary: 'Explain what keeps an object from being deleted.',
      load: async () => (await import('./objects.ts')).whyNotDeleted,
    },
    {
      name: 'ready',
      summary: 'Explain why an object is not ready, down to the first cause.',
      load: async () => (await import('./objects.ts')).whyNotReady,
    },
  ],
  [
    'plat why not deleted namespaces/team',
    'plat why not deleted persistentvolumeclaims/data -n team',
    'plat why not ready deployments/web -n team',
  ],
);
