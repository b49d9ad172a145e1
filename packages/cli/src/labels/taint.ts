/** `plat taint`: adds, changes and removes taints of nodes. */
import { bool, FlagError, type FlagValues, text } from '@plat-dev/lib/flags';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { dryRunFlag, resultFlags, selectFlags, validateFlag } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { findTargets } from '../objects/targets.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { Results } from '../output/results.ts';
import { fieldManager, isStock } from '../program.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { changedTaints, readTaintArguments, type Taint, type TaintArguments } from './taint-args.ts';

const table = {
  Nodes: { selector: selectFlags.selector, all: bool(false, 'All nodes.') },
  Changing: {
    overwrite: bool(false, 'Replace taints that have the same key and effect.'),
    'field-manager': text('', 'Field manager for the changed fields.', {
      value: 'NAME',
      defaultText: 'kubectl-taint as kubectl, else plat',
    }),
    validate: validateFlag,
    'dry-run': dryRunFlag,
  },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

interface Node extends ApiItem {
  readonly spec?: { readonly taints?: readonly Taint[] };
}

export const taint = command({
  usage: 'node NAME… | node -l QUERY | node --all  KEY[=VALUE]:EFFECT… | KEY[:EFFECT]-… [flags]',
  summary: 'Add, change and remove taints of nodes.',
  flags: table,
  more: `
An effect is NoSchedule, PreferNoSchedule or NoExecute. A dash at the end removes the taint with that effect, or without an
effect all taints with the key.

Examples:
  plat taint nodes node1 dedicated=team:NoSchedule
  plat taint nodes node1 dedicated:NoSchedule-
  plat taint node -l zone=east maintenance:NoExecute --overwrite

Exit codes:
  0   all nodes were changed
  1   some failed
  2   the command line is wrong
`,
  async run({ options, args }, io) {
    const taintArgs = readTaintArguments(args);
    if (options.all && options.selector !== '') throw new FlagError("setting 'all' parameter with a non empty selector is prohibited");
    if (!options.all && options.selector === '' && taintArgs.nodes.length < 2 && !taintArgs.nodes[0]?.includes('/'))
      throw new FlagError("at least one resource name must be specified since 'all' parameter is not set");
    return withServer(options, io, (work) => taintAll(work, taintArgs, options));
  },
});

async function taintAll(work: Work, taintArgs: TaintArguments, options: Options): Promise<number> {
  const byName = !options.all && options.selector === '';
  const words = byName ? taintArgs.nodes : taintArgs.nodes.slice(0, 1);
  const refs = await findTargets(work, words, { filename: [], recursive: false, namespace: undefined, selector: options.selector });
  const [type = ''] = words[0]?.split('/') ?? [];
  const resource = refs[0]?.resource ?? (await work.discovery.find(type));
  if (resource.kind !== 'Node' || resource.group !== '')
    throw new FlagError(`invalid resource type ${type}, only node types are supported`);
  // The stock client prints the same line for a dry run.
  const results = new Results(work.io, isStock(work.io) ? { ...options, dryRun: 'none' } : options);
  for (const ref of refs) {
    try {
      const { verb, object } = await taintOne(work, ref, taintArgs, options);
      results.done(ref, verb, object);
    } catch (error) {
      results.failed(shownName(ref.resource, ref.name), error);
    }
  }
  return results.end();
}

async function taintOne(work: Work, ref: ObjectRef, taintArgs: TaintArguments, options: Options): Promise<{ verb: string; object: Node }> {
  const node = await work.getNamed<Node>(ref);
  const { taints, verb } = changedTaints(ref.name, node.spec?.taints ?? [], taintArgs, options.overwrite);
  const spec = { taints: taints.length === 0 ? null : taints };
  if (options.dryRun === 'client') return { verb, object: { ...node, spec: { ...node.spec, taints } } };
  const { object } = await work.send<Node>(ref, {
    method: 'PATCH',
    contentType: 'application/merge-patch+json',
    // The list is replaced as a whole: it must be the one that was read.
    body: { metadata: { resourceVersion: node.metadata?.resourceVersion }, spec },
    query: {
      fieldManager: fieldManager(work.io, 'taint', options.fieldManager),
      fieldValidation: options.validate,
      dryRun: options.dryRun === 'server' ? 'All' : undefined,
    },
  });
  return { verb, object };
}
