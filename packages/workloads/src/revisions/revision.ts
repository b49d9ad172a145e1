/**
 * Revisions of the pod template of a set, kept as ControllerRevisions. Their numbers grow; the newest has the template that the
 * set has now:
 *
 *   template A                       web-a 1
 *   template B                       web-a 1, web-b 2
 *   template A again                 web-b 2, web-a 3      equal data is used again, under the next number
 */

import type { ControllerRevision } from '@plat-dev/kinds/apps/schema/controller-revision';
import type { Wire } from '@plat-dev/kinds/wire';
import { equal } from '@plat-dev/lib/equal';
import { sortedKeys } from '@plat-dev/lib/go-json';
import { compareNumbers, type Integer, nextInt64 } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import type { JsonObject } from '@plat-dev/schema/types';
import type { Template } from '../shared/pod-control.ts';

export type Revision = Wire<Omit<ControllerRevision, 'data'>> & { data?: JsonObject | null };

/** What the pods of a set carry in the label `controller-revision-hash`. */
export const revisionLabel = 'controller-revision-hash';

/**
 * What a revision stores: a patch that replaces the template of the set. Its keys are sorted: the stock command line compares it
 * with its own text to find out that a rollback has nothing to do.
 */
export function revisionData(template: Template): JsonObject {
  return sorted({ spec: { template: { ...template, $patch: 'replace' } } }) as JsonObject;
}

/** The template that a revision stores. */
export function templateIn({ data }: Revision): Template {
  const { template } = (data?.spec ?? {}) as { template?: JsonObject };
  const { $patch: _, ...rest } = template ?? {};
  return rest as unknown as Template;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(sortedKeys(value).map((key) => [key, sorted(own(value as Record<string, unknown>, key))]));
}

/** From the oldest to the newest. */
export function sortRevisions(revisions: readonly Revision[]): Revision[] {
  return [...revisions].sort(
    (a, b) =>
      compareNumbers(numberOf(a), numberOf(b)) ||
      text(a.metadata.creationTimestamp, b.metadata.creationTimestamp) ||
      text(a.metadata.name, b.metadata.name),
  );
}
const text = (a = '', b = ''): number => (a < b ? -1 : a > b ? 1 : 0);
const numberOf = ({ revision }: Revision): Integer => revision ?? 0;

export type Choice =
  | { readonly use: 'newest' | 'again'; readonly revision: Revision; readonly number: Integer }
  | { readonly use: 'new'; readonly number: Integer };

/**
 * The revision of the template that a set has now, of those that it has, sorted: the newest, an older one that is used again
 * under the next number, or a new one.
 */
export function chooseRevision(revisions: readonly Revision[], data: JsonObject): Choice {
  const newest = revisions.at(-1);
  const found = revisions.findLast((revision) => equal(revision.data, data));
  const number = newest === undefined ? 1 : nextInt64(numberOf(newest));
  if (found === undefined) return { use: 'new', number };
  return found === newest ? { use: 'newest', revision: found, number: numberOf(found) } : { use: 'again', revision: found, number };
}

/**
 * Revisions to delete, of those that a set has, sorted: the oldest that nothing uses, beyond the limit.
 * `counted`: whether those in use count against the limit as well, as they do for daemon sets.
 */
export function surplusRevisions(
  revisions: readonly Revision[],
  isUsed: (revision: Revision) => boolean,
  limit: number,
  counted: 'unused' | 'all',
): Revision[] {
  const unused = revisions.filter((revision) => !isUsed(revision));
  const count = counted === 'all' ? revisions.length : unused.length;
  return unused.slice(0, Math.max(0, count - limit));
}
