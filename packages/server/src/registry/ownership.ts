/** Field ownership after a write: the registry's side of `patch/`. */

import type { ApiObject, KindEnv } from '@plat-dev/kinds/kind';
import { equalExcept } from '@plat-dev/lib/equal';
import type { Work } from '@plat-dev/lib/slices';
import { ApiError, invalid } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import {
  type Convert,
  differOnlyInTimes,
  MAX_MANAGERS,
  type ManagedFieldsEntry,
  managersAfterAdmission,
  type OwnershipRules,
  recordedFields,
  type Takeover,
  type UpdateWrite,
} from '@plat-dev/patch';
import type { MessageType } from '@plat-dev/schema/types';
import type { RegistryDeps, WriteContext } from './context.ts';
import { dropRepeatedOwners } from './metadata.ts';
import { Undeclared, withConversions } from './rule-conversions.ts';
import { strategyOf } from './strategy.ts';

/**
 * Sets the managedFields of an object that is written in place of `live`, or as a new one; both are in request version. `size`: bytes
 * of the one that is stored.
 */
export async function recordOwners(
  deps: RegistryDeps,
  ctx: WriteContext,
  object: ApiObject,
  live: ApiObject | undefined,
  size = 0,
): Promise<void> {
  dropRepeatedOwners(ctx, object);
  checkManagers(ctx, object, live);
  const entries = await entriesAfter(deps, ctx, object, live, size);
  if (entries !== undefined && entries.length > 0) object.metadata.managedFields = entries as never;
  else if (object.metadata.managedFields !== undefined) delete object.metadata.managedFields;
}

/** The managers that a client sends are validated; a stored list may be longer, and is only kept. */
function checkManagers(ctx: WriteContext, object: ApiObject, live: ApiObject | undefined): void {
  const { managedFields } = object.metadata;
  if (
    managedFields === undefined ||
    managedFields.length <= MAX_MANAGERS ||
    managedFields.length <= (live?.metadata.managedFields?.length ?? 0)
  )
    return;
  const errors = new FieldErrors();
  errors.tooMany(Path.of('metadata', 'managedFields'), managedFields.length, MAX_MANAGERS);
  throw invalid(ctx.resource.groupKind, object.metadata.name ?? '', errors.list);
}

export const ownershipRules = (env: KindEnv): OwnershipRules => ({ timesOfChanges: env.since('1.25'), comparesWhole: env.since('1.29') });

const managedFieldsOnly: ReadonlySet<string> = new Set(['managedFields']);
const metadataOnly: ReadonlySet<string> = new Set(['metadata']);
/** A write that would only change times of owners changes nothing. */
export function keepTimes({ env }: RegistryDeps, object: ApiObject, old: ApiObject): void {
  const { managedFields } = old.metadata;
  if (
    ownershipRules(env).timesOfChanges &&
    differOnlyInTimes(managedFields as never, object.metadata.managedFields as never) &&
    equalExcept(object.metadata, old.metadata, managedFieldsOnly) &&
    equalExcept(object, old, metadataOnly)
  )
    object.metadata.managedFields = managedFields as never;
}

type Entries = readonly ManagedFieldsEntry[] | undefined;

async function entriesAfter(
  deps: RegistryDeps,
  ctx: WriteContext,
  object: ApiObject,
  live: ApiObject | undefined,
  size: number,
): Promise<Entries> {
  const { resource } = ctx;
  const slices = ctx.request?.slices(size);
  const write = (convert: Convert): UpdateWrite => ({
    type: resource.schema,
    apiVersion: resource.apiVersion,
    manager: ctx.manager,
    subresource: ctx.subresource,
    now: deps.env.now(),
    rules: ownershipRules(deps.env),
    resetFields: strategyOf(ctx).resetFields,
    convert,
    large: slices !== undefined,
    live: live as never,
    object: object as never,
    onTakeover: takeoverWarning(ctx),
  });
  try {
    return await withConversions(deps.catalog, resource, 'refuse', ({ convert }) => recordedFields(write(convert)), slices);
  } catch (error) {
    return excused(error, live);
  }
}

/** Warns a client whose update changes what another manager applied: the next apply of that manager conflicts. */
export function takeoverWarning({ resource, manager, warn }: WriteContext): ((takeover: Takeover) => void) | undefined {
  if (resource.identity.takeoverWarnings === 'none') return undefined;
  return ({ manager: applier, fields, count }) => {
    const more = count > fields.length ? ` and ${count - fields.length} more` : '';
    const names = [manager, applier].map((name) => JSON.stringify(name)) as [string, string];
    warn(
      `${names[0]} takes over fields that ${names[1]} applied: ${fields.join(', ')}${more}; the next apply of ${names[1]} will conflict`,
    );
  };
}

/** The owners of fields after a conversion has failed. Throws other errors. */
function excused(error: unknown, live: ApiObject | undefined): Entries {
  // The owners of fields are unknown in every version.
  if (error instanceof Undeclared) return undefined;
  // A conversion that fails temporarily does not drop the owners, nor refuse a write that needs none of it.
  if (error instanceof ApiError && error.code !== 413) return live?.metadata.managedFields as Entries;
  throw error;
}

/** Sets the managedFields of an object that is posted to a subresource with a kind of its own. */
export function* ownAction(
  deps: RegistryDeps,
  ctx: WriteContext,
  object: ApiObject,
  kind: { readonly schema: MessageType; readonly apiVersion: string },
  large: boolean,
): Work<void> {
  const entries = yield* recordedFields({
    type: kind.schema,
    apiVersion: kind.apiVersion,
    manager: ctx.manager,
    subresource: ctx.subresource,
    now: deps.env.now(),
    rules: ownershipRules(deps.env),
    large,
    live: undefined,
    object: object as never,
  });
  if (entries !== undefined && entries.length > 0) object.metadata.managedFields = entries as never;
}

/** Restores managedFields that mutating admission made invalid, and warns the client. */
export function repairOwners(ctx: WriteContext, object: ApiObject, managersBefore: ApiObject['metadata']['managedFields']): void {
  if (object.metadata.managedFields === managersBefore) return;
  const { managedFields, warning } = managersAfterAdmission(managersBefore as never, object.metadata.managedFields as never);
  if (warning !== undefined) ctx.warn(warning);
  if (managedFields === undefined) delete object.metadata.managedFields;
  else object.metadata.managedFields = managedFields;
}
