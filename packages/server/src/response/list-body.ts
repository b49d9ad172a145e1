/**
 * Sending lists. The usual list is the items' stored bytes one after another: small ones in one buffer, which is kept
 * until the collection changes; large ones in slices, each sent when the client has taken the one before, so that no
 * list holds the event loop or much memory. Long lists in other forms are made and sent in pieces, too (long-list.ts).
 */

import { fitsTurn, nextTurn } from '@plat-dev/lib/next-turn';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import type { Item } from '@plat-dev/storage/item';
import type { Context } from '../context.ts';
import type { Resource } from '../registry/catalog.ts';
import type { ListResult } from '../registry/list.ts';
import type { Selection } from '../registry/select.ts';
import type { Representation } from '../request/negotiate.ts';
import type { Services } from '../services.ts';
import { openBody } from './body-stream.ts';
import { KEPT_AT_ONCE } from './list-cache.ts';
import { isLong, sendLong } from './long-list.ts';
import { type IncludeObject, isPlain, type ListMeta, needsCalls, representList, typeMetaLength } from './represent.ts';
import { head, send, wantsGzip } from './respond.ts';
import { isWhole, PIECE } from './response-pieces.ts';
import { rowTexts, secondOf, tableEnd, tableStart } from './table.ts';

/** Lists up to this size are sent in one piece and kept. */
const KEEP_LIMIT = 4 * 1024 * 1024;
/** Lists up to this size are copied into one buffer. */
const JOIN_LIMIT = 64 * 1024;
/** Size of a slice of a large list. */
const SLICE = 128 * 1024;

export function sendList(
  services: Services,
  ctx: Context,
  resource: Resource,
  result: ListResult,
  selection: Selection,
  representation: Representation,
  pretty: boolean,
  include: IncludeObject,
): MaybePromise<void> {
  const meta: ListMeta = {
    resourceVersion: String(result.revision),
    // A list of whole custom objects says even that there is no more.
    ...((result.continue !== '' || (resource.custom && representation.transform === undefined)) && { continue: result.continue }),
    ...(result.remaining !== undefined && services.registry.env.feature('RemainingItemCount') && { remainingItemCount: result.remaining }),
  };
  const foreign = resource.hub.later && result.items.some((item) => resource.versions.isUnconverted(item));
  if (foreign || !isPlain(resource, representation, pretty)) {
    const { env } = services.registry;
    if (isLong(result.items, representation, pretty))
      return sendLong(ctx, env, resource, result.items, meta, representation, pretty, include);
    if (isWholeList(resource, result, selection) && isKeptTable(resource, representation, pretty, include))
      return sendTable(services, ctx, resource, result.items, meta, selection, representation, include);
    return representList(env, resource, result.items, meta, representation, pretty, include).then((body) =>
      send(ctx, 200, representation.type, body),
    );
  }
  const start = Buffer.from(
    `{"kind":${JSON.stringify(resource.kind.listKind)},"apiVersion":${JSON.stringify(resource.apiVersion)},"metadata":${JSON.stringify(meta)},"items":[`,
  );
  const cut = resource.custom ? 0 : typeMetaLength(resource);
  const whole = isWholeList(resource, result, selection);
  const id = whole ? `${resource.collection?.prefix}${selection.prefix}` : '';
  const cachedBody = whole ? services.keptLists.find(id, resource.collection?.changes ?? 0) : undefined;
  if (cachedBody !== undefined) return sendParts(ctx, representation.type, [start, cachedBody]);
  const size = start.length + joinedSize(result.items, cut);
  const change = resource.collection?.changes ?? 0;
  const isJoined = size <= KEEP_LIMIT && (whole ? services.keptLists.isWorth(id, change, size) : size <= KEPT_AT_ONCE);
  // What is recorded is sent in one piece.
  if (!isJoined && (size > KEEP_LIMIT || ctx.audit?.wantsResponse !== true))
    return stream(ctx, representation.type, start, result.items, cut, size);
  const body = joinedItems(result.items, cut);
  if (whole) services.keptLists.keep(id, { change, body });
  return sendParts(ctx, representation.type, [start, body]);
}

const END = Buffer.from(']}\n');

/** Whether a list is the current state of a collection, or of a namespace in it. One that is not loaded does not count its changes. */
const isWholeList = ({ collection }: Resource, result: ListResult, selection: Selection): boolean =>
  selection.everything &&
  result.whole &&
  collection !== undefined &&
  collection.pending === undefined &&
  collection.lastChange <= result.revision;

const isKeptTable = (resource: Resource, r: Representation, pretty: boolean, include: IncludeObject): boolean =>
  r.transform === 'Table' && r.media === 'json' && !pretty && !needsCalls(resource, r, include);

