/** What the rules of custom kinds validate: objects in the version of the request (`Versions`). All other rules validate the hub. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import { fromHub } from '@plat-dev/kinds/served-kind';
import { cloneJson } from '@plat-dev/schema/json/plain';
import type { RegistryDeps, WriteContext } from './context.ts';
import { strategyOf } from './strategy.ts';

export interface ValidatedForms {
  readonly object: ApiObject;
  readonly old: ApiObject | undefined;
}

/** An object that is ready, and the one that it replaces, in the version of the request. */
export async function requestForms(
  deps: RegistryDeps,
  ctx: WriteContext,
  ready: ApiObject,
  old: ApiObject | undefined,
): Promise<ValidatedForms> {
  const { resource } = ctx;
  const oldObject = old === undefined ? undefined : await resource.versions.show(old);
  const requestObject = resource.versions.requestForm(ready);
  // Admission replaced the object that was written.
  if (requestObject === undefined) return { object: await fromHub(resource, cloneJson(ready) as unknown as ApiObject), old: oldObject };
  const object: ApiObject = { ...requestObject, metadata: ready.metadata };
  const { prepareForCreate, prepareForUpdate } = strategyOf(ctx);
  if (oldObject === undefined) prepareForCreate?.(object as never, deps.env, ctx);
  else prepareForUpdate?.(object as never, oldObject as never, deps.env, ctx);
  return { object, old: oldObject };
}
