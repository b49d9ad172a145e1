/** create, update, delete and deletecollection. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import { Slices } from '@plat-dev/lib/slices';
import { ApiError, forbidden, methodNotAllowed, type Status } from '@plat-dev/meta/errors';
import type { Context } from '../context.ts';
import type { WriteOrigin } from '../history/note.ts';
import type { Resource } from '../registry/catalog.ts';
import { keyOf, type RegistryDeps, type WriteContext } from '../registry/context.ts';
import { create } from '../registry/create.ts';
import type { DeleteOptions } from '../registry/delete-options.ts';
import { checkEntries, inspectEntries } from '../registry/entries.ts';
import { list } from '../registry/list.ts';
import { recordOwners } from '../registry/ownership.ts';
import { remove } from '../registry/remove.ts';
import { unreadableKeys } from '../registry/unreadable.ts';
import { checkName, update } from '../registry/update.ts';
import { bodyMedia, decodeBody, fillDefaults, readBody } from '../request/body.ts';
import { deleteOptions } from '../request/delete-options.ts';
import type { Expected } from '../request/expected-body.ts';
import { faultsOf, reportBodyFaults } from '../request/field-validation.ts';
import type { Media } from '../request/negotiate.ts';
import { managerOf, readOptions, selectionOf, writeOptions } from '../request/options.ts';
import type { WriteOptions } from '../request/parsed-options.ts';
import { isApply } from '../request/patch-type.ts';
import { traceparentOf } from '../request/traceparent.ts';
import { sendList } from '../response/list-body.ts';
import { sendStatus } from '../response/respond.ts';
import type { Services } from '../services.ts';
import { attributesOf } from '../steps/authorize.ts';
import { includeObject, isPretty, listOffer, objectForm, sendItem } from './read.ts';

/** How many objects of a collection are deleted at a time. */
const DELETE_WIDTH = 32;

export function writeContext(ctx: Context, resource: Resource, options: WriteOptions, subresource = ''): WriteContext {
  const { info } = ctx;
  return {
    resource,
    namespace: info.namespace,
    name: info.named ? info.name : '',
    subresource,
    user: ctx.user,
    dryRun: options.dryRun,
    manager: managerOf(ctx, options),
    origin: () => originOf(ctx, subresource),
    options: options.json,
    sent: ctx.sent,
    request: ctx,
    explanation: ctx.explanation,
    timing: ctx.timing,
    traceparent: () => traceparentOf(ctx),
    warn: (text) => ctx.warn(text),
    annotate: (key, value, level) => ctx.annotate(key, value, level),
  };
}

function originOf(ctx: Context, subresource: string): WriteOrigin {
  const verb = ctx.info.verb === 'patch' && isApply(ctx) ? 'apply' : ctx.info.verb;
  const { auditId, impersonator } = ctx;
  return { verb, userAgent: ctx.header('user-agent') ?? '', auditId, subresource, impersonator: impersonator?.name };
}

/** The body of a write, before it is decoded. */
interface WrittenBody {
  readonly media: Media;
  readonly expected: Expected;
  readonly body: Buffer;
}
function writtenBody(ctx: Context, resource: Resource, media: Media, body: Buffer): WrittenBody {
  if (media === 'json') ctx.sent = body;
  const { apiVersion, schema, identity, custom, release } = resource;
  const { unknownFields } = resource.definition;
  return { media, expected: { apiVersion, kind: resource.kind.kind, schema, identity, custom, release, unknownFields }, body };
}

