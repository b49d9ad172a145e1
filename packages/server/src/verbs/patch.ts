/** patch: JSON patch, merge patch, strategic merge patch, apply. */

import { isUtf8 } from 'node:buffer';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { fromHub, toHub } from '@plat-dev/kinds/served-kind';
import { own } from '@plat-dev/lib/own';
import { atOnce, inSlices, resultOf, type Slices, type Work } from '@plat-dev/lib/slices';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import {
  addUntouched,
  type Patch,
  type PatchRules,
  type ReadBody,
  readJsonPatch,
  readMergePatch,
  readStrategicPatch,
  touchedPart,
} from '@plat-dev/patch';
import type { FieldFaults } from '@plat-dev/schema/fields/field-faults';
import { unknownFields, unknownFieldsOf } from '@plat-dev/schema/fields/field-place';
import { DecodeError, decode, decodedValue, toJson } from '@plat-dev/schema/json';
import { namedScalars } from '@plat-dev/schema/json/mismatch';
import { parsedJson, parseExact, parseJson } from '@plat-dev/schema/json/parse';
import type { JsonObject, JsonValue, MessageType } from '@plat-dev/schema/types';
import type { Context } from '../context.ts';
import type { Resource } from '../registry/catalog.ts';
import type { WriteContext } from '../registry/context.ts';
import { checkEntries, checkWidth } from '../registry/entries.ts';
import { recordOwners } from '../registry/ownership.ts';
import { checkExists, update } from '../registry/update.ts';
import { fillDefaults, readBody, refuseBytes } from '../request/body.ts';
import { faultsOf, patchPlace, reportAppliedFaults, reportFaults } from '../request/field-validation.ts';
import { writeOptions } from '../request/options.ts';
import type { WriteOptions } from '../request/parsed-options.ts';
import { type PatchType, patchType } from '../request/patch-type.ts';
import { otherCustomKind } from '../request/wrong-type.ts';
import type { Services } from '../services.ts';
import { applyObject, readApplied } from './apply.ts';
import { faultyPatch } from './faulty-patch.ts';
import { objectForm, sendItem } from './read.ts';
import { writeContext } from './write.ts';

function readPatch(type: Exclude<PatchType, 'apply'>, schema: MessageType, body: Buffer | ReadBody, rules: PatchRules): Patch {
  if (type === 'json') return readJsonPatch(body, rules);
  return type === 'merge' ? readMergePatch(body, rules) : readStrategicPatch(schema, body, rules);
}

/** A release that looks for faults in a merge patch reads it as an object. */
function patchRules({ registry: { env } }: Services, faults: FieldFaults | undefined): PatchRules {
  return { dropsDirectives: env.since('1.28'), checksRoot: env.since('1.35'), refusesLists: faults !== undefined && env.since('1.25') };
}

/** Parses a patch that is large, or whose field errors are requested; any other stays unparsed. */
async function parsePatch(ctx: Context, type: PatchType, body: Buffer, faults: FieldFaults | undefined): Promise<Buffer | ReadBody> {
  const slices = ctx.slices();
  if (!isUtf8(body)) await refuseBytes(body, 'json', slices);
  if (slices === undefined && faults === undefined) return body;
  const options = faults === undefined ? {} : { place: patchPlace(type === 'json', faults) };
  try {
    const value = slices === undefined ? parseJson(body, options) : await inSlices(parsedJson(body, options), slices);
    if (slices !== undefined) {
      checkWidth(value);
      await slices.pause();
    }
    if (faults !== undefined && type === 'json') {
      const members = unknownFields(patchPlace(true, faults), value);
      if (slices === undefined) atOnce(members);
      else await inSlices(members, slices);
    }
    return { value };
  } catch (fault) {
    if (fault instanceof DecodeError) return { fault };
    throw fault;
  }
}

/** Options of a patch; `force` belongs to apply alone. */
function patchOptions(services: Services, ctx: Context, type: PatchType): WriteOptions {
  return writeOptions(ctx, services.registry.catalog, 'PatchOptions', type === 'apply');
}

