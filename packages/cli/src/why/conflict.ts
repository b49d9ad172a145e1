/** `plat why conflict`: the fields of files that other managers own, field by field, and the ways out. */
import { ApiError, type StatusCause } from '@plat-dev/meta/errors';
import type { ManagedFields } from '@plat-dev/patch';
import { type FieldConflict, fieldConflicts } from '@plat-dev/patch/owners';
import type { Values } from '@plat-dev/patch/shape';
import { conflictWithOthers } from '../apply/field-ownership.ts';
import { command } from '../command.ts';
import { masked } from '../get/mask-secret.ts';
import { paintFor } from '../output/colours.ts';
import { isApplyConflict } from '../output/conflicts.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { shownName, type Work } from '../work.ts';
import { conflictsText, type ObjectConflicts } from './conflict-text.ts';
import { type ExplainedObject, explainedFileFlags, explainFiles, fileArguments } from './explained-files.ts';

export const whyConflict = command({
  usage: '-f FILE|DIR|URL|- | -k DIR [flags]',
  summary: 'Explain which fields of files other managers own, and the ways out.',
  flags: explainedFileFlags,
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
  run: ({ options, args }, io) =>
    explainFiles(args, options, io, {
      words: 'why conflict',
      explain: conflictsOf,
      text: (one, manager) => conflictsText(one, { manager, files: fileArguments(options), flags: io.repeatedFlags }, paintFor(io)),
      holds: ({ conflicts }) => conflicts.length > 0,
    }),
});

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
  return { ...about, conflicts: maskedConflicts(conflict.details?.causes ?? [], existing, object as unknown as ApiItem) };
}

function maskedConflicts(causes: readonly StatusCause[], existing: ApiItem | undefined, wanted: ApiItem): FieldConflict[] {
  const entries = existing?.metadata?.managedFields as ManagedFields | undefined;
  const [shownExisting, shownWanted] = masked(existing, wanted) as [Values | undefined, Values];
  return fieldConflicts(causes, entries, shownExisting, shownWanted);
}
