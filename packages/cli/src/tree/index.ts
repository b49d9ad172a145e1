/** `plat tree`: the owners of an object above it, its dependents and what belongs to it below, with their state. */

import { bool, choice, FlagError } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import { ageAt } from '@plat-dev/meta/age';
import { apiVersionOf } from '@plat-dev/meta/api-version';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { oneTarget } from '../get/arguments.ts';
import { namespaceFlag } from '../objects/object-flags.ts';
import { type Paint, paintFor } from '../output/colours.ts';
import { page } from '../output/pager.ts';
import { TablePrinter } from '../output/print-table.ts';
import { withServer } from '../work.ts';
import { growTree } from './graph.ts';
import type { Tree, TreeNode } from './node.ts';

const table = {
  Selecting: {
    namespace: namespaceFlag,
    'all-namespaces': bool(false, 'Look for dependents of an object without namespace in all namespaces.', { short: 'A' }),
  },
  Printing: { output: choice('tree', ['tree', 'json'], 'Output format.', { short: 'o' }) },
  Connecting: connectFlags,
};

export const tree = command({
  usage: 'TYPE/NAME | TYPE NAME [flags]',
  summary: 'Show the owners and dependents of an object, with their state.',
  flags: table,
  more: `
Dependents are found by their owner references, in every resource of the namespace that can be listed. Objects that belong
together in another way are in the tree, too; the column VIA says by which field: the endpoints and pods of a service, the
services of an ingress, the target of an autoscaler, claims and volumes, the roles and accounts of a binding.

Examples:
  plat tree deployment/web       its replica sets, their pods, the claims of these
  plat tree service web          its endpoints and pods, and the ingresses that lead to it
  plat tree clusterrole/view -A  the bindings of all namespaces that grant it
`,
  async run({ options, args }, io) {
    const { type, name } = oneTarget('tree', args);
    return withServer(options, io, async (work) => {
      const resource = await work.discovery.find(type);
      if (options.allNamespaces && resource.namespaced)
        throw new FlagError(`-A is for objects without namespace: the dependents of ${type}/${name} are in its own`);
      const ref = { resource, namespace: resource.namespaced ? work.namespace : undefined, name };
      const grown = await growTree(work, ref, options.allNamespaces);
      if (options.output === 'json') io.out(`${jsonText(jsonOf(grown), 4)}\n`);
      else {
        await page(io, printed(grown, io.clock.now(), paintFor(io)));
        for (const note of grown.notes) io.err(`note: ${note}\n`);
      }
      return 0;
    });
  },
});

// ---- tables ------------------------------------------------------------------------------------------------------

interface Row {
  readonly label: string;
  readonly node: TreeNode;
  readonly note?: string;
}
const columns = ['Object', 'Ready', 'Status', 'Age', 'Via'].map((name) => ({ name }));

export function printed({ root, referencedBy }: Tree, now: number, paint: Paint): string {
  const rows: Row[] = [];
  const below = ownersAbove(root, rows);
  addRows(root, below.first, below.rest, rows);
  const printer = new TablePrinter({ wide: true, headers: true, paint });
  const cells = ({ label, node, note }: Row): { cells: string[] } => ({
    cells: [
      label,
      node.summary.ready,
      [node.summary.status, node.note ?? note].filter((text) => text !== undefined && text !== '').join(', '),
      node.created === undefined ? '' : ageAt(now, node.created),
      node.via ?? '',
    ],
  });
  const all = [...rows.map(cells), ...referencedBy.map((node) => cells({ label: `<- ${labelOf(node, root)}`, node }))];
  return printer.print(columns, all).replace(/ +$/gm, '');
}

/** The first owner of each, from the top; others are named in its status. Answers what the lines of the root begin with. */
function ownersAbove(root: TreeNode, rows: Row[]): { first: string; rest: string } {
  const chain: TreeNode[] = [];
  for (let node = root; node.owners[0] !== undefined; node = node.owners[0]) chain.unshift(node.owners[0]);
  chain.forEach((node, i) => {
    rows.push({ label: `${i === 0 ? '' : `${'  '.repeat(i - 1)}└─`}${labelOf(node, root)}`, node, ...alsoOwnedBy(node) });
  });
  const depth = chain.length;
  return depth === 0 ? { first: '', rest: '' } : { first: `${'  '.repeat(depth - 1)}└─`, rest: '  '.repeat(depth) };
}
const alsoOwnedBy = ({ owners }: TreeNode): { note?: string } =>
  owners.length < 2
    ? {}
    : {
        note: `also owned by ${owners
          .slice(1)
          .map(({ resource, name }) => `${resource.kind}/${name}`)
          .join(', ')}`,
      };

function addRows(node: TreeNode, first: string, rest: string, rows: Row[], root = node): void {
  rows.push({ label: `${first}${labelOf(node, root)}`, node, ...alsoOwnedBy(node) });
  node.dependents.forEach((child, i) => {
    const last = i === node.dependents.length - 1;
    addRows(child, `${rest}${last ? '└─' : '├─'}`, `${rest}${last ? '  ' : '│ '}`, rows, root);
  });
}
/** `Pod/web-1`, with its namespace if that is another one than that of the root. */
const labelOf = ({ resource, namespace, name }: TreeNode, root: TreeNode): string =>
  `${resource.kind}/${name}${namespace === undefined || namespace === root.namespace ? '' : ` (${namespace})`}`;

// ---- JSON --------------------------------------------------------------------------------------------------------

const jsonOf = ({ root, referencedBy, notes }: Tree): object => ({
  ...nodeJson(root),
  owners: root.owners.map(ownerJson),
  referencedBy: referencedBy.map(nodeJson),
  notes,
});
function nodeJson(node: TreeNode): object {
  const { resource, namespace, name, uid, created, summary, via, note, dependents } = node;
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    ...(namespace !== undefined && { namespace }),
    name,
    uid,
    ...(created !== undefined && { creationTimestamp: created }),
    ...(summary.ready !== '' && { ready: summary.ready }),
    ...(summary.status !== '' && { status: summary.status }),
    ...(via !== undefined && { via }),
    ...(note !== undefined && { note }),
    dependents: dependents.map(nodeJson),
  };
}
const ownerJson = (node: TreeNode): object => ({ ...nodeJson(node), owners: node.owners.map(ownerJson) });
