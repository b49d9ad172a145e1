/**
 * Long lists in other forms than plain JSON: YAML, indented, Tables, metadata only, other versions, protobuf. They are
 * made piece by piece as the client reads them, so that no list blocks the event loop, and at most a slice of each is in memory.
 *
 * A conversion that fails after the first pieces were sent closes the connection: the client must not take them for the whole.
 */
import type { KindEnv } from '@plat-dev/kinds/kind';
import { nextTurn } from '@plat-dev/lib/next-turn';
import { SLICED_FROM, Slices } from '@plat-dev/lib/slices';
import type { Item } from '@plat-dev/storage/item';
import type { Context } from '../context.ts';
import type { Resource } from '../registry/catalog.ts';
import type { Representation } from '../request/negotiate.ts';
import { type BodyStream, openBody } from './body-stream.ts';
import { type BinaryForm, binaryListForm, listForm } from './list-form.ts';
import { formName, needsCalls } from './represent.ts';
import { convertedOnce } from './shared-conversions.ts';
import type { IncludeObject, ListMeta } from './table.ts';

/** Stored bytes up to which a list is made at once; rows of Tables are cached for a while, and are not made again for each client. */
const WHOLE_LIMIT = 256 * 1024;
const WHOLE_TABLE_LIMIT = 1.5 * 1024 * 1024;
/** Stored bytes of the items of one piece: a few milliseconds of work; more if calls convert them. */
const CHUNK = 32 * 1024;
const CALLS_CHUNK = 1024 * 1024;
const CHUNK_ITEMS = 200;
/** Maximum bytes of one write: of a large object only so much is buffered for the client. */
const PUT = 256 * 1024;

/** Whether a list in such a form is too long to be made at once. */
export function isLong(items: readonly Item[], r: Representation, pretty: boolean): boolean {
  const limit = r.transform === 'Table' && r.media === 'json' && !pretty ? WHOLE_TABLE_LIMIT : WHOLE_LIMIT;
  let size = 0;
  for (const { bytes } of items) {
    size += bytes.length;
    if (size > limit || bytes.length > SLICED_FROM) return true;
  }
  return false;
}

export async function sendLong(
  ctx: Context,
  env: KindEnv,
  resource: Resource,
  items: readonly Item[],
  meta: ListMeta,
  r: Representation,
  pretty: boolean,
  include: IncludeObject,
): Promise<void> {
  const calls = needsCalls(resource, r, include);
  const chunks = inChunks(items, calls ? CALLS_CHUNK : CHUNK);
  // Requests that arrived together do not begin together.
  const form = r.media === 'protobuf' ? undefined : await listForm(env, resource, meta, r, pretty, include);
  await nextTurn(ctx.owner);
  if (form === undefined) return sendBinary(ctx, resource, binaryListForm(resource, meta, r), items, r.type);
  let body: BodyStream | undefined;
  const slices = new Slices(() => body?.isClosed ?? ctx.ended, undefined, ctx.owner);
  for (const chunk of chunks) {
    const id = formName(env, resource, r, pretty, include);
    const make = (): Promise<Buffer> => {
      slices.begin();
      return form.piece(chunk, slices);
    };
    const bytes = await (calls ? make() : convertedOnce(ctx, resource, id, chunk, make));
    // An error about the first items is still sent as a Status.
    const opening = body === undefined ? form.opening : form.between;
    body ??= openBody(ctx, r.type);
    if (body.isClosed) return;
    await putAll(body, Buffer.from(opening), bytes);
  }
  (body ?? openBody(ctx, r.type)).end(Buffer.from(form.closing));
}

const NOTHING = Buffer.alloc(0);

async function putAll(body: BodyStream, prefix: Buffer, bytes: Buffer): Promise<void> {
  if (bytes.length <= PUT) return body.put(prefix.length === 0 ? bytes : Buffer.concat([prefix, bytes]));
  if (prefix.length > 0) await body.put(prefix);
  for (let at = 0; at < bytes.length && !body.isClosed; at += PUT) await body.put(bytes.subarray(at, at + PUT));
}

/** The length comes first, so that all items are measured before the first is sent. */
async function sendBinary(ctx: Context, resource: Resource, form: BinaryForm, items: readonly Item[], type: string): Promise<void> {
  let body: BodyStream | undefined;
  const slices = new Slices(() => body?.isClosed ?? ctx.ended, undefined, ctx.owner);
  const pieceOf = (chunk: readonly Item[]): Promise<Buffer> =>
    convertedOnce(ctx, resource, form.name, chunk, () => {
      slices.begin();
      return form.piece(chunk, slices);
    });
  let bytes = 0;
  for (const chunk of inChunks(items, CHUNK)) {
    const measuredBytes = form.measured(chunk);
    bytes += measuredBytes ?? (await pieceOf(chunk)).length;
    // Making a piece takes as long as a slice may, and nothing else in this loop yields.
    if (measuredBytes === undefined || slices.due) await slices.pause();
  }
  const { opening, closing } = form.around(bytes);
  body = openBody(ctx, type, opening.length + bytes + closing.length);
  await body.put(opening);
  for (const chunk of inChunks(items, CHUNK)) {
    if (body.isClosed) return;
    await putAll(body, NOTHING, await pieceOf(chunk));
  }
  body.end(closing);
}

/** Items of one piece: some, or a single large one. */
function* inChunks(items: readonly Item[], limit: number): Iterable<readonly Item[]> {
  let start = 0;
  let size = 0;
  for (let i = 0; i < items.length; i++) {
    const { length } = (items[i] as Item).bytes;
    if (i > start && (size + length > limit || i - start >= CHUNK_ITEMS)) {
      yield items.slice(start, i);
      start = i;
      size = 0;
    }
    size += length;
  }
  if (start < items.length) yield items.slice(start);
}
