/**
 * Options of a deletion, from the body and from the query. A field that the body sets counts; what it leaves out is as the query
 * says. A dry run that either asks for is one.
 *
 *   DELETE …/x?dryRun=All&gracePeriodSeconds=5   {"kind":"DeleteOptions","gracePeriodSeconds":0}   → dry run, 0 seconds
 */
import { groupName } from '../identity.ts';
import { DeleteOptions as DeleteOptionsSchema } from '../kinds/meta-kinds.ts';
import { badRequest } from '../meta/errors.ts';
import type { DeleteOptions } from '../registry/remove.ts';
import type { JsonObject } from '../schema/types.ts';
import { bodyMedia, decodeBody, readBody } from './body.ts';
import type { Context } from './context.ts';
import { checkDeleteOptions } from './options.ts';
import type { Services } from './services.ts';

/** Options as they are read: with `dryRun`, which becomes a property of the whole write. */
interface GivenOptions extends DeleteOptions {
  readonly dryRun?: string[];
}

export interface Deletion {
  readonly options: DeleteOptions;
  readonly dryRun: boolean;
  /** As admission sees them. */
  readonly json: JsonObject;
}

/** `collection`: the query also chooses the objects, by a resourceVersion among others. */
export async function deleteOptions(services: Services, ctx: Context, collection: boolean): Promise<Deletion> {
  const type = { kind: 'DeleteOptions', apiVersion: `${groupName(services.identity, 'meta')}/v1` };
  let given = fromQuery(ctx);
  const body = await readBody(ctx);
  if (body.length > 0) {
    const sent = await fromBody(services, ctx, body);
    ctx.audit?.requestBody(() => ({ ...type, ...sent }) as JsonObject);
    given = both(given, sent, collection);
  }
  checkDeleteOptions(services.registry.catalog, given);
  return { options: given, dryRun: (given.dryRun ?? []).length > 0, json: { ...type, ...given } as JsonObject };
}

async function fromBody({ identity }: Services, ctx: Context, body: Buffer): Promise<GivenOptions> {
  const media = bodyMedia(ctx, true, identity.protobufMediaType);
  // Clients send options under the version of the group they talk to.
  const expected = { apiVersion: 'v1', kind: 'DeleteOptions', schema: DeleteOptionsSchema, identity, anyVersion: true };
  const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...options } = await decodeBody(body, media, expected);
  return options as GivenOptions;
}

function both(query: GivenOptions, body: GivenOptions, collection: boolean): GivenOptions {
  const { dryRun: queryDryRun = [], orphanDependents, propagationPolicy, preconditions, ...rest } = query;
  const saysDependents = body.orphanDependents !== undefined || body.propagationPolicy !== undefined;
  const dryRun = [...new Set([...(body.dryRun ?? []), ...queryDryRun])];
  return {
    ...rest,
    ...(!saysDependents && orphanDependents !== undefined && { orphanDependents }),
    ...(!saysDependents && propagationPolicy !== undefined && { propagationPolicy }),
    ...body,
    ...(preconditions !== undefined && !collection && { preconditions: { ...preconditions, ...body.preconditions } }),
    ...(dryRun.length > 0 && { dryRun }),
  };
}

const noOptions: GivenOptions = {};

function fromQuery(ctx: Context): GivenOptions {
  if (ctx.search === '') return noOptions;
  const grace = ctx.param('gracePeriodSeconds');
  if (grace !== undefined && !/^-?\d+$/.test(grace)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(grace)}: invalid syntax`);
  const orphan = ctx.param('orphanDependents');
  const policy = ctx.param('propagationPolicy');
  const dryRun = ctx.query.getAll('dryRun');
  // The names of preconditions stand for themselves in a query.
  const uid = ctx.param('uid');
  const resourceVersion = ctx.param('resourceVersion');
  const preconditions = { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) };
  return {
    ...((uid !== undefined || resourceVersion !== undefined) && { preconditions }),
    ...(grace !== undefined && { gracePeriodSeconds: Number(grace) }),
    ...(orphan !== undefined && { orphanDependents: orphan !== 'false' && orphan !== '0' }),
    ...(policy !== undefined && { propagationPolicy: policy }),
    ...(dryRun.length > 0 && { dryRun }),
  };
}
