/** `plat top pod`: the usage of pods and their containers. */
import { bool, FlagError, type FlagValues } from '@plat-dev/lib/flags';
import { formatDuration, timeMillis } from '@plat-dev/lib/time';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { namespaceFlag, selectFlags } from '../objects/object-flags.ts';
import { type Work, withServer } from '../work.ts';
import { usageFlags } from './nodes.ts';
import { type PodMetrics, readMetrics } from './usage.ts';
import { podTable } from './usage-table.ts';

const table = {
  Pods: {
    namespace: namespaceFlag,
    'all-namespaces': bool(false, 'In all namespaces.', { short: 'A' }),
    selector: selectFlags.selector,
    'field-selector': selectFlags['field-selector'],
  },
  Printing: { ...usageFlags, containers: bool(false, 'Show each container.') },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

/** A pod without metrics after this time has a problem; before it, they may be on their way. */
const METRICS_DELAY_MS = 2 * 60_000;

export const topPods = command({
  usage: '[NAME | -l QUERY] [flags]',
  summary: 'Show the processor and memory usage of pods.',
  flags: table,
  more: `
The metrics API must be there: a metrics server registers it. Metrics of a new pod come a few minutes after its start.

Examples:
  plat top pod
  plat top pod web --containers
  plat top pod -A -l app=web --sort-by=cpu

Exit codes:
  0   the usage was printed, or there are no such pods
  1   there is no metrics API, no such pod, or there are no metrics yet
  2   the command line is wrong
`,
  async run({ options, args }, io) {
    const [name, more] = args;
    if (more !== undefined) throw new FlagError(`too many arguments: ${JSON.stringify(more)}`);
    if (name !== undefined && (options.selector !== '' || options.fieldSelector !== ''))
      throw new FlagError('only one of NAME or selector can be provided');
    if (name !== undefined && options.allNamespaces) throw new FlagError('a pod cannot be named in all namespaces: choose one with -n');
    return withServer(options, io, (work) => show(work, name, options));
  },
});

async function show(work: Work, name: string | undefined, options: Options): Promise<number> {
  const { selector: labelSelector, fieldSelector, allNamespaces, useProtocolBuffers: binary } = options;
  const namespace = allNamespaces ? undefined : work.namespace;
  const metrics = await readMetrics<PodMetrics>(work, { of: 'pods', namespace, name, labelSelector, fieldSelector, binary });
  if (metrics.length === 0) {
    await checkMissing(work, labelSelector, fieldSelector);
    work.io.err(allNamespaces ? 'No resources found\n' : `No resources found in ${work.namespace} namespace.\n`);
    return 0;
  }
  const { sortBy, noHeaders, containers } = options;
  work.io.out(podTable(metrics, { sortBy, headers: !noHeaders, namespaces: allNamespaces, containers }));
  return 0;
}

/** Throws if there are pods, but no metrics of them. */
async function checkMissing(work: Work, labelSelector: string, fieldSelector: string): Promise<void> {
  const resource = await work.discovery.find('pods');
  const { object } = await work.sendTo<{ items?: { metadata: { name: string; namespace: string; creationTimestamp: string } }[] }>(
    resource,
    work.namespace,
    { method: 'GET', query: { labelSelector, fieldSelector } },
  );
  const pods = object.items ?? [];
  if (pods.length === 0) return;
  for (const { metadata } of pods) {
    const age = work.io.clock.now() - timeMillis(metadata.creationTimestamp);
    if (age > METRICS_DELAY_MS) {
      const ageText = formatDuration(BigInt(Math.trunc(age)) * 1_000_000n);
      throw new Error(`Metrics not available for pod ${metadata.namespace}/${metadata.name}, age: ${ageText}`);
    }
  }
  throw new Error('metrics not available yet');
}
