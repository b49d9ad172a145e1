/**
 * What the rules of a kind judge. Those of built-in kinds are about the hub; those of a custom kind were written for the
 * version that the request speaks, of which a conversion may have left things out or made others.
 */
import type { ApiObject } from '../kinds/kind.ts';
import { fromHub, toHub } from '../kinds/served.ts';
import { whenReady } from '../lib/when-ready.ts';
import type { Resource } from './catalog.ts';
import type { RegistryDeps, WriteContext } from './context.ts';
import { spokenFrom } from './convert.ts';
import { strategyOf } from './strategy.ts';

/** By hub form, for as long as that is there: the same object in the version of the request. */
const spokenForms = new WeakMap<ApiObject, ApiObject>();

/** Whether rules look at the version of the request rather than at the hub. */
export const isSpoken = ({ custom, isHub }: Resource): boolean => custom && !isHub;

/** The hub form of what a client wrote, which must not be used afterwards. */
export function hubOf(resource: Resource, object: ApiObject): ApiObject | Promise<ApiObject> {
  if (!isSpoken(resource)) return toHub(resource, object);
  return whenReady(toHub(resource, structuredClone(object)), (hub) => {
    spokenForms.set(hub, object);
    return hub;
  });
}

/**
 * A custom object that was written in another version than the stored one lacks the defaults of that version. They are filled
 * in before it is stored, since whoever reads it would: it must not change by itself. `given` is what admission was given.
 */
export function fillAsRead(resource: Resource, ready: ApiObject, given: ApiObject): void {
  if (isSpoken(resource) || ready !== given) resource.hub.definition.fill?.(ready as never);
}

/** A stored object in the version of the request, to be looked at. It may share parts with the one given. */
export function spokenOf(resource: Resource, hub: ApiObject): ApiObject | Promise<ApiObject> {
  if (!isSpoken(resource)) return spokenFrom(resource, hub);
  return (
    spokenForms.get(hub) ??
    whenReady(spokenFrom(resource, hub), (spoken) => {
      spokenForms.set(hub, spoken);
      return spoken;
    })
  );
}

/** The form that views show of an object which `hubOf` or `spokenOf` answered before. */
export function viewedForm(hub: ApiObject): ApiObject {
  const spoken = spokenForms.get(hub);
  return spoken === undefined ? hub : { ...spoken, metadata: hub.metadata };
}

export interface Judged {
  readonly object: ApiObject;
  readonly old: ApiObject | undefined;
}

/** The forms that rules are to judge of an object that is ready and of the one that it replaces. */
export function judgedForms(deps: RegistryDeps, ctx: WriteContext, ready: ApiObject, old: ApiObject | undefined): Judged | Promise<Judged> {
  const { resource } = ctx;
  if (!isSpoken(resource)) return { object: ready, old };
  return judgedSpoken(deps, ctx, ready, old);
}

async function judgedSpoken(deps: RegistryDeps, ctx: WriteContext, ready: ApiObject, old: ApiObject | undefined): Promise<Judged> {
  const { resource } = ctx;
  const before = old === undefined ? undefined : await spokenOf(resource, old);
  const written = spokenForms.get(ready);
  // Admission put another object in the place of the one that was written.
  if (written === undefined) return { object: await fromHub(resource, structuredClone(ready)), old: before };
  const object: ApiObject = { ...written, metadata: ready.metadata };
  const { prepareForCreate, prepareForUpdate } = strategyOf(ctx);
  if (before === undefined) prepareForCreate?.(object as never, deps.env, ctx);
  else prepareForUpdate?.(object as never, before as never, deps.env, ctx);
  return { object, old: before };
}