export async function patchObject(services: Services, ctx: Context, resource: Resource, subresource = ''): Promise<void> {
  const type = patchType(ctx, resource.custom);
  const representation = objectForm(services, ctx, resource);
  const options = patchOptions(services, ctx, type);
  const body = await readBody(ctx);
  const write = writeContext(ctx, resource, options, subresource);
  if (type === 'apply') {
    const { item, created } = await applyObject(services, ctx, write, options, body);
    return sendItem(services, ctx, created ? 201 : 200, resource, item, representation);
  }
  // A missing object is reported before an invalid patch.
  await checkExists(services.registry, write);
  ctx.audit?.requestBody(() => parseExact(body.toString()) as JsonValue);
  const faults = faultsOf(services, options);
  const patch = readPatch(type, resource.schema, await parsePatch(ctx, type, body, faults), patchRules(services, faults));
  if (patch.copies !== undefined && patch.copies > 0) ctx.expanded(patch.copies);
  if (patch.floats) await checkFloats(ctx, type, resource.schema, body);
  const { item } = await update(services.registry, write, {
    change: (live, item) => patchedHub(services, ctx, write, options, live, patch, body, faults, item.bytes.length),
  });
  return sendItem(services, ctx, 200, resource, item, representation);
}

async function patchedHub(
  services: Services,
  ctx: Context,
  write: WriteContext,
  options: WriteOptions,
  live: ApiObject,
  patch: Patch,
  body: Buffer,
  faults: FieldFaults | undefined,
  size: number,
): Promise<ApiObject> {
  const { resource } = write;
  const { registry } = services;
  // A stored object is in the normal form: what the patch does not touch would be read as it is.
  const touched = resource.isHub ? patch.touched : undefined;
  const documentOf = (object: ApiObject): JsonValue =>
    toJson(resource.schema, touched === undefined ? object : touchedPart(object as never, touched));
  const slices = ctx.slices(size);
  const stored = await resource.versions.show(live);
  const document = await patchedDocument(patch, documentOf(stored), slices);
  if (slices !== undefined) {
    checkEntries(resource, document, live);
    await slices.pause();
  }
  const newVersion = versionOf(services, resource, patch, document);
  if (faults !== undefined) await resultOf(unknownIn(newVersion, document, faults), slices);
  if (resource.custom) checkCustomType(newVersion, document, write.name);
  const type = { kind: newVersion.kind.kind, apiVersion: newVersion.apiVersion };
  const object = await resultOf(readPatched(newVersion.schema, document, body, type, patch.strategic, slices !== undefined), slices);
  if (slices !== undefined) await slices.pause();
  if (touched !== undefined) addUntouched(object as never, stored as never, touched);
  if (faults !== undefined) reportFaults(ctx, options, faults, (why) => faultyPatch(body, why));
  fillDefaults(newVersion, object, registry.env);
  const whole = newVersion === resource ? object : await inVersion(resource, newVersion, object);
  if (slices !== undefined) await slices.pause();
  await recordOwners(registry, write, whole, stored, size);
  return resource.versions.accept(whole);
}

async function patchedDocument(patch: Patch, document: JsonValue, slices: Slices | undefined): Promise<JsonValue> {
  if (slices === undefined) return patch(document);
  await slices.pause();
  const patched = await inSlices(patch.patched(document), slices);
  await slices.pause();
  return patched;
}

/** Reports the unknown fields of what a patch made. */
function unknownIn({ schema, definition }: Resource, document: JsonValue, faults: FieldFaults): Work<void> {
  return unknownFieldsOf({ schema, unknownFields: definition.unknownFields }, document, faults);
}

/** What a patch made in another version of the kind. */
async function inVersion(resource: Resource, newVersion: Resource, object: ApiObject): Promise<ApiObject> {
  const hub = await toHub(newVersion, object);
  return resource.isHub ? hub : fromHub(resource, hub);
}

/** The version of what a patch made: a patch may change it to another one of the same kind, unless it is strategic. */
function versionOf(services: Services, resource: Resource, { strategic }: Patch, document: JsonValue): Resource {
  if (strategic) return resource;
  const apiVersion = typeof document === 'object' && document !== null && !Array.isArray(document) ? document.apiVersion : undefined;
  if (typeof apiVersion !== 'string' || apiVersion === resource.apiVersion) return resource;
  const { group, version } = splitApiVersion(apiVersion);
  return services.registry.catalog.find(group, version, resource.kind.plural) ?? resource;
}

