/** Requests for resources: from path, method and verb to the handler. */

import type { ActionSubresource, Kind } from '@plat-dev/kinds/kind';
import type { Deprecation } from '@plat-dev/kinds/release-texts';
import { own } from '@plat-dev/lib/own';
import { atOnce, inSlices } from '@plat-dev/lib/slices';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { methodNotAllowed, methodRefused, methodRefusedFor, notFound, pathNotFound } from '@plat-dev/meta/errors';
import { type Identity, otherIdentityHint } from '@plat-dev/meta/identity';
import { applyDefaults } from '@plat-dev/schema/json';
import type { Context } from './context.ts';
import type { Catalog, Resource } from './registry/catalog.ts';
import { lookUp } from './registry/context.ts';
import { checkNamespace } from './registry/metadata.ts';
import { ownAction } from './registry/ownership.ts';
import { bodyMedia, decodeBody, readBody } from './request/body.ts';
import type { Expected } from './request/expected-body.ts';
import { faultsOf, reportBodyFaults } from './request/field-validation.ts';
import { noWriteOptions, writeOptions } from './request/options.ts';
import { representMetadata, representObject } from './response/represent.ts';
import { pageNotFound, send } from './response/respond.ts';
import { viewPartialText } from './response/table.ts';
import type { Action, Services } from './services.ts';
import { serveComputed } from './verbs/computed.ts';
import { asksExact, getExact, listExact } from './verbs/exact.ts';
import { asksHistory, sendHistory } from './verbs/history.ts';
import { patchObject } from './verbs/patch.ts';
import { get, isPretty, listObjects } from './verbs/read.ts';
import { getView, patchView, updateView } from './verbs/view.ts';
import { watchObjects } from './verbs/watch.ts';
import { createObject, deleteCollection, deleteObject, updateObject, writeContext } from './verbs/write.ts';

/** `isLoaded`: what the request needs of objects that are still being loaded is there. */
export function serveResource(services: Services, ctx: Context, isLoaded = false): MaybePromise<void> {
  const { info } = ctx;
  const { inNamespace } = info;
  const { catalog } = services.registry;
  const resource = ctx.route.resource(catalog) ?? ownResource(catalog, ctx);
  if (resource === undefined) return unknownResource(services, ctx);
  if (resource.collection?.pending !== undefined && !isLoaded) return serveWhenLoaded(services, ctx, resource);
  const { kind, definition } = resource;
  if (resource.deprecation !== undefined && hasRoute(ctx, kind)) warnDeprecated(ctx, services.identity, resource.deprecation);
  if (definition.warning !== undefined) {
    // A deprecated version of a custom kind.
    ctx.warn(definition.warning);
    ctx.annotate(`${services.identity.groupSuffix}/deprecated`, 'true');
  }
  // An object of a namespaced kind has a namespace in its path; one of a cluster kind has none.
  if (resource.custom && isNowhere(kind, inNamespace, info.verb)) return pageNotFound(ctx);
  if (inNamespace && !kind.namespaced) throw pathNotFound();
  if (ctx.search !== '' && asksHistory(services, ctx) && (inNamespace || !kind.namespaced || !info.named))
    return sendHistory(services, ctx, resource);
  if (info.subresource !== '') return serveSubresource(services, ctx, resource);
  if (info.tooLong) throw pathNotFound();
  if (!inNamespace && kind.namespaced && info.named) throw pathNotFound();
  if (kind.virtual) return serveVirtual(services, ctx, resource);
  if (ctx.method === 'HEAD' || info.verb === '') throw methodRefused();
  if (info.legacyWatch && ctx.method !== 'GET') throw methodRefused();
  switch (info.verb) {
    case 'get':
      return asksExact(services, ctx) ? getExact(services, ctx, resource) : get(services, ctx, resource);
    case 'list':
      return asksExact(services, ctx) ? listExact(services, ctx, resource) : listObjects(services, ctx, resource);
    case 'watch':
      if (!kind.verbs.includes('watch')) throw methodNotAllowed(resource.resource, 'watch');
      return watchObjects(services, ctx, resource);
    case 'create':
      if (info.named || (kind.namespaced && !inNamespace) || !kind.verbs.includes('create')) throw methodRefused();
      // Later releases refuse the object, however it is sent, rather than the method.
      if (kind.createRefused !== undefined && !services.registry.env.since('1.34'))
        throw methodRefusedFor(resource.resource, kind.createRefused);
      return createObject(services, ctx, resource);
    case 'update':
      if (!info.named || !kind.verbs.includes('update')) throw methodRefused();
      return updateObject(services, ctx, resource);
    case 'patch':
      if (!info.named || !kind.verbs.includes('patch')) throw methodRefused();
      return patchObject(services, ctx, resource);
    case 'delete':
      if (!kind.verbs.includes('delete')) throw methodRefused();
      return deleteObject(services, ctx, resource);
    case 'deletecollection':
      if (!kind.verbs.includes('deletecollection') || (kind.namespaced && !inNamespace)) throw methodRefused();
      return deleteCollection(services, ctx, resource);
    default:
      throw methodRefused();
  }
}

