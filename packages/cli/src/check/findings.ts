/** Uses of versions that a release does not have, or deprecates. */

import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { isAtLeast } from '@plat-dev/lib/version';
import { type Catalogue, isCurrent, isRemovedIn, lifetime } from '../convert/catalogue.ts';

export interface Finding {
  /** `removed` must change before the release; `deprecated` warns. */
  readonly level: 'removed' | 'deprecated';
  /** What uses the version. */
  readonly type: 'manifest' | 'object' | 'manager' | 'request' | 'admission' | 'role' | 'webhook';
  readonly apiVersion: string;
  readonly kind: string;
  /** File and document, or namespace and name. */
  readonly where: string;
  /** Who wrote it: the field manager. */
  readonly manager?: string;
  /** The first release without the version. */
  readonly removedIn?: string;
  /** Version to move to. */
  readonly use?: string;
  /** What to do, and the decisions that a conversion cannot make. */
  readonly notes: readonly string[];
}

/** How a release treats a version; undefined where it is served and not deprecated. */
export type Fate = Pick<Finding, 'level' | 'removedIn' | 'use' | 'notes'>;

export function fateOf(served: ServedKind, catalogue: Catalogue, release: string): Fate | undefined {
  if (isCurrent(served, release)) return undefined;
  const { removed, introduced, off } = lifetime(served) ?? {};
  const { to, why } = catalogue.target(served, served.apiVersion, { release, newest: false });
  const isAbsent = isRemovedIn(served, release) || off === true;
  const isEarly = introduced !== undefined && !isAtLeast(release, introduced);
  return {
    level: isAbsent ? 'removed' : 'deprecated',
    ...(removed !== undefined && { removedIn: removed }),
    ...(to !== undefined && to.apiVersion !== served.apiVersion && { use: to.apiVersion }),
    notes: [...(isEarly ? [`it was added in ${introduced}`] : []), ...(why === undefined ? [] : [why])],
  };
}

/** Limit of listed findings; the rest are counted. */
export const MAX_FINDINGS = 10_000;

export class Findings {
  readonly list: Finding[] = [];
  /** What could not be checked, and why. */
  readonly notSeen: string[] = [];
  /** Whether a request was refused or failed; what no request can return does not count. */
  isPartial = false;
  more = 0;

  add(finding: Finding): void {
    if (this.list.length < MAX_FINDINGS) this.list.push(finding);
    else this.more++;
  }
  missed(what: string): void {
    this.isPartial = true;
    this.notSeen.push(what);
  }
  get mustChange(): boolean {
    return this.list.some(({ level }) => level === 'removed');
  }
}
