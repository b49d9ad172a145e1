/** `plat why not`: what keeps an object from a state. */
import { commandGroup } from '../command-group.ts';

export const whyNot = commandGroup(
  'why not',
  'Explain what keeps an object from being deleted.',
  [
    {
      name: 'deleted',
      summary: 'Explain what keeps an object from being deleted.',
      load: async () => (await import('./objects.ts')).whyNotDeleted,
    },
  ],
  [
    'plat why not deleted namespaces/team',
    'plat why not deleted persistentvolumeclaims/data -n team',
    'plat why not deleted pods/web -o json',
  ],
);