/** The kind may be another one when its objects are loaded, and a client that no longer waits must not find its write done later. */
async function serveWhenLoaded(services: Services, ctx: Context, resource: Resource): Promise<void> {
  const needed = neededOf(ctx.info, resource);
  if (needed === 'nothing') return serveResource(services, ctx, true);
  const isOne = needed === 'one';
  await (isOne ? lookUp({ ...ctx.info, resource }) : resource.collection?.pending?.());
  if (!ctx.ended) await serveResource(services, ctx, isOne);
}

/** What a request needs of a kind whose objects are still being loaded. Lists wait by themselves, unless they can be read from the store. */
function neededOf({ verb, named, subresource }: Context['info'], { kind }: Resource): 'nothing' | 'one' | 'all' {
  if (verb === 'watch') return 'all';
  if (named)
    return subresource === '' || own(kind.subresources, subresource)?.type !== 'action' || ofOwnObject.has(subresource) ? 'one' : 'all';
  return verb === 'create' || verb === 'list' ? 'nothing' : 'all';
}
/** Actions that look up the object of their path, and no other of its kind. */
const ofOwnObject: ReadonlySet<string> = new Set(['binding', 'eviction', 'token']);

/** Custom objects have one address each; only lists and watches may look at all namespaces. */
const isNowhere = (kind: Kind, inNamespace: boolean, verb: string): boolean =>
  kind.namespaced ? !inNamespace && verb !== 'list' && verb !== 'watch' : inNamespace;

/** Controllers within the process use one version of each kind, whether or not the release of the API serves it. */
const ownResource = (catalog: Catalog, { inProcess, info }: Context): Resource | undefined =>
  inProcess ? catalog.findOwn(info.group, info.version, info.resource) : undefined;

/** A group that nobody serves is no path at all; what another release serves, and a group of another identity, is named. */
function unknownResource(services: Services, ctx: Context): void {
  const { group, version, resource } = ctx.info;
  const why = services.registry.catalog.whyNotServed(group, version, resource);
  if (why !== undefined) throw pathNotFound(why);
  const isBuiltIn = (name: string): boolean =>
    [...services.registry.catalog.all()].some(({ resources }) => resources.some((r) => r.group === name && !r.custom));
  if (isBuiltIn(group)) throw pathNotFound();
  const hint = otherIdentityHint(services.identity, group, isBuiltIn);
  if (hint !== undefined) throw pathNotFound(hint);
  pageNotFound(ctx);
}

async function serveSubresource(services: Services, ctx: Context, resource: Resource): Promise<void> {
  const { info } = ctx;
  const sub = own(resource.kind.subresources, info.subresource);
  if (sub === undefined && resource.custom) throw notFound(resource.resource, info.name);
  if (sub === undefined || (resource.kind.namespaced && !info.inNamespace)) throw pathNotFound();
  const verb = info.verb;
  const proxied = info.subresource === 'proxy';
  // A proxied path and its options are the target's business, and so is OPTIONS, which has no verb here.
  if (info.tooLong && !proxied) throw pathNotFound();
  if (!(sub.verbs as readonly string[]).includes(verb) && !(proxied && ctx.method === 'OPTIONS'))
    throw resource.custom ? methodNotAllowed(resource.resource, verb) : methodRefused();
  if (sub.type === 'action') return serveAction(services, ctx, resource, sub);
  if (ctx.method === 'HEAD') throw methodRefused();
  if (sub.type === 'view') {
    if (verb === 'get') return getView(services, ctx, resource, sub);
    return verb === 'update' ? updateView(services, ctx, resource, sub) : patchView(services, ctx, resource, sub);
  }
  if (verb === 'get') return get(services, ctx, resource);
  return verb === 'update'
    ? updateObject(services, ctx, resource, info.subresource)
    : patchObject(services, ctx, resource, info.subresource);
}

async function serveVirtual(services: Services, ctx: Context, resource: Resource): Promise<void> {
  const { info } = ctx;
  const id = `${resource.kind.group === '' ? 'core' : resource.kind.group}/${resource.kind.plural}`;
  const computed = services.computed?.get(id);
  if (computed !== undefined) return serveComputed(services, ctx, resource, computed);
  if (info.named) throw pathNotFound();
  if (info.verb !== 'create' || (resource.kind.namespaced && !info.inNamespace)) throw methodRefused();
  const action = services.actions.get(id);
  if (action === undefined) throw methodRefused();
  return runAction(services, ctx, resource, action, {
    apiVersion: resource.apiVersion,
    kind: resource.kind.kind,
    schema: resource.schema,
    identity: services.identity,
    release: resource.release,
  });
}

