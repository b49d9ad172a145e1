/** `plat set`: changes single fields of objects. */
import { commandGroup } from '../command-group.ts';

export const set = commandGroup(
  'set',
  'Set images, variables, resources and other fields of objects.',
  [
    { name: 'env', summary: 'Set, remove or list environment variables of containers.', load: async () => (await import('./env.ts')).env },
    { name: 'image', summary: 'Set the images of containers.', load: async () => (await import('./image.ts')).image },
    { name: 'resources', summary: 'Set requests and limits of containers.', load: async () => (await import('./resources.ts')).resources },
    { name: 'selector', summary: 'Set the selector of a service.', load: async () => (await import('./selector.ts')).selector },
    {
      name: 'serviceaccount',
      aliases: ['sa'],
      summary: 'Set the service account of pods.',
      load: async () => (await import('./serviceaccount.ts')).serviceAccount,
    },
    { name: 'subject', summary: 'Add subjects to role bindings.', load: async () => (await import('./subject.ts')).subject },
  ],
  [
    'plat set image deployment/web main=web:1.2',
    'plat set env deployment/web LEVEL=debug',
    'plat set resources deployment/web --limits=cpu=200m,memory=512Mi',
  ],
);
