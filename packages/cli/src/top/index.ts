/** `plat top`: the usage of nodes and pods. */
import { commandGroup } from '../command-group.ts';

export const top = commandGroup(
  'top',
  'Show the processor and memory usage of nodes and pods.',
  [
    {
      name: 'node',
      aliases: ['nodes', 'no'],
      summary: 'Show the usage of nodes.',
      load: async () => (await import('./nodes.ts')).topNodes,
    },
    { name: 'pod', aliases: ['pods', 'po'], summary: 'Show the usage of pods.', load: async () => (await import('./pods.ts')).topPods },
  ],
  ['plat top node', 'plat top pod -A --sort-by=memory', 'plat top pod web --containers'],
);
