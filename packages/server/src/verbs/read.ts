/** get and list. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import { SLICED_FROM } from '@plat-dev/lib/slices';
import { isPending, type MaybePromise } from '@plat-dev/lib/when-ready';
import { type ApiError, badRequest } from '@plat-dev/meta/errors';
import { pathSegmentName } from '@plat-dev/meta/names';
import { parseExact } from '@plat-dev/schema/json/parse';
import type { Item } from '@plat-dev/storage/item';
import type { Context } from '../context.ts';
import { takesMetadata } from '../in-process.ts';
import type { Resource } from '../registry/catalog.ts';
import { type ListResult, list, waitForVersion } from '../registry/list.ts';
import { missing, unreadableWarning } from '../registry/unreadable.ts';
import { type Offer, type Representation, wantsPretty } from '../request/negotiate.ts';
import { readOptions, selectionOf } from '../request/options.ts';
import type { NotedList } from '../request/parsed-options.ts';
import { sendList } from '../response/list-body.ts';
import { formName, type IncludeObject, isPlain, needsCalls, representItem } from '../response/represent.ts';
import { pageNotFound, refuse, send, sendLine } from '../response/respond.ts';
import { convertedOnce } from '../response/shared-conversions.ts';
import { metadataText } from '../response/table.ts';
import type { Services } from '../services.ts';

export const objectOffer = (resource: Resource) => (resource.custom ? customOffer : builtinOffer);
const builtinOffer = { protobuf: true, transforms: ['Table', 'PartialObjectMetadata'] as const };
const customOffer = { protobuf: false, transforms: ['Table', 'PartialObjectMetadata'] as const };
export const listOffer = (resource: Resource) => (resource.custom ? listOffers.custom : listOffers.builtin);
const listOffers = {
  builtin: { protobuf: true, transforms: ['Table', 'PartialObjectMetadataList'] as const, list: true },
  custom: { protobuf: false, transforms: ['Table', 'PartialObjectMetadataList'] as const, list: true },
};

/**
 * The form of a response that is an object, or the 406 error. A write negotiates before it does anything, so that none
 * is executed and then refused because its response is not acceptable.
 */
export function objectForm(services: Services, ctx: Context, resource: Resource, offer: Offer = objectOffer(resource)): Representation {
  const representation = formOf(services, ctx, offer);
  if (representation.transform === 'Table') includeObject(ctx, representation);
  return representation;
}

export function get(services: Services, ctx: Context, resource: Resource): MaybePromise<void> {
  const { registry } = services;
  const representation = formOf(services, ctx, objectOffer(resource));
  const versionWait =
    ctx.search === '' && registry.cache.engine.exclusive ? undefined : waitForVersion(registry, ctx.param('resourceVersion') ?? '');
  if (!isPending(versionWait)) return sendStored(services, ctx, resource, representation);
  return versionWait.then(() => {
    const newResource = registry.catalog.changedSince(resource);
    if (newResource === 'gone') return pageNotFound(ctx);
    return newResource === undefined ? sendStored(services, ctx, resource, representation) : get(services, ctx, newResource);
  });
}

function sendStored(services: Services, ctx: Context, resource: Resource, representation: Representation): MaybePromise<void> {
  const item = resource.collection?.items.get(ctx.route.key(resource.kind.namespaced));
  if (item === undefined) return refuse(ctx, absent(resource, ctx.info.namespace, ctx.info.name));
  return sendItem(services, ctx, 200, resource, item, representation);
}

/** The form that the client accepts. Clients of a route mostly accept the same. */
function formOf({ negotiator }: Services, ctx: Context, offer: Offer): Representation {
  const { accept } = ctx.head;
  const { route } = ctx;
  const { form } = route;
  if (form !== undefined && form.offer === offer && form.accept === accept) return form.representation;
  const representation = negotiator.negotiate(accept, offer);
  if (accept === undefined || accept.length <= LONGEST_NOTED) route.form = { accept, offer, representation };
  return representation;
}
/** Characters of a header that is noted. */
const LONGEST_NOTED = 256;

