/** Conflicts of server-side apply, formatted for the terminal. */
import { ApiError } from '../meta/errors.ts';
import { printable } from './print-table.ts';

export const isApplyConflict = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === 409 && (error.details?.causes?.some((c) => c.reason === 'FieldManagerConflict') ?? false);

/**
 *   2 fields belong to others:
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
  return `${count === 1 ? '1 field belongs' : `${count} fields belong`} to others:
${lines.join('\n')}
Leave ${count === 1 ? 'it' : 'them'} out of the file to let the other keep ${count === 1 ? 'it' : 'them'}, write the value that is there to share ${count === 1 ? 'it' : 'them'},
or take ${count === 1 ? 'it' : 'them'} over with --force-conflicts.`;
}
