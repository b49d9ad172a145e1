/** Who owns which fields after a write: the registry's side of `patch/`. */
import type { ApiObject } from '../kinds/kind.ts';
import { apiVersionOf, fromHub, toHub } from '../kinds/served.ts';
import { type Convert, managersAfterAdmission, recordUpdate } from '../patch/index.ts';
import type { MessageType } from '../schema/types.ts';
import type { Catalog, Resource } from './catalog.ts';
import type { RegistryDeps, WriteContext } from './context.ts';
import { normal } from './convert.ts';
import { dropRepeatedOwners } from './metadata.ts';
import { strategyOf } from './strategy.ts';

/** Sets the managedFields of a new object, in request version. */
export function ownCreated(deps: RegistryDeps, ctx: WriteContext, object: ApiObject): void {
  own(deps, ctx, object, undefined);
}

/** Sets the managedFields of a changed object; both objects are in request version. */
export function ownUpdated(deps: RegistryDeps, ctx: WriteContext, object: ApiObject, live: ApiObject): void {
  own(deps, ctx, object, live);
}

function own(deps: RegistryDeps, ctx: WriteContext, object: ApiObject, live: ApiObject | undefined): void {
  dropRepeatedOwners(ctx, object);
  const { resource } = ctx;
  const entries = recordUpdate({
    type: resource.schema,
    apiVersion: resource.apiVersion,
    manager: ctx.manager,
    subresource: ctx.subresource,
    now: deps.env.now(),
    resetFields: strategyOf(ctx).resetFields,
    convert: converter(deps.catalog, resource),
    live: live as never,
    object: object as never,
  });
  if (entries === undefined || entries.length === 0) delete object.metadata.managedFields;
  else object.metadata.managedFields = entries as never;
}

/** Sets the managedFields of an object that is posted to an action, which has a kind of its own. */
export function ownAction(
  deps: RegistryDeps,
  ctx: WriteContext,
  object: ApiObject,
  kind: { readonly schema: MessageType; readonly apiVersion: string },
): void {
  const entries = recordUpdate({
    type: kind.schema,
    apiVersion: kind.apiVersion,
    manager: ctx.manager,
    subresource: ctx.subresource,
    now: deps.env.now(),
    live: undefined,
    object: object as never,
  });
  if (entries !== undefined && entries.length > 0) object.metadata.managedFields = entries as never;
}

/** Puts the owners back that mutating admission broke, and tells the client. */
export function mendOwners(ctx: WriteContext, object: ApiObject, before: ApiObject['metadata']['managedFields']): void {
  if (object.metadata.managedFields === before) return;
  const { managedFields, warning } = managersAfterAdmission(before as never, object.metadata.managedFields as never);
  if (warning !== undefined) ctx.warn(warning);
  if (managedFields === undefined) delete object.metadata.managedFields;
  else object.metadata.managedFields = managedFields;
}

/** An object of one version of a kind in another. */
export function converter(catalog: Catalog, resource: Resource): Convert {
  return (object, apiVersion) => {
    const slash = apiVersion.indexOf('/');
    const group = slash < 0 ? '' : apiVersion.slice(0, slash);
    const other = catalog.find(group, apiVersion.slice(slash + 1), resource.kind.plural);
    if (other === undefined || apiVersionOf(other.group, other.version) !== apiVersion) return undefined;
    const copy = structuredClone(object) as unknown as ApiObject;
    const hub = resource.isHub ? copy : toHub(resource, copy);
    const converted = other.isHub ? hub : fromHub(other, normal(other, hub));
    return { type: other.schema, object: converted as never };
  };
}

/** The way back: an object of another version of the kind in the version of the resource. */
export function backConverter(
  catalog: Catalog,
  resource: Resource,
): (object: Record<string, unknown>, apiVersion: string) => never | undefined {
  return (object, apiVersion) => {
    const slash = apiVersion.indexOf('/');
    const other = catalog.find(slash < 0 ? '' : apiVersion.slice(0, slash), apiVersion.slice(slash + 1), resource.kind.plural);
    if (other === undefined) return undefined;
    const copy = structuredClone(object) as unknown as ApiObject;
    const hub = other.isHub ? copy : toHub(other, copy);
    return (resource.isHub ? hub : fromHub(resource, hub)) as never;
  };
}
