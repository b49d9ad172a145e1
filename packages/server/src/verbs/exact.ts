/** get and list with `resourceVersionMatch=Exact`, where history is served. */
import { ApiError, badRequest } from '@plat-dev/meta/errors';
import type { Context } from '../context.ts';
import { checkMayReadHistory, mayReadHistory, servesHistory } from '../history/access.ts';
import { type KeptPage, listKept, objectAt } from '../history/exact.ts';
import { isHistoryToken, readKeptListToken } from '../history/tokens.ts';
import type { Resource } from '../registry/catalog.ts';
import { parseVersion, versionWithContinue, waitForVersion } from '../registry/list.ts';
import type { Selection } from '../registry/select.ts';
import { readOptions, selectionOf } from '../request/options.ts';
import { sendList } from '../response/list-body.ts';
import type { Services } from '../services.ts';
import { includeObject, isPretty, listObjects, listOffer, objectForm, sendItem } from './read.ts';

/** A stock server ignores the parameter of a get. */
export const asksExact = ({ registry }: Services, ctx: Context): boolean =>
  ctx.search !== '' && (ctx.param('resourceVersionMatch') === 'Exact' || isContinued(ctx)) && servesHistory(registry.catalog);

const isContinued = (ctx: Context): boolean => isHistoryToken(ctx.param('continue') ?? '');

export async function getExact(services: Services, ctx: Context, resource: Resource): Promise<void> {
  const { registry } = services;
  const representation = objectForm(services, ctx, resource);
  const text = ctx.param('resourceVersion') ?? '';
  const revision = parseVersion(text) ?? 0;
  if (revision === 0) throw badRequest('resourceVersionMatch=Exact needs a resourceVersion other than 0');
  await checkMayReadHistory(services, ctx);
  await waitForVersion(registry, text);
  const { namespace, name } = ctx.info;
  const item = await objectAt(registry, { resource, namespace, name }, revision);
  return sendItem(services, ctx, 200, resource, item, representation);
}

/** Within the window of watches as a stock server; beyond it what is kept, for those who may see it. */
export async function listExact(services: Services, ctx: Context, resource: Resource): Promise<void> {
  if (isContinued(ctx)) await checkMayReadHistory(services, ctx);
  else
    try {
      return await listObjects(services, ctx, resource);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 410 || !(await mayReadHistory(services, ctx))) throw error;
    }
  const { registry, clock } = services;
  const representation = objectForm(services, ctx, resource, listOffer(resource));
  const selection = selectionOf(ctx, resource, ctx.info.namespace);
  const page = pageOf(services, ctx, resource, selection);
  await waitForVersion(registry, String(page.revision));
  const result = await listKept(registry, resource, selection, page, clock.now(), ctx);
  const include = includeObject(ctx, representation);
  const notEverything = { ...selection, everything: false };
  return sendList(services, ctx, resource, result, notEverything, representation, isPretty(ctx, representation), include);
}

function pageOf({ registry }: Services, ctx: Context, { collection }: Resource, selection: Selection): KeptPage {
  const options = readOptions(ctx, registry.catalog, false);
  const limit = registry.env.feature('APIListChunking') ? options.limit : 0;
  if (!isContinued(ctx)) return { revision: Number(options.resourceVersion), limit };
  if (options.resourceVersion !== '' && options.resourceVersion !== '0') throw versionWithContinue();
  const { at, from } = readKeptListToken(options.continue, `${collection?.prefix}${selection.prefix}`);
  return { revision: at, from, limit };
}
