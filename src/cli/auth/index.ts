/** `plat auth`: what the server takes the caller for, and what it lets the caller do. */
import { commandGroup } from '../command-group.ts';

export const auth = commandGroup('auth', 'Who you are to the server, and what you may do.', [
  { name: 'can-i', summary: 'Tell whether something is allowed.', load: async () => (await import('./can-i.ts')).canI },
  { name: 'whoami', summary: 'Show who the server takes you for.', load: async () => (await import('./whoami.ts')).whoami },
]);
