/** Fields that other managers own, and the ways out, in words. */
import { jsonText } from '@plat-dev/lib/json-text';
import type { FieldConflict } from '@plat-dev/patch/owners';
import { type Paint, plain } from '../output/colours.ts';
import { printable } from '../output/print-table.ts';
import { ownerText } from '../owners/owner-text.ts';
import { noFlags, type RepeatedFlags, sameCaller } from '../terminal/repeated-flags.ts';
import { shellWord } from '../terminal/shell-word.ts';

export interface ObjectConflicts {
  /** `deployment.apps/web`. */
  readonly object: string;
  readonly namespace?: string;
  readonly conflicts: readonly FieldConflict[];
}

/** Values are cut at so many characters. */
const MOST_VALUE = 60;

interface Telling {
  /** Who applies. */
  readonly manager: string;
  readonly files: string;
  readonly flags?: RepeatedFlags | undefined;
}
export function conflictsText({ object, namespace, conflicts }: ObjectConflicts, telling: Telling, paint: Paint = plain): string {
  const { manager } = telling;
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

function waysOut({ object, namespace, conflicts }: ObjectConflicts, { manager, files, flags = noFlags }: Telling): string[] {
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
