/** `plat cordon` and `plat uncordon`: mark nodes as unschedulable or schedulable. */
import { FlagError, type FlagValues } from '@plat-dev/lib/flags';
import { type Command, command, type IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { dryRunFlag, selectFlags } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { findTargets } from '../objects/targets.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { Results } from '../output/results.ts';
import { isStock } from '../program.ts';
import { type Work, withServer } from '../work.ts';

const table = {
  Nodes: { selector: selectFlags.selector },
  Changing: { 'dry-run': dryRunFlag },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

export interface Node extends ApiItem {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly unschedulable?: boolean };
}
export interface FoundNode {
  readonly ref: ObjectRef;
  readonly node: Node;
}

const commandOf = (name: 'cordon' | 'uncordon', unschedulable: boolean): Command =>
  command({
    usage: 'NODE… | -l QUERY [flags]',
    summary: `Mark nodes as ${unschedulable ? 'unschedulable' : 'schedulable'}.`,
    flags: table,
    more: `
Examples:
  plat ${name} node1
  plat ${name} node1 node2 --dry-run=server
  plat ${name} -l zone=east

Exit codes:
  0   all nodes are marked
  1   some failed
  2   the command line is wrong
`,
    async run({ options, givenFlags, args }, io) {
      checkNodes(name, args, options.selector, givenFlags.has('selector'), io);
      return withServer(options, io, async (work) => {
        const nodes = await findNodes(work, args, options.selector);
        const results = new Results(io, { ...options, output: '', showManagedFields: false });
        await cordonNodes(work, nodes, unschedulable, options, results);
        return results.end();
      });
    },
  });
export const cordon = commandOf('cordon', true);
export const uncordon = commandOf('uncordon', false);

/** Checks the arguments before any request. */
export function checkNodes(name: string, args: readonly string[], selector: string, isSelecting: boolean, io: IO): void {
  if (args.length === 0 && selector === '' && isStock(io)) {
    throw new FlagError(isSelecting ? 'must provide one or more resources by argument or filename' : `USAGE: ${name} NODE [flags]`);
  }
  if (args.length === 0 && selector === '') throw new FlagError(`node missing. For example: plat ${name} node1, plat ${name} -l zone=east`);
  if (args.length > 0 && selector !== '') throw new FlagError('cannot specify both a node name and a --selector option');
}

/** The nodes of a command line: `node1`, `node/node1`. Throws for one that does not exist. */
export async function findNodes(work: Work, args: readonly string[], selector: string, chunkSize?: number): Promise<FoundNode[]> {
  const names = args.map((word) => word.replace(/^nodes?\//, ''));
  const wrong = names.find((name) => name.includes('/'));
  if (wrong !== undefined) throw new FlagError(`${JSON.stringify(wrong)} is not a node`);
  const options = { filename: [], recursive: false, namespace: undefined, selector, ...(chunkSize !== undefined && { chunkSize }) };
  const nodes: FoundNode[] = [];
  for (const ref of await findTargets(work, ['nodes', ...names], options)) nodes.push({ ref, node: await work.getNamed<Node>(ref) });
  return nodes;
}

/** Failures of single nodes are reported, and the others go on. */
export async function cordonNodes(
  work: Work,
  nodes: readonly FoundNode[],
  unschedulable: boolean,
  { dryRun }: Pick<Options, 'dryRun'>,
  results: Results,
): Promise<void> {
  const verb = unschedulable ? 'cordoned' : 'uncordoned';
  for (const { ref, node } of nodes) {
    try {
      const isAlready = (node.spec?.unschedulable ?? false) === unschedulable;
      if (!isAlready && dryRun !== 'client') {
        await work.send(ref, {
          method: 'PATCH',
          contentType: 'application/strategic-merge-patch+json',
          // Servers leave false out: null removes the field.
          body: { spec: { unschedulable: unschedulable ? true : null } },
          query: { dryRun: dryRun === 'server' ? 'All' : undefined },
        });
      }
      results.done(ref, isAlready ? `already ${verb}` : verb, node);
    } catch (error) {
      const during = `unable to ${unschedulable ? 'cordon' : 'uncordon'} node ${JSON.stringify(ref.name)}`;
      results.failed(during, error, during);
    }
  }
}