async function serveAction(services: Services, ctx: Context, resource: Resource, sub: ActionSubresource): Promise<void> {
  const id = `${resource.kind.group === '' ? 'core' : resource.kind.group}/${resource.kind.plural}/${ctx.info.subresource}`;
  const action = services.actions.get(id);
  if (action === undefined) throw methodRefused();
  if (sub.schema === undefined) return connect(ctx, resource, action);
  const group = services.registry.catalog.groupName(sub.kind.group);
  const apiVersion = (version: string): string => joinApiVersion(group, version);
  const expected: Expected | undefined =
    ctx.method !== 'POST'
      ? undefined
      : {
          apiVersion: apiVersion(sub.kind.version),
          kind: sub.kind.kind,
          schema: sub.schema,
          identity: services.identity,
          older: sub.olderVersions?.map(apiVersion),
        };
  return runAction(services, ctx, resource, action, expected);
}

/** Logs, streams and proxies read the query themselves and answer themselves. */
async function connect(ctx: Context, resource: Resource, action: Action): Promise<void> {
  await action({ ctx, write: writeContext(ctx, resource, noWriteOptions, ctx.info.subresource), body: undefined });
}

/** Objects of actions have no columns. */
const actionOffer = { protobuf: true, transforms: ['PartialObjectMetadata'] as const };

async function runAction(
  services: Services,
  ctx: Context,
  resource: Resource,
  action: Action,
  expected: Expected | undefined,
): Promise<void> {
  // As `objectForm` does for objects: before anything is done.
  const representation = services.negotiator.negotiate(ctx.header('accept'), actionOffer);
  const options = writeOptions(ctx, services.registry.catalog, 'CreateOptions');
  const write = writeContext(ctx, resource, options, ctx.info.subresource);
  const bodyBytes = expected === undefined ? undefined : await readBody(ctx);
  const faults = expected === undefined ? undefined : faultsOf(services, options);
  const body =
    expected === undefined || bodyBytes === undefined
      ? undefined
      : await decodeBody(ctx, bodyBytes, bodyMedia(ctx, true, services.identity.protobufMediaType), expected, { faults });
  const slices = ctx.slices();
  if (body !== undefined && expected !== undefined) {
    if (faults !== undefined) reportBodyFaults(ctx, options, faults, expected);
    ctx.audit?.requestObject(expected.schema, body);
    applyDefaults(expected.schema, body);
    // A rollback is not an object with metadata.
    if (body.metadata !== undefined) {
      checkNamespace(write, body);
      const owning = ownAction(services.registry, write, body, expected, slices !== undefined);
      if (slices === undefined) atOnce(owning);
      else await inSlices(owning, slices);
    }
    if (slices !== undefined) await slices.pause();
  }
  const answer = await action({ ctx, write, body });
  if (answer === undefined) return;
  if (slices !== undefined) await slices.pause();
  const pretty = isPretty(ctx, representation);
  const { transform, transformVersion } = representation;
  // A Status has no metadata of its own.
  const bytes =
    transform === undefined || answer.object.kind === 'Status'
      ? await representObject(answer.schema, answer.object, representation, pretty)
      : await representMetadata(viewPartialText(services.registry.env, answer.object, transformVersion), representation, pretty);
  send(ctx, answer.status, representation.type, bytes);
}

/** Whether built-in objects can be requested so at all: a path or method that there is not is not deprecated either. */
function hasRoute({ info, method }: Context, kind: Kind): boolean {
  const { verb, subresource, named, inNamespace } = info;
  if (method === 'HEAD' || info.tooLong) return false;
  const isListed = verb === 'list' || verb === 'watch';
  if (inNamespace !== kind.namespaced && !(isListed && kind.namespaced)) return false;
  if (subresource !== '') return (own(kind.subresources, subresource)?.verbs as readonly string[] | undefined)?.includes(verb) ?? false;
  const verbs: readonly string[] = kind.verbs;
  if (info.legacyWatch) return verb === 'watch' && method === 'GET' && verbs.includes('watch');
  // A watch of objects that have none is refused as a list.
  return (verbs.includes(verb) || (verb === 'watch' && verbs.includes('list'))) && (verb !== 'create' || !named);
}

/** Callers of a deprecated version are warned, and the audit log says so. */
function warnDeprecated(ctx: Context, identity: Identity, { warning, removed }: Deprecation): void {
  ctx.warn(warning);
  ctx.annotate(`${identity.groupSuffix}/deprecated`, 'true');
  if (removed !== undefined) ctx.annotate(`${identity.groupSuffix}/removed-release`, removed);
}
