/**
 * The evaluator of rules, which few servers need: it is loaded with the first definition that has rules.
 *
 *   const { RuleRun } = yield* evaluation();   // waits for the first load; after that it is there at once
 */
import type { Work } from '@plat-dev/lib/slices';

type Evaluation = typeof import('./evaluation.ts');

let loaded: Evaluation | undefined;

export function* evaluation(): Work<Evaluation> {
  if (loaded === undefined) yield loadEvaluation();
  return loaded as unknown as Evaluation;
}

export async function loadEvaluation(): Promise<void> {
  loaded = await import('./evaluation.ts');
}
