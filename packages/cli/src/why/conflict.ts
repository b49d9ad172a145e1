/** `plat why conflict`: the fields of files that other managers own, field by field, and the ways out. */
import { choice } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import { ApiError, type StatusCause } from '@plat-dev/meta/errors';
import type { ManagedFields } from '@plat-dev/patch';
import { conflictingOwner, type OwnedField, ownedFields } from '@plat-dev/patch/owners';
import { conflictWithOthers } from '../apply/field-ownership.ts';
import { command } from '../command.ts';
import { masked } from '../get/mask-secret.ts';
import { type Paint, paintFor } from '../output/colours.ts';
import { isApplyConflict } from '../output/conflicts.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { printable } from '../output/print-table.ts';
import { ownerText } from '../owners/owner-text.ts';
import { fieldManager } from '../program.ts';
import { noFlags, type RepeatedFlags, sameCaller } from '../terminal/repeated-flags.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { checkFiles, type ExplainedObject, explainedFileFlags, explainedObjects, fileArguments } from './explained-files.ts';

export const whyConflict = command({
  usage: '-f FILE|DIR|URL|- | -k DIR [flags]',
  summary: 'Explain which fields of files other managers own, and the ways out.',
  flags: { ...explainedFileFlags, Printing: { output: choice('text', ['text', 'json'], 'Output format.', { short: 'o' }) } },
  more: `
The objects are applied as a dry run: nothing is stored. Values of secrets are not shown.

Examples:
  plat why conflict -f web.yaml
  plat why conflict -f web.yaml --field-manager ci
  plat why conflict -k overlays/test -o json

Exit codes:
  0   there are conflicts, and they are explained
  1   there are none, or the question failed
  2   the command line is wrong
`,
  async run({ options, args }, io) {
    checkFiles('why conflict', args, options);
    const manager = fieldManager(io, 'apply --server-side', options.fieldManager);
    return withServer(options, io, async (work) => {
      const explanations: ObjectConflicts[] = [];
      for (const target of await explainedObjects(work, options)) explanations.push(await conflictsOf(work, target, manager));
      const paint = paintFor(io);
      if (options.output === 'json') io.out(`${jsonText({ objects: explanations }, 4)}\n`);
      else
        for (const one of explanations)
          io.out(textOf(one, { manager, files: fileArguments(options), flags: io.repeatedFlags ?? noFlags, paint }));
      return explanations.some(({ conflicts }) => conflicts.length > 0) ? 0 : 1;
    });
  },
});

interface FieldConflict {
  readonly field: string;
  readonly manager: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly since?: string;
  readonly current?: unknown;
  readonly wanted?: unknown;
}
interface ObjectConflicts {
  readonly object: string;
  readonly namespace?: string;
  readonly conflicts: readonly FieldConflict[];
}

async function conflictsOf(work: Work, { ref, object }: ExplainedObject, manager: string): Promise<ObjectConflicts> {
  const about = { object: shownName(ref.resource, ref.name), ...(ref.namespace !== undefined && { namespace: ref.namespace }) };
  const query = { fieldManager: manager, dryRun: 'All' };
  const answer = work.send(ref, { method: 'PATCH', body: object, contentType: 'application/apply-patch+yaml', query });
  const error: unknown = await answer.then(
    () => undefined,
    (refusal: unknown) => refusal,
  );
  if (error !== undefined && !isApplyConflict(error)) throw error;
  const conflict = error === undefined ? undefined : conflictWithOthers(error, manager);
  if (conflict === undefined) return { ...about, conflicts: [] };
  const existing = await work.get(ref).catch((refusal: unknown) => {
    // Who may apply but not read still learns the names of fields and managers from the conflict.
    if (refusal instanceof ApiError) return undefined;
    throw refusal;
  });
  return { ...about, conflicts: fieldConflicts(conflict.details?.causes ?? [], existing, object as unknown as ApiItem) };
}

