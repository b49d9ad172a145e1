/**
 * The order in which versions are preferred: v10, v2, v1, v11beta2, v10beta3, v3beta1, v12alpha1, v11alpha2, foo1, foo10.
 * Stable before beta before alpha, the higher number first; other names last, in order of text.
 */
const stages = ['alpha', 'beta', ''];

function rank(version: string): readonly [number, number, number] | undefined {
  const match = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/.exec(version);
  return match === null ? undefined : [stages.indexOf(match[2] ?? ''), Number(match[1]), Number(match[3] ?? 0)];
}

/** For sorting, the most preferred first. */
export function byPriority(a: string, b: string): number {
  const [first, second] = [rank(a), rank(b)];
  if (first === undefined || second === undefined) {
    if (first !== undefined) return -1;
    if (second !== undefined) return 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  for (const i of [0, 1, 2] as const) if (first[i] !== second[i]) return second[i] - first[i];
  return 0;
}
