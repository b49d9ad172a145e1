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
import { compareNumbers, type Integer, nextInt64 } from '@plat-dev/lib/integers';
import { own, setOwn } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { sortedKeys } from '@plat-dev/lib/sorted-list';
import type { JsonObject } from '@plat-dev/schema/types';
import type { Template } from '../shared/pod-control.ts';

export type Revision = Wire<Omit<ControllerRevision, 'data'>> & { data?: JsonObject | null };

/** What the pods of a set carry in the label `controller-revision-hash`. */
export const revisionLabel = 'controller-revision-hash';

/**
 * What a revision stores: a patch that replaces the template of the set. Its keys are sorted: the stock command line compares it
 * with its own text to find out that a rollback has nothing to do.
 */
export function* revisionData(template: Template): Work<JsonObject> {
  return (yield* sorted({ spec: { template: { ...template, $patch: 'replace' } } }, { parts: 0 })) as JsonObject;
}
/** Parts of a template that are sorted between two yields. */
const PARTS_A_STEP = 512;

/** The template that a revision stores. */
export function templateIn({ data }: Revision): Template {
  const { template } = (data?.spec ?? {}) as { template?: JsonObject };
  const { $patch: _, ...rest } = template ?? {};
  return rest as unknown as Template;
}

function* sorted(value: unknown, done: { parts: number }): Work<unknown> {
  if (++done.parts % PARTS_A_STEP === 0) yield;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    for (const item of value) list.push(yield* sorted(item, done));
    return list;
  }
  const object: Record<string, unknown> = {};
  for (const key of yield* sortedKeys(value)) setOwn(object, key, yield* sorted(own(value as Record<string, unknown>, key), done));
  return object;
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
export function* chooseRevision(revisions: readonly Revision[], data: JsonObject): Work<Choice> {
  const newest = revisions.at(-1);
  let equalRevision: Revision | undefined;
  for (let i = revisions.length - 1; i >= 0 && equalRevision === undefined; i--) {
    if (equal(revisions[i]?.data, data)) equalRevision = revisions[i];
    yield;
  }
  const number = newest === undefined ? 1 : nextInt64(numberOf(newest));
  if (equalRevision === undefined) return { use: 'new', number };
  return equalRevision === newest
    ? { use: 'newest', revision: equalRevision, number: numberOf(equalRevision) }
    : { use: 'again', revision: equalRevision, number };
}

/** The revisions with this data: there may be many, and large ones. */
export function* sameRevisions(revisions: readonly Revision[], data: Revision['data']): Work<Revision[]> {
  const same: Revision[] = [];
  for (const revision of revisions) {
    if (equal(revision.data, data)) same.push(revision);
    yield;
  }
  return same;
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