/** The document may hold only what the patch touches. */
function checkCustomType({ kind, apiVersion }: Resource, document: JsonValue, name: string): void {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return;
  const expected = { kind: kind.kind, apiVersion };
  const actualType = { kind: String(document.kind ?? expected.kind), apiVersion: String(document.apiVersion ?? apiVersion) };
  if (actualType.kind !== expected.kind || actualType.apiVersion !== apiVersion) throw otherCustomKind(actualType, expected, name);
}

/** What a patch made, in its normal form. A patch that makes something else than such an object is at fault. */
function* readPatched(
  schema: MessageType,
  document: JsonValue,
  body: Buffer,
  type: { kind: string; apiVersion: string },
  strategic: true | undefined,
  large: boolean,
): Work<ApiObject> {
  try {
    if (typeof document !== 'object' || document === null || Array.isArray(document))
      throw new DecodeError("couldn't get version/kind; json parse error: the patch made no object", {
        path: '',
        expected: '',
        actual: '',
      } as never);
    const object = (large ? yield* decodedValue(schema, document) : decode(schema, document)) as ApiObject;
    // A strategic merge patch is one of the type of the path: what it says of kind and version has no effect.
    object.kind = strategic ? type.kind : (object.kind ?? type.kind);
    object.apiVersion = strategic ? type.apiVersion : (object.apiVersion ?? type.apiVersion);
    if (object.kind !== type.kind || object.apiVersion !== type.apiVersion)
      throw new DecodeError(`no kind "${object.kind}" is registered for version "${object.apiVersion}"`, {} as never);
    object.metadata ??= {};
    return object;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw faultyPatch(body, strategic ? restoreFault(error) : error.message);
  }
}

/** Refuses a patch that puts numbers with a fraction or an exponent into fields for integers, or tests for such spellings. */
async function checkFloats(ctx: Context, type: PatchType, schema: MessageType, body: Buffer): Promise<void> {
  const { checkPatchFloats } = await import('./patch-floats.ts');
  const slices = ctx.slices();
  const work = checkPatchFloats(type === 'json', schema, body);
  if (slices === undefined) atOnce(work);
  else await inSlices(work, slices);
}

/** Clients look for these words where a strategic patch puts a value of another shape into a map, a list or an object. */
function restoreFault({ path, expected = '', actual = '', message }: DecodeError): string {
  const goKind = own(goKinds, actual);
  if (goKind === undefined) return message;
  if (expected.startsWith('map[')) return `${path}: cannot restore map from ${goKind}`;
  if (namedScalars.has(expected)) return message;
  if (expected.startsWith('[]')) return `${path}: cannot restore slice from ${goKind}`;
  return expected.includes('.') ? `${path}: cannot restore struct from: ${goKind}` : message;
}
const goKinds: Readonly<Record<string, string>> = { string: 'string', number: 'int64', bool: 'bool', array: 'slice', object: 'map' };

/** What makes the new view of the current one, or the body of an apply. */
export type NewView = ((current: ApiObject) => Work<ApiObject>) | { readonly applied: JsonObject };

/** The same for a view (scale). */
export async function patchedView(
  services: Services,
  ctx: Context,
  schema: MessageType,
  type: { apiVersion: string; kind: string },
): Promise<{ options: WriteOptions; newView: NewView }> {
  const kind = patchType(ctx, false);
  const options = patchOptions(services, ctx, kind);
  const body = await readBody(ctx);
  const faults = faultsOf(services, options);
  if (kind === 'apply') {
    const applied = await readApplied(ctx, body, faults);
    ctx.audit?.requestBody(() => applied);
    if (faults !== undefined) reportAppliedFaults(ctx, options, faults);
    return { options, newView: { applied } };
  }
  ctx.audit?.requestBody(() => parseExact(body.toString()) as JsonValue);
  const patch = readPatch(kind, schema, await parsePatch(ctx, kind, body, faults), patchRules(services, faults));
  if (patch.floats) await checkFloats(ctx, kind, schema, body);
  const large = ctx.slices() !== undefined;
  const patched = function* (current: ApiObject): Work<ApiObject> {
    const currentDocument = toJson(schema, current as never) as JsonObject;
    const document = yield* patch.patched(currentDocument);
    const view = yield* readPatched(schema, document, body, type, patch.strategic, large);
    if (faults !== undefined) {
      yield* unknownFieldsOf({ schema }, document, faults);
      reportFaults(ctx, options, faults, (why) => faultyPatch(body, why));
    }
    return view;
  };
  return { options, newView: patched };
}
