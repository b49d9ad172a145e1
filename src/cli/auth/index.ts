/** `plat auth`: the caller's identity and permissions. */
import { commandGroup } from '../command-group.ts';

export const auth = commandGroup('auth', 'Show your identity and permissions.', [
  { name: 'can-i', summary: 'Check whether an action is allowed.', load: async () => (await import('./can-i.ts')).canI },
  { name: 'whoami', summary: 'Show your user name and groups.', load: async () => (await import('./whoami.ts')).whoami },
]);