/** Decodes and defaults the body; unknown and repeated fields are reported by fieldValidation. */
async function bodyObject(
  services: Services,
  ctx: Context,
  resource: Resource,
  options: WriteOptions,
  sentBody: WrittenBody,
  isNew = false,
): Promise<ApiObject> {
  const faults = faultsOf(services, options);
  const { body, media, expected } = sentBody;
  const inspect = (value: unknown): Promise<void> =>
    inspectEntries(resource, value, async () => (isNew ? undefined : storedObject(ctx, resource)));
  const object = await decodeBody(ctx, body, media, expected, { faults, inspect });
  const slices = ctx.slices();
  if (slices !== undefined) await slices.pause();
  if (faults !== undefined) reportBodyFaults(ctx, options, faults, expected);
  fillDefaults(resource, object, services.registry.env);
  if (slices !== undefined) await slices.pause();
  ctx.audit?.requestObject(resource.schema, object);
  return object;
}
/** The object that a large body replaces. */
async function storedObject(ctx: Context, resource: Resource): Promise<ApiObject | undefined> {
  const item = resource.collection?.items.get(keyOf({ resource, namespace: ctx.info.namespace, name: ctx.info.name }));
  return item === undefined ? undefined : resource.versions.decodeRecent(item, ctx.slices() ?? new Slices());
}
/** The object once more, for a retry of a write that has changed it. */
async function sameObject(
  services: Services,
  ctx: Context,
  resource: Resource,
  { body, media, expected }: WrittenBody,
): Promise<ApiObject> {
  const same = await decodeBody(ctx, body, media, expected, { inspect: async () => {} });
  await ctx.slices()?.pause();
  fillDefaults(resource, same, services.registry.env);
  return same;
}

export async function createObject(services: Services, ctx: Context, resource: Resource): Promise<void> {
  const representation = objectForm(services, ctx, resource);
  const options = writeOptions(ctx, services.registry.catalog, 'CreateOptions');
  const media = bodyMedia(ctx, true, services.identity.protobufMediaType);
  const sentBody = writtenBody(ctx, resource, media, await readBody(ctx));
  const object = await bodyObject(services, ctx, resource, options, sentBody, true);
  const slices = ctx.slices();
  if (slices !== undefined) {
    checkEntries(resource, object);
    await slices.pause();
  }
  const item = await create(services.registry, writeContext(ctx, resource, options), object);
  return sendItem(services, ctx, 201, resource, item, representation);
}

export async function updateObject(services: Services, ctx: Context, resource: Resource, subresource = ''): Promise<void> {
  const { registry } = services;
  const representation = objectForm(services, ctx, resource);
  const options = writeOptions(ctx, registry.catalog, 'UpdateOptions');
  const media = bodyMedia(ctx, true, services.identity.protobufMediaType);
  const sentBody = writtenBody(ctx, resource, media, await readBody(ctx));
  const body = await bodyObject(services, ctx, resource, options, sentBody);
  const write = writeContext(ctx, resource, options, subresource);
  checkName(write, body);
  // A retry begins again with the body as it came.
  let unused: ApiObject | undefined = body;
  const nextObject = async (): Promise<ApiObject> => {
    const object = unused ?? sameObject(services, ctx, resource, sentBody);
    unused = undefined;
    return object;
  };
  const result = await update(registry, write, {
    change: async (live, item) => {
      const object = await nextObject();
      const stored = resource.isHub ? live : await resource.versions.show(live);
      return owned(registry, write, object, stored, item.bytes.length);
    },
    ...(resource.kind.createOnUpdate &&
      subresource === '' && {
        createAbsent: async () => {
          await mayCreate(services, ctx, resource);
          return nextObject();
        },
      }),
    uidIsCondition: true,
    conflictIsFinal: (body.metadata.resourceVersion ?? '') !== '',
  });
  return sendItem(services, ctx, result.created ? 201 : 200, resource, result.item, representation);
}

/** The hub form of what was written, with its owners. */
async function owned(registry: RegistryDeps, write: WriteContext, object: ApiObject, stored: ApiObject, size: number): Promise<ApiObject> {
  const slices = write.request?.slices(size);
  if (slices !== undefined) {
    checkEntries(write.resource, object, stored);
    await slices.pause();
  }
  await recordOwners(registry, write, object, stored, size);
  if (slices !== undefined) await slices.pause();
  return write.resource.isHub ? object : write.resource.versions.accept(object);
}

