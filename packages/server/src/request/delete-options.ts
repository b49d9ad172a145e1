/**
 * Options of a deletion: the body's, or without one the query's. With a body the query can only make the deletion safer: its
 * dryRun is honored, and its preconditions must hold.
 *
 *   DELETE …/x?dryRun=All&gracePeriodSeconds=5   {"kind":"DeleteOptions","gracePeriodSeconds":0}   → dry run, 0 seconds
 */

import { DeleteOptions as DeleteOptionsSchema } from '@plat-dev/kinds/meta-kinds';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { groupName } from '@plat-dev/meta/identity';
import type { JsonObject } from '@plat-dev/schema/types';
import type { Context } from '../context.ts';
import type { DeleteOptions } from '../registry/delete-options.ts';
import type { Services } from '../services.ts';
import { bodyMedia, decodeBody, readBody } from './body.ts';
import { checkDeleteOptions, dryRunIn } from './options.ts';
import { queryBoolean } from './query-boolean.ts';
import { queryInteger } from './query-integer.ts';

/** Options as parsed: with `dryRun`, which becomes a property of the whole write. */
interface GivenOptions extends DeleteOptions {
  readonly dryRun?: string[];
}

export interface Deletion {
  readonly options: DeleteOptions;
  readonly dryRun: boolean;
  /** As admission sees them. */
  readonly json: JsonObject;
}

/** `collection`: the query also selects the objects, by a resourceVersion among others. */
export async function deleteOptions(services: Services, ctx: Context, collection: boolean): Promise<Deletion> {
  const type = { kind: 'DeleteOptions', apiVersion: joinApiVersion(groupName(services.identity, 'meta'), 'v1') };
  const body = await readBody(ctx);
  let options: GivenOptions;
  if (body.length > 0) {
    options = await fromBody(services, ctx, body);
    const bodyOptions = options;
    ctx.audit?.requestBody(() => ({ ...type, ...bodyOptions }) as JsonObject);
    if (ctx.search !== '') options = safer(services, ctx, options, collection);
  } else options = fromQuery(services, ctx);
  checkDeleteOptions(services.registry.catalog, options);
  return { options: options, dryRun: (options.dryRun ?? []).length > 0, json: { ...type, ...options } as JsonObject };
}

async function fromBody({ identity, registry: { catalog } }: Services, ctx: Context, body: Buffer): Promise<GivenOptions> {
  const media = bodyMedia(ctx, true, identity.protobufMediaType);
  // Clients send options under the version of the group that they use.
  const expected = { apiVersion: 'v1', kind: 'DeleteOptions', schema: catalog.schema(DeleteOptionsSchema), identity, anyVersion: true };
  const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...options } = await decodeBody(ctx, body, media, expected);
  return options as GivenOptions;
}

function safer({ identity }: Services, ctx: Context, body: GivenOptions, collection: boolean): GivenOptions {
  const dryRun = [...new Set([...(body.dryRun ?? []), ...dryRunIn(ctx, identity)])];
  const preconditions = collection ? undefined : conditionsIn(ctx);
  return {
    ...body,
    ...(preconditions !== undefined && { preconditions: { ...preconditions, ...body.preconditions } }),
    ...(dryRun.length > 0 && { dryRun }),
  };
}
/** Preconditions are query parameters of their own. */
function conditionsIn(ctx: Context): DeleteOptions['preconditions'] {
  const uid = ctx.param('uid');
  const resourceVersion = ctx.param('resourceVersion');
  if (uid === undefined && resourceVersion === undefined) return undefined;
  return { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) };
}

const noOptions: GivenOptions = {};

function fromQuery({ identity }: Services, ctx: Context): GivenOptions {
  if (ctx.search === '') return noOptions;
  const grace = ctx.param('gracePeriodSeconds');
  const orphanDependents = queryBoolean('orphanDependents', ctx.param('orphanDependents'));
  const policy = ctx.param('propagationPolicy');
  const dryRun = dryRunIn(ctx, identity);
  const preconditions = conditionsIn(ctx);
  return {
    ...(preconditions !== undefined && { preconditions }),
    ...(grace !== undefined && { gracePeriodSeconds: queryInteger(grace) }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(policy !== undefined && { propagationPolicy: policy }),
    ...(dryRun.length > 0 && { dryRun }),
  };
}
