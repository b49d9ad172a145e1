/** Annotations of the replica sets of a deployment: their revisions, and the sizes that they were made for. */
import { own, setOwn } from '@plat-dev/lib/own';
import { deploymentAnnotations, domainName, type Identity, type QualifiedName } from '@plat-dev/meta/identity';
import type { ReplicaSetObject } from '../replicaset/kinds.ts';
import type { Limits } from './limits.ts';

type Annotations = Readonly<Record<string, string>>;

export interface RevisionNames {
  readonly revision: string;
  /** Earlier revisions of a set that was rolled back to. */
  readonly history: string;
  /** Replicas of the deployment when the set was scaled. */
  readonly desired: string;
  /** The same with the surge. */
  readonly most: string;
}

export function revisionNames(identity: Identity): RevisionNames {
  const name = (last: string): QualifiedName => domainName(identity, last, 'deployment');
  return { revision: name('revision'), history: name('revision-history'), desired: name('desired-replicas'), most: name('max-replicas') };
}

/** The whole number of an annotation. */
export function numberOf({ metadata }: ReplicaSetObject, annotation: string): number | undefined {
  const text = own(metadata.annotations, annotation) ?? '';
  return /^-?\d+$/.test(text) ? Number(text) : undefined;
}

/** A revision: a whole number of 64 bits, more than the numbers of this language hold exactly. */
export function parseRevision(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^-?\d{1,19}$/.test(text)) return undefined;
  const revision = BigInt(text);
  return BigInt.asIntN(64, revision) === revision ? revision : undefined;
}
/** The revision of a set; 0 where it has none. */
export const revisionOf = ({ metadata }: ReplicaSetObject, { revision }: RevisionNames): bigint =>
  parseRevision(own(metadata.annotations, revision)) ?? 0n;

/** The highest revision, and the one before it; 0 where there is none. */
export function lastRevisions(sets: readonly ReplicaSetObject[], names: RevisionNames): [bigint, bigint] {
  const [last = 0n, secondLast = 0n] = sets.map((set) => revisionOf(set, names)).sort((a, b) => (a > b ? -1 : a < b ? 1 : 0));
  return [last, secondLast];
}

/** Longest text of earlier revisions; the oldest are dropped. */
const HISTORY_CHARS = 2000;

/** Annotations of the set with the deployment's template: those of the deployment, and the next revision, unless its own is higher. */
export function currentAnnotations(deployment: Annotations, set: Annotations, next: bigint, names: RevisionNames): Annotations {
  const copied = Object.entries(deployment).filter(([name]) => !deploymentAnnotations.has(name));
  const annotations: Record<string, string> = { ...set, ...Object.fromEntries(copied) };
  const currentText = own(set, names.revision);
  const revision = currentText === undefined || currentText === '' ? 0n : parseRevision(currentText);
  if (revision === undefined || revision >= next) return annotations;
  setOwn(annotations, names.revision, String(next));
  if (currentText !== undefined) setOwn(annotations, names.history, historyOf(own(set, names.history) ?? '', currentText));
  return annotations;
}

function historyOf(history: string, revision: string): string {
  const revisions = history === '' ? [revision] : [...history.split(','), revision];
  let chars = revisions.join(',').length;
  while (chars > HISTORY_CHARS) chars -= (revisions.shift() as string).length + 1;
  return revisions.join(',');
}

/** Annotations by which a later change of the deployment's size is noticed. */
export const sizeAnnotations = ({ desired, surge }: Limits, names: RevisionNames): Annotations => ({
  [names.desired]: String(desired),
  [names.most]: String(desired + surge),
});
