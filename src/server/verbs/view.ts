/** Subresources that show a part of the object as another kind: scale. */
import type { ApiObject, ViewSubresource } from '../../kinds/kind.ts';
import { fromHub, toHub } from '../../kinds/served.ts';
import { invalid, notFound } from '../../meta/errors.ts';
import { FieldErrors } from '../../meta/field.ts';
import type { Resource } from '../../registry/catalog.ts';
import { keyOf } from '../../registry/context.ts';
import { normal, parseItem } from '../../registry/convert.ts';
import { fresh } from '../../registry/list.ts';
import { ownUpdated } from '../../registry/ownership.ts';
import { update } from '../../registry/update.ts';
import { applyDefaults } from '../../schema/json.ts';
import { bodyMedia, decodeBody, readBody } from '../body.ts';
import type { Context } from '../context.ts';
import { type WriteOptions, writeOptions } from '../options.ts';
import { representObject } from '../represent.ts';
import { send } from '../respond.ts';
import type { Services } from '../services.ts';
import { patchedView } from './patch.ts';
import { isPretty, objectOffer } from './read.ts';
import { writeContext } from './write.ts';

export type View = ViewSubresource;

const typeOf = (services: Services, view: View): { apiVersion: string; kind: string } => {
  const group = services.registry.catalog.groupName(view.kind.group);
  return { apiVersion: group === '' ? view.kind.version : `${group}/${view.kind.version}`, kind: view.kind.kind };
};

function shown(services: Services, view: View, hub: ApiObject): ApiObject {
  const object = view.show(hub as never, services.registry.env) as ApiObject;
  return Object.assign({ kind: '', apiVersion: '' }, object, typeOf(services, view));
}

async function answer(services: Services, ctx: Context, resource: Resource, view: View, hub: ApiObject): Promise<void> {
  const representation = services.negotiator.negotiate(ctx.header('accept'), { ...objectOffer(resource), transforms: [] });
  const body = await representObject(view.schema, shown(services, view, hub), representation, isPretty(ctx, representation));
  send(ctx, 200, representation.type, body);
}

export async function getView(services: Services, ctx: Context, resource: Resource, view: View): Promise<void> {
  await fresh(services.registry, ctx.param('resourceVersion') ?? '');
  const item = resource.collection?.items.get(keyOf({ resource, namespace: ctx.info.namespace, name: ctx.info.name }));
  if (item === undefined) throw notFound(resource.resource, ctx.info.name);
  return answer(services, ctx, resource, view, normal(resource, parseItem(item)));
}

export async function updateView(services: Services, ctx: Context, resource: Resource, view: View): Promise<void> {
  const options = writeOptions(ctx, services.registry.catalog, 'UpdateOptions');
  const media = bodyMedia(ctx, true, services.identity.protobufMediaType);
  const given = await decodeBody(await readBody(ctx), media, { ...typeOf(services, view), schema: view.schema });
  return writeView(services, ctx, resource, view, options, () => structuredClone(given));
}

export async function patchView(services: Services, ctx: Context, resource: Resource, view: View): Promise<void> {
  const { options, patch } = await patchedView(services, ctx, view.schema, typeOf(services, view));
  return writeView(services, ctx, resource, view, options, patch);
}

async function writeView(
  services: Services,
  ctx: Context,
  resource: Resource,
  view: View,
  options: WriteOptions,
  make: (current: ApiObject) => ApiObject,
): Promise<void> {
  const { registry } = services;
  const write = writeContext(ctx, resource, options, ctx.info.subresource);
  const result = await update(registry, write, {
    change: (live) => {
      const before = structuredClone(live);
      const wanted = make(shown(services, view, live));
      applyDefaults(view.schema, wanted as never);
      const errors = new FieldErrors();
      const object = structuredClone(live);
      view.write(wanted as never, object as never, errors, registry.env);
      if (!errors.empty) {
        const { group, kind } = view.kind;
        throw invalid({ group: registry.catalog.groupName(group), resource: kind }, write.name, errors.list);
      }
      const version = wanted.metadata.resourceVersion;
      if (version === undefined) delete object.metadata.resourceVersion;
      else object.metadata.resourceVersion = version;
      if (wanted.metadata.uid !== undefined) object.metadata.uid = wanted.metadata.uid;
      if (wanted.metadata.name !== undefined) object.metadata.name = wanted.metadata.name;
      const spoken = resource.isHub ? object : fromHub(resource, object);
      ownUpdated(registry, write, spoken, resource.isHub ? before : fromHub(resource, before));
      return toHub(resource, spoken);
    },
  });
  return answer(services, ctx, resource, view, normal(resource, parseItem(result.item)));
}
