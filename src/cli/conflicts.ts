/** Conflicts of server-side apply, formatted for the terminal. */
import { ApiError } from '../meta/errors.ts';
import { printable } from './print-table.ts';

export const isApplyConflict = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === 409 && (error.details?.causes?.some((c) => c.reason === 'FieldManagerConflict') ?? false);

/**
 *   2 fields are owned by other managers:
 *     "scaler" using apps/v1
 *       .spec.replicas
 */
export function conflictText(error: ApiError): string {
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
or take ownership with --force-conflicts.`;
}