/** A replace or an apply that makes an object is a create as well. */
export async function mayCreate(services: Services, ctx: Context, resource: Resource): Promise<void> {
  const decision = await services.authorizer.authorize({ ...attributesOf(ctx), verb: 'create' });
  if (decision.decision !== 'allow') throw forbidden(resource.resource, ctx.info.name, decision.reason);
}

// ---- delete ----------------------------------------------------------------------------------------------------

function warnOfDependents(ctx: Context, { kind }: Resource, { orphanDependents, propagationPolicy }: DeleteOptions): void {
  if (kind.deletionWarning !== undefined && orphanDependents === undefined && propagationPolicy === undefined)
    ctx.warn(kind.deletionWarning);
}

export async function deleteObject(services: Services, ctx: Context, resource: Resource): Promise<void> {
  const representation = objectForm(services, ctx, resource);
  const { options, dryRun, json } = await deleteOptions(services, ctx, false);
  warnOfDependents(ctx, resource, options);
  const write: WriteContext = {
    ...writeContext(ctx, resource, { dryRun, fieldManager: '', fieldValidation: '', force: undefined, json }),
  };
  const result = await remove(services.registry, write, options);
  const accepted = !result.removed && options.orphanDependents === false ? 202 : 200;
  if (!result.removed || resource.kind.deleteReturnsObject) return sendItem(services, ctx, accepted, resource, result.item, representation);
  return sendStatus(ctx, 200, success(resource, write.name, result.object.metadata.uid ?? ''), [], representation);
}

function success(resource: Resource, name: string, uid: string): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...(resource.group !== '' && { group: resource.group }), kind: resource.kind.plural, uid },
  };
}

export async function deleteCollection(services: Services, ctx: Context, resource: Resource): Promise<void> {
  const { registry } = services;
  if (!resource.kind.verbs.includes('deletecollection')) throw methodNotAllowed(resource.resource, 'deletecollection');
  const representation = objectForm(services, ctx, resource, listOffer(resource));
  const selection = selectionOf(ctx, resource, ctx.info.namespace);
  const listOptions = readOptions(ctx, registry.catalog, false);
  const { options, dryRun, json } = await deleteOptions(services, ctx, true);
  warnOfDependents(ctx, resource, options);
  const base = writeContext(ctx, resource, { dryRun, fieldManager: '', fieldValidation: '', force: undefined, json });
  const page = await list(registry, resource, selection, listOptions, ctx);
  const { items } = page;
  // Nothing goes that could not be shown; objects are then deleted without another look.
  if (resource.versions.byCalls) await resource.versions.readAll(items);
  // A namespace must be able to end, also with objects that cannot be read.
  const keys = items.map(({ key }) => key).concat(unreadableKeys(resource, selection));
  let nextIndex = 0;
  // An engine in memory answers within the turn of the loop.
  const slices = new Slices();
  const worker = async () => {
    for (;;) {
      if (slices.due) await slices.pause();
      const key = keys[nextIndex++];
      if (key === undefined) return;
      const slash = key.indexOf('/');
      const [namespace, name] = resource.kind.namespaced ? [key.slice(0, slash), key.slice(slash + 1)] : ['', key];
      try {
        await remove(registry, { ...base, namespace, name, collection: true }, options);
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 404) throw error;
      }
    }
  };
  // Where a condition may stop it, what comes after the object that did must not be gone already.
  const width = options.preconditions === undefined ? DELETE_WIDTH : 1;
  await Promise.all(Array.from({ length: Math.min(width, keys.length) }, worker));
  return sendList(
    services,
    ctx,
    resource,
    { ...page, whole: false },
    { ...selection, everything: false },
    representation,
    isPretty(ctx, representation),
    includeObject(ctx, representation),
  );
}
