/** `plat auth`: the caller's identity and permissions. */
import { commandGroup } from '../command-group.ts';

export const auth = commandGroup(
  'auth',
  'Show your identity and permissions, and reconcile roles and bindings.',
  [
    { name: 'can-i', summary: 'Check whether an action is allowed.', load: async () => (await import('./can-i.ts')).canI },
    {
      name: 'reconcile',
      summary: 'Add missing permissions and subjects to roles and bindings.',
      load: async () => (await import('./reconcile.ts')).reconcile,
    },
    { name: 'whoami', summary: 'Show your user name and groups.', load: async () => (await import('./whoami.ts')).whoami },
  ],
  [
    'plat auth whoami',
    'plat auth can-i create deployments -n team',
    'plat auth can-i --list --as=ann',
    'plat auth reconcile -f roles.yaml',
  ],
);
