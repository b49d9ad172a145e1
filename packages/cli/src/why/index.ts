/** `plat why`: the server explains its decisions. */
import { commandGroup } from '../command-group.ts';

export const why = commandGroup(
  'why',
  'Explain why the server decided as it did.',
  [
    {
      name: 'allowed',
      summary: 'Explain which binding and rule allow a request.',
      load: async () => (await import('./access.ts')).whyAllowed,
    },
    {
      name: 'conflict',
      summary: 'Explain which fields of files other managers own, and the ways out.',
      load: async () => (await import('./conflict.ts')).whyConflict,
    },
    {
      name: 'denied',
      summary: 'Explain why a request is refused, and which role would allow it.',
      load: async () => (await import('./access.ts')).whyDenied,
    },
    {
      name: 'not',
      summary: 'Explain what keeps an object from being deleted or ready.',
      load: async () => (await import('./not.ts')).whyNot,
    },
    {
      name: 'pending',
      summary: 'Explain why a pod is pending: what each node refuses, and what it waits for.',
      load: async () => (await import('./objects.ts')).whyPending,
    },
    {
      name: 'rejected',
      summary: 'Explain what admission does with the objects of files, and who refuses them.',
      load: async () => (await import('./rejected.ts')).whyRejected,
    },
    {
      name: 'slow',
      summary: 'Show the last requests that took long, and where their time went.',
      load: async () => (await import('./slow.ts')).whySlow,
    },
  ],
  ['plat why denied delete pods/web -n team', 'plat why allowed get nodes', 'plat why not deleted namespaces/team'],
);
