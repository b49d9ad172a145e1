/** Fields that an applier would change although others own them. */
import { type ApiError, applyConflict, MAX_CAUSES, type StatusCause } from '@plat-dev/meta/errors';
import { difference, type FieldSet, isEmpty, paths, size } from './fieldset.ts';
import { identifier, type Manager } from './managers.ts';

export interface Conflict {
  readonly manager: Manager;
  readonly fields: FieldSet;
}

/** An apply with conflicts that is not forced. The caller turns it into a response, or finds that it may be ignored. */
export class ApplyConflict extends Error {
  readonly conflicts: readonly Conflict[];

  constructor(conflicts: readonly Conflict[]) {
    super('apply conflict');
    this.name = 'ApplyConflict';
    this.conflicts = [...conflicts].sort((a, b) => (identifier(a.manager) < identifier(b.manager) ? -1 : 1));
  }
  /** The same without conflicts over some fields. */
  without(fields: FieldSet): ApplyConflict {
    const remainingConflicts = this.conflicts.map((conflict) => ({ ...conflict, fields: difference(conflict.fields, fields) }));
    return new ApplyConflict(remainingConflicts.filter((conflict) => !isEmpty(conflict.fields)));
  }

  toError(): ApiError {
    const causes: StatusCause[] = [];
    const lines: string[] = [];
    let count = 0;
    for (const { manager, fields } of this.conflicts) {
      count += size(fields);
      if (causes.length >= MAX_CAUSES) continue;
      lines.push(`conflicts with ${conflictName(manager)}:`);
      for (const field of paths(fields, MAX_CAUSES - causes.length)) {
        lines.push(`- ${field}`);
        causes.push({ reason: 'FieldManagerConflict', message: `conflict with ${conflictName(manager)}`, field });
      }
    }
    const only = causes[0];
    const text =
      causes.length === 1 && only !== undefined ? `1 conflict: ${only.message}: ${only.field}` : `${count} conflicts: ${lines.join('\n')}`;
    return applyConflict(causes, `Apply failed with ${text}`);
  }
}

/** `"alice"`, `"hpa" with subresource "scale" using apps/v1`: how a conflict names its manager. */
export function conflictName({ name, operation, apiVersion, subresource }: Manager): string {
  let text = JSON.stringify(name);
  if (subresource !== '') text += ` with subresource ${JSON.stringify(subresource)}`;
  if (operation === 'Update') text += ` using ${apiVersion}`;
  return text;
}
