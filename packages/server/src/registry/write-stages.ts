/** The stages that a create and an update share. Those of a small object take no pause (`lib/slices.ts`). */
import type { ApiObject, Strategy } from '@plat-dev/kinds/kind';
import { atOnce, inSlices, type Slices, soonOrInSlices, type Work } from '@plat-dev/lib/slices';
import type { Operation } from '@plat-dev/storage/engine';
import { hookOf } from './commit.ts';
import type { RegistryDeps, WriteContext } from './context.ts';

/** What the hook of the kind adds to the commit, such as the addresses that it allocates; undefined: there is none. */
export async function hookOperations(
  deps: RegistryDeps,
  ctx: WriteContext,
  object: ApiObject,
  old: ApiObject | undefined,
): Promise<Operation[] | undefined> {
  const hook = ctx.subresource === '' || old === undefined ? hookOf(deps, ctx.resource) : undefined;
  if (hook === undefined) return undefined;
  const operations: Operation[] = [];
  await hook({ object, old, dryRun: ctx.dryRun, operations });
  return operations;
}

/** The rules of a kind: in slices for a large object, and for a small one as soon as they take longer than a slice. */
export async function runRules(rules: Work<void> | undefined | void, slices: Slices | undefined): Promise<void> {
  if (rules !== undefined) await (slices === undefined ? soonOrInSlices(rules) : inSlices(rules, slices));
}

/** Brings a valid object into the one form in which it is stored. */
export async function canonicalize(strategy: Strategy | undefined, object: ApiObject, slices: Slices | undefined): Promise<void> {
  const rewriting = strategy?.canonicalize?.(object as never);
  if (rewriting === undefined) return;
  if (slices === undefined) return atOnce(rewriting);
  await inSlices(rewriting, slices);
  await slices.pause();
}
