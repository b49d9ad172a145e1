/** Subresources that show a part of the object as another kind: scale. */

import type { ApiObject, ViewSubresource } from '@plat-dev/kinds/kind';
import { equal } from '@plat-dev/lib/equal';
import { atOnce, inSlices, type Work } from '@plat-dev/lib/slices';
import { isAtLeast } from '@plat-dev/lib/version';
import { joinApiVersion, splitApiVersion } from '@plat-dev/meta/api-version';
import { badRequest, invalid } from '@plat-dev/meta/errors';
import { FieldErrors } from '@plat-dev/meta/field';
import { appliedObject, type ManagedFields, objectManagers, recordedFields, viewManagers } from '@plat-dev/patch';
import { applyDefaults, cloneJson, decode } from '@plat-dev/schema/json';
import type { Item } from '@plat-dev/storage/item';
import type { Context } from '../context.ts';
import type { Resource } from '../registry/catalog.ts';
import { keyOf, type RegistryDeps, type WriteContext } from '../registry/context.ts';
import { waitForVersion } from '../registry/list.ts';
import { ownershipRules, takeoverWarning } from '../registry/ownership.ts';
import { missing } from '../registry/unreadable.ts';
import { update } from '../registry/update.ts';
import { bodyMedia, decodeBody, readBody } from '../request/body.ts';
import { faultsOf, reportBodyFaults } from '../request/field-validation.ts';
import type { Representation } from '../request/negotiate.ts';
import { writeOptions } from '../request/options.ts';
import type { WriteOptions } from '../request/parsed-options.ts';
import { representMetadata, representObject, representText } from '../response/represent.ts';
import { send } from '../response/respond.ts';
import { viewPartialText, viewTableText } from '../response/table.ts';
import type { Services } from '../services.ts';
import { type NewView, patchedView } from './patch.ts';
import { includeObject, isPretty, objectForm } from './read.ts';
import { writeContext } from './write.ts';

export type View = ViewSubresource;

const typeOf = (services: Services, view: View): { apiVersion: string; kind: string } => {
  const group = services.registry.catalog.groupName(view.kind.group);
  return { apiVersion: joinApiVersion(group, view.kind.version), kind: view.kind.kind };
};

function viewOf(services: Services, view: View, hub: ApiObject): ApiObject {
  const object = view.show(hub as never, services.registry.env) as ApiObject;
  // Kind and version come first in the answer.
  return { ...typeOf(services, view), ...object, ...typeOf(services, view) };
}

async function answer(services: Services, ctx: Context, representation: Representation, view: View, hub: ApiObject): Promise<void> {
  const { transform, transformVersion, type } = representation;
  const object = viewOf(services, view, hub);
  const pretty = isPretty(ctx, representation);
  if (transform === 'Table') {
    const text = viewTableText(services.registry.env, view, object, transformVersion, includeObject(ctx, representation));
    send(ctx, 200, type, await representText(text, representation, pretty));
  } else if (transform !== undefined)
    send(ctx, 200, type, await representMetadata(viewPartialText(services.registry.env, object, transformVersion), representation, pretty));
  else send(ctx, 200, type, await representObject(view.schema, object, representation, pretty));
}

/** Releases from this one on name the object whose part is missing. */
const OBJECT_NAMED_SINCE = '1.25';

/** A view that is not there is missed under its own name, in the group of the object or, for the core group, of the view. */
function viewName(services: Services, ctx: Context, resource: Resource, view: View): Resource['resource'] {
  // Stateful sets are named without the view, as ever.
  if (resource.custom || resource.kind.plural === 'statefulsets' || isAtLeast(services.registry.catalog.release, OBJECT_NAMED_SINCE))
    return resource.resource;
  const group = resource.group === '' ? services.registry.catalog.groupName(view.kind.group) : resource.group;
  return { group, resource: `${resource.kind.plural}/${ctx.info.subresource}` };
}

export async function getView(services: Services, ctx: Context, resource: Resource, view: View): Promise<void> {
  const representation = objectForm(services, ctx, resource);
  await waitForVersion(services.registry, ctx.param('resourceVersion') ?? '');
  const target = { resource, namespace: ctx.info.namespace, name: ctx.info.name };
  const item = resource.collection?.items.get(keyOf(target));
  if (item === undefined) throw missing(target, viewName(services, ctx, resource, view));
  const object = await viewedItem(resource, item);
  const hidden = view.hidden?.(object as never);
  if (hidden !== undefined) throw hidden;
  return answer(services, ctx, representation, view, object);
}

/** The form of an object of which a view shows a part. */
const viewedItem = async (resource: Resource, item: Item): Promise<ApiObject> =>
  resource.versions.validatesRequestVersion ? resource.versions.read(item) : resource.versions.decode(item);

export async function updateView(services: Services, ctx: Context, resource: Resource, view: View): Promise<void> {
  const representation = objectForm(services, ctx, resource);
  const options = writeOptions(ctx, services.registry.catalog, 'UpdateOptions');
  const media = bodyMedia(ctx, true, services.identity.protobufMediaType);
  const faults = faultsOf(services, options);
  const type = typeOf(services, view);
  const expected = { ...type, schema: view.schema, identity: services.identity };
  const body = await readBody(ctx);
  const bodyView = await decodeBody(ctx, body, media, expected, { faults });
  if (faults !== undefined) reportBodyFaults(ctx, options, faults, type);
  ctx.audit?.requestObject(view.schema, bodyView);
  if (bodyView.metadata.name === undefined)
    throw badRequest(`the name of the object (${ctx.info.name} based on URL) was undeterminable: name must be provided`);
  const newView = function* (): Work<ApiObject> {
    const copy = cloneJson(bodyView);
    yield;
    return copy as unknown as ApiObject;
  };
  return writeView(services, ctx, resource, representation, view, options, newView, true);
}

