/** `plat config`: the client configuration, read and changed. */
import type { CommandEntry } from '../command.ts';
import { commandGroup } from '../command-group.ts';

const contexts = () => import('./contexts.ts');
const entries = () => import('./entries.ts');

const commands: readonly CommandEntry[] = [
  { name: 'current-context', summary: 'Show the name of the current context.', load: async () => (await contexts()).currentContext },
  { name: 'delete-cluster', summary: 'Remove a cluster.', load: async () => (await entries()).remover('clusters') },
  { name: 'delete-context', summary: 'Remove a context.', load: async () => (await entries()).remover('contexts') },
  { name: 'delete-user', summary: 'Remove a user.', load: async () => (await entries()).remover('users') },
  { name: 'get-clusters', summary: 'List the clusters.', load: async () => (await entries()).lister('clusters') },
  { name: 'get-contexts', summary: 'List the contexts.', load: async () => (await contexts()).getContexts },
  { name: 'get-users', summary: 'List the users.', load: async () => (await entries()).lister('users') },
  { name: 'rename-context', summary: 'Rename a context.', load: async () => (await contexts()).renameContext },
  { name: 'set', summary: 'Set one value.', load: async () => (await import('./property.ts')).set },
  { name: 'set-cluster', summary: 'Create or update a cluster.', load: async () => (await entries()).setCluster },
  { name: 'set-context', summary: 'Create or update a context.', load: async () => (await contexts()).setContext },
  { name: 'set-credentials', summary: 'Create or update a user.', load: async () => (await entries()).setCredentials },
  { name: 'unset', summary: 'Remove a value.', load: async () => (await import('./property.ts')).unset },
  { name: 'use-context', aliases: ['use'], summary: 'Set the current context.', load: async () => (await contexts()).useContext },
  { name: 'view', summary: 'Show the configuration, without its secrets.', load: async () => (await import('./view.ts')).view },
];

export const config = commandGroup('config', 'Show and change the client configuration: clusters, users and contexts.', commands, [
  'plat config get-contexts',
  'plat config use-context plat-dev',
  'plat config set-context --current --namespace=team',
  'plat config view --minify',
]);
