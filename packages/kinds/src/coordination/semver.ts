/** Versions as semver.org 2.0.0 has them. */

export interface Semver {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly prerelease: readonly string[];
}
const MAX_LENGTH = 256;
const number = '(0|[1-9][0-9]*)';
const identifiers = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
const semver = new RegExp(`^${number}\\.${number}\\.${number}(?:-(${identifiers}))?(?:\\+${identifiers})?$`);
const isNumber = (text: string): boolean => /^[0-9]+$/.test(text);

/** Undefined for a text that is none. */
export function parseSemver(text: string): Semver | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const match = semver.exec(text);
  if (match === null) return undefined;
  const [, major = '', minor = '', patch = '', before] = match;
  const prerelease = before?.split('.') ?? [];
  if (prerelease.some((part) => isNumber(part) && part.length > 1 && part.startsWith('0'))) return undefined;
  return { numbers: [BigInt(major), BigInt(minor), BigInt(patch)], prerelease };
}

/** Below zero if `a` comes before `b`. What is built after `+` does not count. */
export function compareSemver(a: Semver, b: Semver): number {
  for (const i of [0, 1, 2] as const) if (a.numbers[i] !== b.numbers[i]) return a.numbers[i] < b.numbers[i] ? -1 : 1;
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return b.prerelease.length - a.prerelease.length;
  for (let i = 0; i < Math.min(a.prerelease.length, b.prerelease.length); i++) {
    const order = compareParts(a.prerelease[i] as string, b.prerelease[i] as string);
    if (order !== 0) return order;
  }
  return a.prerelease.length - b.prerelease.length;
}
function compareParts(a: string, b: string): number {
  if (a === b) return 0;
  if (isNumber(a) && isNumber(b)) return BigInt(a) < BigInt(b) ? -1 : 1;
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? -1 : 1;
  return a < b ? -1 : 1;
}
