/** `plat owners take`, `release` and `rename`: repairs of field ownership, by ordinary patches of metadata.managedFields. */
import { bool, choice, FlagError, type FlagTable, type FlagValues, text } from '@plat-dev/lib/flags';
import type { ManagedFields, ManagedFieldsEntry } from '@plat-dev/patch';
import { type OwnershipChange, ownershipChanges, releaseFields, renameManager, takeFields } from '@plat-dev/patch/repair-owners';
import { type Command, command, type IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { oneTarget } from '../get/arguments.ts';
import { dryRunFlag, namespaceFlag } from '../objects/object-flags.ts';
import { type Paint, paintFor } from '../output/colours.ts';
import { printable } from '../output/print-table.ts';
import { isConfirmed } from '../terminal/question.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { ownerText } from './owner-text.ts';

const managerFlag = text('', 'Field manager that the command is about.', { value: 'NAME' });
const operations = ['Apply', 'Update'] as const;
const common = {
  Changing: {
    namespace: namespaceFlag,
    'dry-run': dryRunFlag,
    yes: bool(false, 'Change without a question.', { short: 'y' }),
  },
  Connecting: connectFlags,
};
type CommonOptions = FlagValues<typeof common>;

const notes = `
The values of the fields stay as they are. What changes is shown first, and on a terminal you are asked; scripts add --yes.

Exit codes:
  0   ownership was changed, or is as wanted already
  1   it was not changed
  2   the command line is wrong
`;

const takeTable = {
  Owner: {
    manager: managerFlag,
    operation: choice('Apply', operations, 'How the manager owns the fields.'),
    subresource: text('', 'Subresource through which it owns them: status, scale.', { value: 'NAME' }),
  },
  ...common,
};
export const take = repairCommand(
  {
    usage: 'TYPE/NAME FIELD… --manager NAME [flags]',
    summary: 'Make a manager the only owner of fields.',
    examples: [
      '.spec.replicas --manager plat',
      ".spec.template '.metadata.labels' --manager plat",
      'spec.replicas --manager hpa --operation Update',
    ],
    command: 'take',
  },
  takeTable,
  (entries, fields, { manager, operation, subresource }, io) => {
    if (manager === '') throw new FlagError('which manager takes the fields? Name it with --manager');
    if (fields.length === 0) throw new FlagError('which fields? Name them as plat owners -o json does: .spec.replicas');
    return takeFields(entries, fields, { name: manager, operation, subresource }, io.clock.now());
  },
);

const releaseTable = {
  Owner: { manager: managerFlag, operation: choice('', ['', ...operations], 'Only what it owns by this operation.') },
  ...common,
};
export const release = repairCommand(
  {
    usage: 'TYPE/NAME [FIELD…] --manager NAME [flags]',
    summary: 'Give up fields of a manager, or all that it owns.',
    examples: ['--manager old-controller', '.spec.replicas --manager plat', '--manager kubectl --operation Update'],
    command: 'release',
  },
  releaseTable,
  (entries, fields, { manager, operation }) => {
    if (manager === '') throw new FlagError('which manager gives up fields? Name it with --manager');
    return releaseFields(entries, fields, { name: manager, operation: operation === '' ? undefined : operation });
  },
);

const renameTable = {
  Owner: { 'as-apply': bool(false, 'Make the fields that the manager updated those that it applies.') },
  ...common,
};
export const rename = repairCommand(
  {
    usage: 'TYPE/NAME OLD NEW [flags]',
    summary: 'Give the fields of a manager to another name, or make updates of them applied ones.',
    examples: ['old-controller new-controller', 'kubectl-client-side-apply plat --as-apply', 'plat plat --as-apply'],
    command: 'rename',
  },
  renameTable,
  (entries, [from, to, more], { asApply }) => {
    if (from === undefined || to === undefined || more !== undefined || to === '')
      throw new FlagError('rename takes an object, the old name and the new one: plat owners rename deployment/web OLD NEW');
    return renameManager(entries, from, to, { asApply });
  },
);

interface About {
  readonly usage: string;
  readonly summary: string;
  readonly command: string;
  /** What follows the object in each example. */
  readonly examples: readonly string[];
}
/** The list of managers after the repair. Throws FlagError or OwnershipError. */
type Repair<Table extends FlagTable> = (
  entries: ManagedFields,
  args: readonly string[],
  options: FlagValues<Table>,
  io: IO,
) => ManagedFieldsEntry[];

function repairCommand<Table extends typeof common>(about: About, flags: Table, repair: Repair<Table>): Command {
  const examples = about.examples.map((rest) => `  plat owners ${about.command} deployment/web ${rest}\n`).join('');
  return command({
    usage: about.usage,
    summary: about.summary,
    flags,
    more: `\nExamples:\n${examples}${notes}`,
    async run({ options, args }, io) {
      const [object, ...rest] = args;
      const target = oneTarget(`owners ${about.command}`, object === undefined ? [] : [object]);
      const common = options as CommonOptions;
      return withServer(common, io, (work) => repairObject(work, target, common, (entries) => repair(entries, rest, options, io)));
    },
  });
}

async function repairObject(
  work: Work,
  { type, name }: ReturnType<typeof oneTarget>,
  options: CommonOptions,
  repair: (entries: ManagedFields) => ManagedFieldsEntry[],
): Promise<number> {
  const { io } = work;
  const resource = await work.discovery.find(type);
  const ref = { resource, namespace: resource.namespaced ? work.namespace : undefined, name };
  const { metadata } = await work.getNamed(ref);
  const entries = (metadata?.managedFields ?? []) as ManagedFields;
  const repaired = repair(entries);
  const changes = ownershipChanges(entries, repaired);
  const shown = shownName(resource, name);
  if (changes.length === 0) {
    io.out(`${shown}: ownership is as wanted already\n`);
    return 0;
  }
  io.out(`${shown}\n${changes.map((change) => changeText(change, paintFor(io))).join('')}`);
  if (options.dryRun === 'client') return 0;
  const isDry = options.dryRun === 'server';
  if (!(await isConfirmed(`Change the owners of ${shown}?`, { yes: options.yes || isDry }, io, work.signal))) {
    io.err('nothing was changed\n');
    return 1;
  }
  // The version in the patch makes sure that nobody has changed the object since it was shown.
  const body = [
    { op: 'replace', path: '/metadata/managedFields', value: repaired },
    { op: 'replace', path: '/metadata/resourceVersion', value: metadata?.resourceVersion },
  ];
  await work.send(ref, { method: 'PATCH', body, contentType: 'application/json-patch+json', query: { dryRun: isDry ? 'All' : undefined } });
  io.out(`${shown} ownership changed${isDry ? ' (server dry run)' : ''}\n`);
  return 0;
}

/** Fields of a manager that are listed; of more the number is shown. */
const MOST_FIELDS = 20;

function changeText({ manager, gains, loses }: OwnershipChange, paint: Paint): string {
  const part = (word: string, fields: readonly string[], colour: 'green' | 'red', mark: string): string => {
    if (fields.length === 0) return '';
    const listed = fields.slice(0, MOST_FIELDS).map((field) => `    ${paint(`${mark} ${printable(field)}`, colour)}\n`);
    const rest = fields.length > MOST_FIELDS ? `    and ${fields.length - MOST_FIELDS} more\n` : '';
    return `  ${ownerText(manager)} ${word}\n${listed.join('')}${rest}`;
  };
  return part('loses', loses, 'red', '-') + part('gains', gains, 'green', '+');
}