/** No object has a name that is not a valid path segment. */
function absent(resource: Resource, namespace: string, name: string): ApiError {
  const [problem] = pathSegmentName(name);
  if (problem !== undefined) return badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${problem}`);
  return missing({ resource, namespace, name });
}

const NOTHING = Buffer.alloc(0);

/** Responds with an object in the negotiated form. */
export function sendItem(
  services: Services,
  ctx: Context,
  status: number,
  resource: Resource,
  item: Item,
  representation: Representation,
): MaybePromise<void> {
  // What is recorded is what is sent.
  if (ctx.audit === undefined && takesMetadata(ctx.res)) {
    ctx.res.metadata = () =>
      resource.versions.recent.sharedObject(resource, item)?.metadata ?? (parseExact(metadataText(item)) as ApiObject['metadata']);
    send(ctx, status, representation.type, NOTHING);
    return;
  }
  const pretty = isPretty(ctx, representation);
  if (isPlain(resource, representation, pretty) && !resource.versions.isUnconverted(item)) {
    if (item.line === undefined) sendLine(ctx, status, representation.type, item.bytes);
    else send(ctx, status, representation.type, item.line);
    return;
  }
  const { env } = services.registry;
  const include = includeObject(ctx, representation);
  const slices = ctx.slices(item.bytes.length);
  const make = (): Promise<Buffer> => representItem(env, resource, item, representation, pretty, include, slices);
  const body =
    item.bytes.length <= SLICED_FROM || needsCalls(resource, representation, include)
      ? make()
      : convertedOnce(ctx, resource, `one|${formName(env, resource, representation, pretty, include)}`, [item], make);
  return body.then((bytes) => send(ctx, status, representation.type, bytes));
}

export const isPretty = (ctx: Context, representation: Representation): boolean =>
  representation.media === 'json' && (representation.pretty || wantsPretty(ctx.param('pretty'), ctx.head.isReader));

/** The part of each object in its row of a Table; ignored in other forms. */
export function includeObject(ctx: Context, { transform }: Representation): IncludeObject {
  if (transform !== 'Table') return 'Metadata';
  const include = ctx.param('includeObject');
  if (include === undefined || include === '' || include === 'Metadata') return 'Metadata';
  if (include === 'None' || include === 'Object') return include;
  throw badRequest(`unrecognized includeObject value: ${JSON.stringify(include)}`);
}

export function listObjects(services: Services, ctx: Context, resource: Resource): MaybePromise<void> {
  const { registry } = services;
  const representation = formOf(services, ctx, listOffer(resource));
  const { options, selection } = listedBy(services, ctx, resource);
  const answer = (result: ListResult): MaybePromise<void> => {
    if (resource.collection?.unreadable !== undefined || result.unreadable !== undefined) {
      const warning = unreadableWarning(resource, selection, result.unreadable);
      if (warning !== undefined) ctx.warn(warning);
    }
    return sendList(
      services,
      ctx,
      resource,
      result,
      selection,
      representation,
      isPretty(ctx, representation),
      includeObject(ctx, representation),
    );
  };
  const result = list(registry, resource, selection, options, ctx);
  if (!isPending(result)) return answer(result);
  return result.then((listResult) => {
    const newResource = registry.catalog.changedSince(resource);
    if (newResource === 'gone') return pageNotFound(ctx);
    return newResource === undefined ? answer(listResult) : listObjects(services, ctx, newResource);
  });
}

/** What the query of a list says, read once for a route and its resource. */
function listedBy({ registry }: Services, ctx: Context, resource: Resource): NotedList {
  const { route } = ctx;
  if (route.list?.resource === resource) return route.list;
  const options = readOptions(ctx, registry.catalog, false);
  const selection = selectionOf(ctx, resource, ctx.info.namespace);
  const list = { resource, options, selection };
  route.list = list;
  return list;
}
