/** Tolerations of pods: which covers which, and lists of them put together. */
import type { Toleration } from '../kinds/core/schema/scheduling.ts';
import { equal } from '../lib/equal.ts';

/** Whether everything that `narrow` tolerates is tolerated by `wide`, too. */
export function covers(wide: Toleration, narrow: Toleration): boolean {
  if (equal(wide, narrow)) return true;
  const anyKey = (wide.key ?? '') === '' && wide.operator === 'Exists';
  if ((wide.key ?? '') !== (narrow.key ?? '') && !anyKey) return false;
  if ((wide.effect ?? '') !== '' && wide.effect !== narrow.effect) return false;
  if (wide.effect === 'NoExecute' && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds) return false;
  }
  const operator = wide.operator ?? 'Equal';
  if (operator === 'Exists') return true;
  return operator === 'Equal' && narrow.operator === 'Equal' && (narrow.value ?? '') === (wide.value ?? '');
}

/** Both lists without those that another one covers; of equal ones the first stays. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  all.forEach((toleration, i) => {
    if (merged.some((kept) => covers(kept, toleration))) return;
    if (all.slice(i + 1).some((later) => !equal(later, toleration) && covers(later, toleration))) return;
    merged.push(toleration);
  });
  return merged;
}
