/** `plat top node`: the usage of nodes, and how much of them it is. */
import { bool, choice, FlagError } from '@plat-dev/lib/flags';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { selectFlags } from '../objects/object-flags.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { type Work, withServer } from '../work.ts';
import { type NodeMetrics, readMetrics, type Usage } from './usage.ts';
import { nodeTable } from './usage-table.ts';

/** Flags that both tables have. */
export const usageFlags = {
  'sort-by': choice('', ['', 'cpu', 'memory'], 'Sort by usage, the largest first; by name if empty.', { value: 'cpu|memory' }),
  'no-headers': bool(false, 'Do not print the headers.'),
  'use-protocol-buffers': bool(true, 'Request the binary form from the metrics API.', { defaultText: 'true' }),
};
const table = {
  Nodes: { selector: selectFlags.selector },
  Printing: { ...usageFlags, 'show-capacity': bool(false, 'Compare with the capacity of nodes instead of what pods can use of them.') },
  Connecting: connectFlags,
};

interface Node extends ApiItem {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly allocatable?: Usage; readonly capacity?: Usage };
}

export const topNodes = command({
  usage: '[NAME | -l QUERY] [flags]',
  summary: 'Show the processor and memory usage of nodes.',
  flags: table,
  more: `
The metrics API must be there: a metrics server registers it.

Examples:
  plat top node
  plat top node node1 --show-capacity
  plat top node -l zone=east --sort-by=memory

Exit codes:
  0   the usage was printed
  1   there is no metrics API, no such node, or there are no metrics yet
  2   the command line is wrong
`,
  async run({ options, args }, io) {
    const [name, more] = args;
    if (more !== undefined) throw new FlagError(`too many arguments: ${JSON.stringify(more)}`);
    if (name !== undefined && options.selector !== '') throw new FlagError('only one of NAME or --selector can be provided');
    return withServer(options, io, async (work) => {
      const { selector: labelSelector, useProtocolBuffers: binary, sortBy, noHeaders, showCapacity } = options;
      const metrics = await readMetrics<NodeMetrics>(work, { of: 'nodes', name, labelSelector, binary });
      if (metrics.length === 0) throw new Error('metrics not available yet');
      const available = new Map<string, Usage>();
      for (const { metadata, status } of await nodesOf(work, name, labelSelector))
        available.set(metadata.name, (showCapacity ? status?.capacity : status?.allocatable) ?? {});
      io.out(nodeTable(metrics, available, { sortBy, headers: !noHeaders }));
      return 0;
    });
  },
});

async function nodesOf(work: Work, name: string | undefined, labelSelector: string): Promise<readonly Node[]> {
  const resource = await work.discovery.find('nodes');
  if (name !== undefined) return [await work.get<Node>({ resource, namespace: undefined, name })];
  const { object } = await work.sendTo<{ items?: Node[] }>(resource, undefined, { method: 'GET', query: { labelSelector } });
  return object.items ?? [];
}
