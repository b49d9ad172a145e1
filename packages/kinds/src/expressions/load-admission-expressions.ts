/**
 * The evaluator of policies and match conditions, which few servers need: it is loaded with the first of them.
 *
 *   const { PolicyChecks } = yield* admissionExpressions();   // waits for the first load; after that it is there at once
 */
import type { Work } from '@plat-dev/lib/slices';

type AdmissionExpressions = typeof import('./admission-expressions.ts');

let loaded: AdmissionExpressions | undefined;

export function* admissionExpressions(): Work<AdmissionExpressions> {
  if (loaded === undefined) yield loadAdmissionExpressions();
  return loaded as unknown as AdmissionExpressions;
}

export async function loadAdmissionExpressions(): Promise<void> {
  loaded = await import('./admission-expressions.ts');
}
