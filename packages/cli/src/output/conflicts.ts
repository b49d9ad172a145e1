/** Conflicts of server-side apply, formatted for the terminal. */
import { ApiError } from '@plat-dev/meta/errors';
import type { IO } from '../command.ts';
import { noFlags, sameCaller } from '../terminal/repeated-flags.ts';
import { printable } from './print-table.ts';

export const isApplyConflict = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === 409 && (error.details?.causes?.some((c) => c.reason === 'FieldManagerConflict') ?? false);

/**
 *   2 fields are owned by other managers:
 *     "scaler" using apps/v1
 *       .spec.replicas
 */
export function conflictText(error: ApiError, { repeatedFlags = noFlags }: Pick<IO, 'repeatedFlags'>): string {
  const byManager = new Map<string, string[]>();
  let count = 0;
  for (const { reason, message = '', field = '' } of error.details?.causes ?? []) {
    if (reason !== 'FieldManagerConflict') continue;
    const manager = printable(message.replace(/^conflict with /, ''));
    const fields = byManager.get(manager) ?? [];
    fields.push(printable(field));
    byManager.set(manager, fields);
    count++;
  }
  const lines = [...byManager].flatMap(([manager, fields]) => [`  ${manager}`, ...fields.map((field) => `    ${field}`)]);
  return `${count === 1 ? '1 field is' : `${count} fields are`} owned by other managers:
${lines.join('\n')}
Remove ${count === 1 ? 'it' : 'them'} from the file to leave ownership as it is, set ${count === 1 ? 'its current value' : 'their current values'} to share ownership,
or take ownership with --force-conflicts. \`plat why conflict -f FILE${repeatedFlags.namespace}${sameCaller(repeatedFlags)}\` shows their values and more ways out.`;
}

/** The same in the words of the stock client. */
export function stockConflictText(error: ApiError): string {
  return `${error.message}
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the \`--force-conflicts\` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).`;
}
