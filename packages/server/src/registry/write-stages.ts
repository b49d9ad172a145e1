/** The stages that a create and an update share. Those of a small object take no pause (`lib/slices.ts`). */
import type { ApiObject, KindEnv } from '@plat-dev/kinds/kind';
import { inSlices, type Slices, soonOrInSlices, type Work } from '@plat-dev/lib/slices';
import type { Operation } from '@plat-dev/storage/engine';
import type { WriteContext } from './context.ts';
import type { Hook } from './hooks.ts';

/** What the hook of the kind adds to the commit, such as the addresses that it allocates. */
export async function hookOperations(
  hook: Hook,
  env: KindEnv,
  ctx: WriteContext,
  object: ApiObject,
  old: ApiObject | undefined,
): Promise<Operation[]> {
  const operations: Operation[] = [];
  await hook({ object, old, dryRun: ctx.dryRun, env, operations });
  return operations;
}

/** The rules of a kind: in slices for a large object, and for a small one as soon as they take longer than a slice. */
export async function runRules(rules: Work<void>, slices: Slices | undefined): Promise<void> {
  if (slices === undefined) return soonOrInSlices(rules);
  await inSlices(rules, slices);
  await slices.pause();
}