function fieldConflicts(causes: readonly StatusCause[], existing: ApiItem | undefined, wanted: ApiItem): FieldConflict[] {
  const entries = existing?.metadata?.managedFields as ManagedFields | undefined;
  const fieldsIn = (object: ApiItem | undefined): Map<string, OwnedField> =>
    new Map(ownedFields(entries, (object ?? {}) as Record<string, unknown>).map((owned) => [owned.field, owned]));
  const [maskedExisting, maskedWanted] = masked(existing, wanted);
  const [currentFields, wantedFields] = [fieldsIn(maskedExisting), fieldsIn(maskedWanted)];
  return causes.map(({ field = '', message = '' }) => {
    const current = currentFields.get(field);
    const owner = current && conflictingOwner(current, message);
    return {
      field,
      manager: owner?.name ?? message.replace(/^conflict with /, ''),
      ...(owner && { operation: owner.operation }),
      ...(owner && owner.subresource !== '' && { subresource: owner.subresource }),
      ...(owner?.time !== undefined && { since: owner.time }),
      ...(current && { current: current.value }),
      ...(wantedFields.has(field) && { wanted: wantedFields.get(field)?.value }),
    };
  });
}

// ---- text --------------------------------------------------------------------------------------------------------

/** Values are cut at so many characters. */
const MOST_VALUE = 60;

interface Telling {
  /** Who applies. */
  readonly manager: string;
  readonly files: string;
  readonly flags: RepeatedFlags;
  readonly paint: Paint;
}
function textOf({ object, namespace, conflicts }: ObjectConflicts, telling: Telling): string {
  const { manager, paint } = telling;
  if (conflicts.length === 0) return `${object}: no conflict for ${printable(manager)}\n`;
  const lines = [
    `${object}: ${conflicts.length === 1 ? '1 field has' : `${conflicts.length} fields have`} another owner than ${printable(manager)}`,
    '',
  ];
  for (const conflict of conflicts) {
    const { field, operation = '', subresource = '', since, current, wanted } = conflict;
    const owner =
      operation === '' ? printable(conflict.manager) : ownerText({ name: conflict.manager, operation, subresource, time: since });
    lines.push(`  ${paint(printable(field), 'bold')}`, `    owner:  ${owner}`);
    if (current !== undefined) lines.push(`    now:    ${paint(valueText(current), 'red')}`);
    if (wanted !== undefined) lines.push(`    wanted: ${paint(valueText(wanted), 'green')}`);
  }
  return `${[...lines, '', ...waysOut({ object, ...(namespace !== undefined && { namespace }), conflicts }, telling)].join('\n')}\n`;
}
function valueText(value: unknown): string {
  const text = printable(jsonText(value));
  return text.length > MOST_VALUE ? `${text.slice(0, MOST_VALUE)}…` : text;
}

function waysOut({ object, namespace, conflicts }: ObjectConflicts, { manager, files, flags }: Telling): string[] {
  const managers = [...new Set(conflicts.map((conflict) => conflict.manager))];
  const caller = sameCaller(flags);
  const place = `${namespace === undefined ? '' : ` -n ${namespace}`}${caller}`;
  const fieldsOf = (name: string): string =>
    conflicts
      .filter((conflict) => conflict.manager === name)
      .map(({ field }) => shellWord(field))
      .join(' ');
  const asManager = manager === 'plat' ? '' : ` --field-manager ${shellWord(manager)}`;
  const lines = [
    'Ways out:',
    '  Leave the fields to their owners: remove them from the file, or give them the value that they have now.',
    '  Take them, with the values of the file:',
    `    plat apply ${files} --force-conflicts${asManager}${flags.namespace}${caller}`,
    '  Let their owners give them up, and apply again:',
    ...managers.map((name) => `    plat owners release ${object} ${fieldsOf(name)} --manager ${shellWord(name)}${place}`),
    `  If an owner is an earlier name of ${printable(manager)}, give all of its fields the new one:`,
    ...managers.map((name) => `    plat owners rename ${object} ${shellWord(name)} ${shellWord(manager)} --as-apply${place}`),
  ];
  return lines.map(printable);
}
