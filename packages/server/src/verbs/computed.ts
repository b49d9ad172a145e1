/** get and list of objects that are computed on request and not stored: component statuses. */
import { methodNotAllowed, methodRefused } from '@plat-dev/meta/errors';
import type { Context } from '../context.ts';
import type { Resource } from '../registry/catalog.ts';
import { itemOfObject } from '../registry/commit.ts';
import { readOptions, selectionOf } from '../request/options.ts';
import { type ListMeta, representList } from '../response/represent.ts';
import { send } from '../response/respond.ts';
import type { Computed, Services } from '../services.ts';
import { includeObject, isPretty, listOffer, objectOffer, sendItem } from './read.ts';

export async function serveComputed(services: Services, ctx: Context, resource: Resource, computed: Computed): Promise<void> {
  const { verb, name } = ctx.info;
  if (verb === 'watch') throw methodNotAllowed(resource.resource, 'watch');
  if (ctx.method === 'HEAD' || (verb !== 'get' && verb !== 'list')) throw methodRefused();
  if (verb === 'list') return sendComputed(services, ctx, resource, computed);
  const representation = services.negotiator.negotiate(ctx.header('accept'), objectOffer(resource));
  const object = await computed.get(name);
  return sendItem(services, ctx, 200, resource, itemOfObject(resource, name, object), representation);
}

async function sendComputed(services: Services, ctx: Context, resource: Resource, computed: Computed): Promise<void> {
  const representation = services.negotiator.negotiate(ctx.header('accept'), listOffer(resource));
  // Computed objects have neither versions nor pages; invalid options are refused all the same.
  readOptions(ctx, services.registry.catalog, false);
  const selection = selectionOf(ctx, resource, '');
  const objects = await computed.list();
  const items = objects.map((object) => itemOfObject(resource, object.metadata.name ?? '', object)).filter(selection.matches);
  // Computed objects have no resourceVersion.
  const meta = {} as ListMeta;
  const pretty = isPretty(ctx, representation);
  const body = await representList(
    services.registry.env,
    resource,
    items,
    meta,
    representation,
    pretty,
    includeObject(ctx, representation),
  );
  send(ctx, 200, representation.type, body);
}
