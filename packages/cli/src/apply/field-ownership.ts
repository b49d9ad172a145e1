/**
 * Ownership of fields in `managedFields`, so that this program never conflicts with itself: what its other commands wrote (create,
 * scale, label, edit) is taken over by its own apply. A set of fields is a tree:
 *
 *   { 'f:spec': { 'f:replicas': {}, 'f:template': { 'f:spec': { … } } } }
 */

import { isDeepStrictEqual } from 'node:util';
import { own, setOwn } from '@plat-dev/lib/own';
import { ApiError } from '@plat-dev/meta/errors';

export type FieldTree = { readonly [element: string]: FieldTree };
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly fieldsV1?: FieldTree;
}

/** What `tree` has and `other` has not; undefined if nothing is left. */
export function withoutFields(tree: FieldTree, other: FieldTree): FieldTree | undefined {
  const remaining: Record<string, FieldTree> = {};
  for (const [element, below] of Object.entries(tree)) {
    const otherTree = own(other, element);
    if (otherTree === undefined) setOwn(remaining, element, below);
    else if (Object.keys(below).length > 0) {
      const rest = withoutFields(below, otherTree);
      if (rest !== undefined) setOwn(remaining, element, rest);
    }
  }
  // The dot stands for the item or map itself, which nothing but its fields would need.
  const names = Object.keys(remaining);
  return names.length === 0 || (names.length === 1 && names[0] === '.') ? undefined : remaining;
}

/**
 * The entries after `manager` took over the fields that it applies from its other commands; undefined if that changes nothing.
 */
export function takenOver(entries: readonly ManagedFieldsEntry[], manager: string): ManagedFieldsEntry[] | undefined {
  const applied = entries.find((entry) => entry.manager === manager && entry.operation === 'Apply')?.fieldsV1;
  if (applied === undefined) return undefined;
  const after = entries.flatMap((entry) => {
    if (entry.manager !== manager || entry.operation !== 'Update') return [entry];
    const remaining = withoutFields(entry.fieldsV1 ?? {}, applied);
    return remaining === undefined ? [] : isDeepStrictEqual(remaining, entry.fieldsV1) ? [entry] : [{ ...entry, fieldsV1: remaining }];
  });
  return isDeepStrictEqual(after, entries) ? undefined : after;
}

/** The part of a conflict that is with others than `manager`; undefined if it conflicts with itself only. */
export function conflictWithOthers(error: ApiError, manager: string): ApiError | undefined {
  const causes = error.details?.causes ?? [];
  const others = causes.filter(({ message = '' }) => !message.startsWith(`conflict with ${JSON.stringify(manager)}`));
  if (others.length === 0) return undefined;
  return new ApiError(error.code, error.reason, error.message, { ...error.details, causes: others });
}
