/** The order of semantic versions. */
import type { SemverValue } from './values.ts';

type Part = bigint | string;
/** Numbers come before texts. */
function compareParts(a: Part, b: Part): number {
  if (typeof a !== typeof b) return typeof a === 'bigint' ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}
/** -1, 0 or 1. A version with a prerelease comes before the one without. */
export function compareVersions(a: SemverValue, b: SemverValue): number {
  for (let i = 0; i < 3; i++) {
    const order = compareParts(a.numbers[i] as bigint, b.numbers[i] as bigint);
    if (order !== 0) return order;
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return Math.sign(b.prerelease.length - a.prerelease.length);
  for (let i = 0; i < Math.min(a.prerelease.length, b.prerelease.length); i++) {
    const order = compareParts(a.prerelease[i] as Part, b.prerelease[i] as Part);
    if (order !== 0) return order;
  }
  return Math.sign(a.prerelease.length - b.prerelease.length);
}
