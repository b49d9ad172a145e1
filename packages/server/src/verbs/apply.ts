/** apply: a patch that says what its manager wants, and nothing else. */

import { isUtf8 } from 'node:buffer';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Slices } from '@plat-dev/lib/slices';
import { badRequest, conflict, requestTooLarge } from '@plat-dev/meta/errors';
import { clientSideApply } from '@plat-dev/meta/identity';
import { type Applied, type ApplyWrite, appliedObject } from '@plat-dev/patch';
import { DecodeError, TooLargeError } from '@plat-dev/schema/errors';
import type { FieldFaults } from '@plat-dev/schema/fields/field-faults';
import { RepeatedKeys } from '@plat-dev/schema/fields/field-place';
import { decode } from '@plat-dev/schema/json';
import { parseJson } from '@plat-dev/schema/json/parse';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import type { Context } from '../context.ts';
import type { Resource } from '../registry/catalog.ts';
import type { RegistryDeps, WriteContext } from '../registry/context.ts';
import { checkEntries } from '../registry/entries.ts';
import { ownershipRules } from '../registry/ownership.ts';
import { copyOf } from '../registry/recent.ts';
import { type Conversions, withConversions } from '../registry/rule-conversions.ts';
import { strategyOf } from '../registry/strategy.ts';
import { type UpdateResult, update } from '../registry/update.ts';
import { fillDefaults, parseYamlBody, refuseBytes } from '../request/body.ts';
import { faultsOf, reportAppliedFaults } from '../request/field-validation.ts';
import type { WriteOptions } from '../request/parsed-options.ts';
import type { Services } from '../services.ts';
import { mayCreate } from './write.ts';

/** The body of an apply is YAML, of which JSON is a part. `faults` collects its repeated keys. */
export async function readApplied(ctx: Context, body: Buffer, faults?: FieldFaults): Promise<JsonObject> {
  const slices = ctx.slices();
  if (!isUtf8(body)) await refuseBytes(body, 'yaml', slices);
  const value = (slices === undefined ? readPlainJson(body, faults) : undefined) ?? (await readYaml(ctx, body, faults));
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw badRequest('error decoding YAML: the patch is not an object');
  return value;
}

/** What looks like JSON mostly is; undefined where it is not. */
function readPlainJson(body: Buffer, faults: FieldFaults | undefined): JsonValue | undefined {
  if (body[0] !== 0x7b) return undefined;
  try {
    return faults === undefined ? parseJson(body) : parseJson(body, { place: new RepeatedKeys(faults) });
  } catch (error) {
    if (error instanceof TooLargeError) throw requestTooLarge(`Request entity too large: ${error.message}`);
    return undefined;
  }
}
async function readYaml(ctx: Context, body: Buffer, faults: FieldFaults | undefined): Promise<JsonValue> {
  try {
    return await parseYamlBody(ctx, body, faults);
  } catch (error) {
    if (error instanceof TooLargeError) throw requestTooLarge(`Request entity too large: ${error.message}`);
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(`error decoding YAML: ${error.message}`);
  }
}

export async function applyObject(
  services: Services,
  ctx: Context,
  write: WriteContext,
  options: WriteOptions,
  body: Buffer,
): Promise<UpdateResult> {
  const { registry } = services;
  const { resource } = write;
  const faults = faultsOf(services, options);
  const applied = await readApplied(ctx, body, faults);
  if (ctx.slices() !== undefined) checkEntries(resource, applied as never);
  ctx.audit?.requestBody(() => applied);
  const now = registry.env.now();
  const applyTo = (live: ApiObject | undefined, conversions: Conversions, large: boolean): ApplyWrite => ({
    type: resource.schema,
    kind: resource.kind.kind,
    apiVersion: resource.apiVersion,
    manager: write.manager,
    subresource: write.subresource,
    now,
    rules: ownershipRules(registry.env),
    resetFields: strategyOf(write).resetFields,
    ...conversions,
    large,
    live: live as never,
    applied,
    force: options.force ?? false,
    clientApply: clientSideApply,
    // A stored object is in the normal form; what a conversion makes of it need not be.
    ...(!resource.isHub && { decode: (object) => decode(resource.schema, object) as never }),
  });
  const run = (live: ApiObject | undefined, slices: Slices | undefined): Promise<Applied> =>
    withConversions(
      registry.catalog,
      resource,
      'drop',
      (conversions) => appliedObject(applyTo(live, conversions, slices !== undefined)),
      slices,
    );
  const changedObject = async (live: ApiObject, stored: ApiObject, done: Applied): Promise<ApiObject> => {
    if (faults !== undefined) reportAppliedFaults(ctx, options, faults);
    const unchanged = done.object === (stored as never) && done.managedFields === (stored.metadata.managedFields as never);
    if (unchanged && resource.isHub) return copyOf(live);
    return resource.versions.accept(unchanged ? stored : completed(registry, resource, done, stored));
  };
  return update(registry, write, {
    change: async (live, item) => {
      const slices = ctx.slices(item.bytes.length);
      const stored = await resource.versions.show(live);
      const done = await run(stored, slices);
      if (slices !== undefined) await slices.pause();
      return changedObject(live, stored, done);
    },
    ...(write.subresource === '' && {
      createAbsent: async () => {
        await mayCreate(services, ctx, resource);
        const slices = ctx.slices();
        const done = await run(undefined, slices);
        if (slices !== undefined) await slices.pause();
        // What cannot be applied is reported before keys that come again.
        if (faults !== undefined) reportAppliedFaults(ctx, options, faults);
        const { uid } = (done.object.metadata ?? {}) as { uid?: string };
        if (uid !== undefined)
          throw conflict(
            resource.resource,
            write.name,
            `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
          );
        return completed(registry, resource, done, undefined);
      },
    }),
    createdIsOwned: true,
  });
}

/** The merged object with its owners and defaults. Where only owners changed it is the live one, which stays as it is. */
function completed(registry: RegistryDeps, resource: Resource, done: Applied, live: ApiObject | undefined): ApiObject {
  const object = live !== undefined && done.object === (live as never) ? copyOf(live) : (done.object as unknown as ApiObject);
  object.kind = resource.kind.kind;
  object.apiVersion = resource.apiVersion;
  object.metadata ??= {};
  if (done.managedFields === undefined || done.managedFields.length === 0) delete object.metadata.managedFields;
  else object.metadata.managedFields = done.managedFields as never;
  fillDefaults(resource, object, registry.env, 'applied');
  return object;
}