export async function patchView(services: Services, ctx: Context, resource: Resource, view: View): Promise<void> {
  const representation = objectForm(services, ctx, resource);
  const { options, newView } = await patchedView(services, ctx, view.schema, typeOf(services, view));
  return writeView(services, ctx, resource, representation, view, options, newView);
}

async function writeView(
  services: Services,
  ctx: Context,
  resource: Resource,
  representation: Representation,
  view: View,
  options: WriteOptions,
  newView: NewView,
  uidIsCondition = false,
): Promise<void> {
  const { registry } = services;
  const write = writeContext(ctx, resource, options, ctx.info.subresource);
  const result = await update(registry, write, {
    uidIsCondition,
    admittedAs: {
      kind: { ...view.kind, schema: view.schema },
      show: (hub) => viewOf(services, view, resource.versions.inRequestVersion(hub)),
      write: (admitted, hub) => admittedView(services, resource, view, admitted, hub),
    },
    change: async (live) => {
      const { versions } = resource;
      const whole = versions.validatesRequestVersion ? await versions.show(live) : live;
      const storedView = viewOf(services, view, whole);
      const owners = viewManagers(
        live.metadata.managedFields as never,
        replicasPath(registry, resource),
        typeOf(services, view).apiVersion,
      );
      if (owners !== undefined) storedView.metadata.managedFields = owners as never;
      const change = viewChange(services, write, view, options, storedView, newView);
      const slices = ctx.slices();
      const { changedView, managers } = slices === undefined ? atOnce(change) : await inSlices(change, slices);
      const object = withView(registry, write, view, whole, changedView, managers);
      return versions.validatesRequestVersion ? versions.accept(object) : object;
    },
  });
  return answer(services, ctx, representation, view, await viewedItem(resource, result.item));
}

/** The object with a view that admission may have changed. */
async function admittedView(services: Services, resource: Resource, view: View, admitted: ApiObject, hub: ApiObject): Promise<ApiObject> {
  const whole = resource.versions.inRequestVersion(hub);
  if (whole !== hub && equal(admitted, viewOf(services, view, whole))) return hub;
  view.write(admitted as never, whole as never, new FieldErrors(), services.registry.env);
  return whole === hub ? hub : resource.versions.accept(whole);
}

/** Where the versions of a kind that scales keep the number. */
function replicasPath(registry: RegistryDeps, resource: Resource): (apiVersion: string) => readonly string[] | undefined {
  return (apiVersion) => {
    const { group, version } = splitApiVersion(apiVersion);
    const resourceInVersion = registry.catalog.find(group, version, resource.kind.plural);
    if (resourceInVersion === undefined) return undefined;
    const { scale } = resourceInVersion.kind.subresources;
    return scale?.type === 'view' ? (scale.replicasPath ?? ['spec', 'replicas']) : [];
  };
}

/** The new view, and who owns what of it. */
function* viewChange(
  services: Services,
  write: WriteContext,
  view: View,
  options: WriteOptions,
  storedView: ApiObject,
  newView: NewView,
): Work<{ changedView: ApiObject; managers: ManagedFields | undefined }> {
  const { apiVersion, kind } = typeOf(services, view);
  const common = {
    type: view.schema,
    apiVersion,
    manager: write.manager,
    subresource: write.subresource,
    now: services.registry.env.now(),
    rules: ownershipRules(services.registry.env),
    large: write.request?.slices() !== undefined,
  };
  if (typeof newView !== 'function') {
    const { applied } = newView;
    // What is shown of an object is not in the normal form: it has zeros where that has nothing.
    const decodeView = (mergedView: object) => decode(view.schema, mergedView) as never;
    const done = yield* appliedObject({
      ...common,
      kind,
      live: storedView as never,
      applied,
      force: options.force ?? false,
      decode: decodeView,
    });
    return { changedView: structuredClone(done.object) as unknown as ApiObject, managers: done.managedFields };
  }
  const changedView = yield* newView(storedView);
  // Up to 1.26 nobody owns the number of a custom object that was scaled: so it is with the stock server, whose clients count on it.
  const managers =
    write.resource.custom && !services.registry.env.since('1.27')
      ? undefined
      : yield* recordedFields({ ...common, live: storedView as never, object: changedView as never, onTakeover: takeoverWarning(write) });
  return { changedView, managers };
}

function withView(
  registry: RegistryDeps,
  write: WriteContext,
  view: View,
  live: ApiObject,
  changedView: ApiObject,
  managers: ManagedFields | undefined,
): ApiObject {
  const { resource } = write;
  applyDefaults(view.schema, changedView as never);
  const errors = new FieldErrors();
  const object = structuredClone(live);
  view.write(changedView as never, object as never, errors, registry.env);
  if (!errors.empty) {
    const { group, kind } = view.kind;
    throw invalid({ group: registry.catalog.groupName(group), resource: kind }, write.name, errors.list);
  }
  const { resourceVersion, uid, name, namespace } = changedView.metadata;
  // A view that names no version builds on the newest.
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
  if (uid !== undefined) object.metadata.uid = uid;
  if (name !== undefined) object.metadata.name = name;
  if (namespace !== undefined) object.metadata.namespace = namespace;
  const owners = objectManagers(live.metadata.managedFields as never, managers, replicasPath(registry, resource), resource.apiVersion);
  if (owners === undefined) delete object.metadata.managedFields;
  else object.metadata.managedFields = owners as never;
  return object;
}