/** The rows of a Table are kept, too, for as long as the ages in them are right. */
async function sendTable(
  services: Services,
  ctx: Context,
  resource: Resource,
  items: readonly Item[],
  meta: ListMeta,
  selection: Selection,
  { type, transformVersion }: Representation,
  include: IncludeObject,
): Promise<void> {
  const { env } = services.registry;
  const { keptLists } = services;
  // A line end is in no name of a namespace.
  const id = `${resource.collection?.prefix}${selection.prefix}\n${resource.apiVersion} ${transformVersion} ${include}`;
  const change = resource.collection?.changes ?? 0;
  const second = secondOf(env);
  let rows = keptLists.find(id, change, resource, second);
  if (rows === undefined) {
    rows = Buffer.from(`${tableEnd(resource, rowTexts(env, resource, items, transformVersion, include))}\n`);
    if (keptLists.isWorth(id, change, rows.length)) keptLists.keep(id, { change, body: rows, resource, second });
  }
  return sendParts(ctx, type, [Buffer.from(tableStart(resource, meta, transformVersion, true)), rows]);
}

function sendParts(ctx: Context, type: string, parts: readonly Buffer[]): MaybePromise<void> {
  const size = parts.reduce((n, part) => n + part.length, 0);
  // A small list goes out in one write.
  if (size <= JOIN_LIMIT || wantsGzip(ctx) || ctx.audit?.wantsResponse === true) {
    send(ctx, 200, type, Buffer.concat(parts, size));
    return;
  }
  if (!isWhole(ctx, size)) return sendSliced(ctx, type, parts, size);
  // Of many large lists that are requested together, each waits for its turn.
  if (fitsTurn(size)) sendWhole(ctx, type, parts, size);
  else
    return nextTurn(ctx.owner).then(() => {
      if (!ctx.ended) sendWhole(ctx, type, parts, size);
    });
}

function sendWhole(ctx: Context, type: string, parts: readonly Buffer[], size: number): void {
  ctx.responseBytes = size;
  head(ctx, 200, ['Content-Type', type, 'Content-Length', String(size)]);
  const { res } = ctx;
  for (let i = 0; i < parts.length - 1; i++) res.write(parts[i] as Buffer);
  res.end(parts[parts.length - 1] as Buffer);
}

/** A kept list goes out slice by slice, too: encrypting it in one piece would hold all others up. */
async function sendSliced(ctx: Context, type: string, parts: readonly Buffer[], size: number): Promise<void> {
  const out = openBody(ctx, type, size);
  for (const part of parts) for (let at = 0; at < part.length && !out.isClosed; at += PIECE) await out.put(part.subarray(at, at + PIECE));
  out.end(Buffer.alloc(0));
}

/** Bytes of what `joinedItems` makes. */
function joinedSize(items: readonly Item[], cut: number): number {
  // Commas between the items, and a brace for each that is cut.
  let size = END.length + Math.max(0, items.length - 1) + (cut > 0 ? items.length : 0);
  for (const item of items) size += item.bytes.length - cut;
  return size;
}

/** `{…},{…}]}` of items without their first `cut` bytes. */
function joinedItems(items: readonly Item[], cut: number): Buffer {
  const body = Buffer.allocUnsafe(joinedSize(items, cut));
  let at = 0;
  for (let i = 0; i < items.length; i++) {
    if (i > 0) body[at++] = COMMA;
    if (cut > 0) body[at++] = BRACE;
    at += (items[i] as Item).bytes.copy(body, at, cut);
  }
  at += END.copy(body, at);
  return body.subarray(0, at);
}
const COMMA = 0x2c;
const BRACE = 0x7b;

/**
 * Writes slice after slice, waiting for the client to take them. A slice that was taken is filled again: what a list of many
 * megabytes leaves to be collected would else be as large as itself.
 */
async function stream(ctx: Context, type: string, start: Buffer, items: readonly Item[], cut: number, size: number): Promise<void> {
  const out = openBody(ctx, type, size);
  const free: Buffer[] = [];
  const send = (buffer: Buffer, length: number): Promise<void> => out.put(buffer.subarray(0, length), () => void free.push(buffer));
  let slice: Buffer = Buffer.allocUnsafeSlow(SLICE);
  let at = 0;
  const flush = async (): Promise<void> => {
    await send(slice, at);
    slice = free.pop() ?? Buffer.allocUnsafeSlow(SLICE);
    at = 0;
  };
  at = start.copy(slice, 0);
  for (let i = 0; i < items.length && !out.isClosed; i++) {
    const { bytes } = items[i] as Item;
    const large = bytes.length > SLICE / 2;
    if (at + 2 + (large ? 0 : bytes.length) > SLICE) await flush();
    if (i > 0) slice[at++] = COMMA;
    if (cut > 0) slice[at++] = BRACE;
    if (!large) at += bytes.copy(slice, at, cut);
    else {
      // A large object goes out from where it is.
      await flush();
      for (let from = cut; from < bytes.length && !out.isClosed; from += SLICE) await out.put(bytes.subarray(from, from + SLICE));
    }
  }
  if (at > 0) await send(slice, at);
  out.end(END);
}
