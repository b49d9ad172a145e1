/** The order in which versions of a group are preferred. */
const stages = ['alpha', 'beta', ''];

/** `v2`, `v1`, `v2beta1`, `v1beta2`, `v1alpha1`, then any other name in its own order. */
export function compareVersions(a: string, b: string): number {
  const left = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(a);
  const right = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(b);
  if (left === null || right === null) return left === right ? (a < b ? -1 : a > b ? 1 : 0) : left === null ? 1 : -1;
  const stage = stages.indexOf(right[2] ?? '') - stages.indexOf(left[2] ?? '');
  return stage || Number(right[1]) - Number(left[1]) || Number(right[3] ?? 0) - Number(left[3] ?? 0);
}
