/**
 * Long lists in other forms than plain JSON: YAML, indented, Tables, metadata alone, other versions, the binary form. They are
 * made piece by piece as the client takes them, so that no list holds the event loop, and of each no more than a slice is there.
 *
 * A conversion that fails after the first pieces were sent ends the connection: the client must not take them for the whole.
 */
import type { KindEnv } from '../kinds/kind.ts';
import { nextTurn } from '../lib/next-turn.ts';
import { Slices } from '../lib/slices.ts';
import type { Resource } from '../registry/catalog.ts';
import type { Item } from '../storage/item.ts';
import { type BodyStream, openBody } from './body-stream.ts';
import type { Context } from './context.ts';
import { type BinaryForm, binaryListForm, listForm } from './list-form.ts';
import type { Representation } from './negotiate.ts';
import { needsCalls } from './represent.ts';
import { SharedPieces } from './shared-pieces.ts';
import type { IncludeObject, ListMeta } from './table.ts';

/** Stored bytes up to which a list is made at once; rows of Tables are kept for a while, and are not made anew for each client. */
const WHOLE_LIMIT = 256 * 1024;
const WHOLE_TABLE_LIMIT = 1.5 * 1024 * 1024;
/** Stored bytes of the items that are made into pieces together: a few milliseconds' work; more where calls convert them. */
const CHUNK = 32 * 1024;
const CALLS_CHUNK = 1024 * 1024;
const CHUNK_ITEMS = 200;
/** Items belong to one server each, so that one table does for all that run in this process. */
const shared = new SharedPieces();

/** Whether a list in such a form is too long to be made at once. */
export function isLong(items: readonly Item[], r: Representation, pretty: boolean): boolean {
  const limit = r.transform === 'Table' && r.media === 'json' && !pretty ? WHOLE_TABLE_LIMIT : WHOLE_LIMIT;
  let size = 0;
  for (const { bytes } of items) {
    size += bytes.length;
    if (size > limit) return true;
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
  // Requests that came together do not begin together.
  const form = r.media === 'protobuf' ? undefined : await listForm(env, resource, meta, r, pretty, include);
  await nextTurn(ctx.owner);
  if (form === undefined) return sendBinary(ctx, resource, binaryListForm(resource, meta, r), items, r.type);
  const name = `${resource.apiVersion}|${resource.kind.plural}|${r.media}|${pretty}|${r.transform}|${r.transformVersion}|${include}`;
  let body: BodyStream | undefined;
  const slices = new Slices(() => body?.gone ?? ctx.ended, undefined, ctx.owner);
  for (const chunk of chunks) {
    // Ages in the rows of Tables are those of the second.
    const id = `${name}|${r.transform === 'Table' ? Math.floor(env.now() / 1000) : ''}`;
    let bytes = calls ? undefined : shared.find(resource, id, chunk);
    if (bytes === undefined) {
      slices.begin();
      bytes = Buffer.from((await form.pieces(chunk, slices)).join(form.between));
      if (!calls) shared.keep(resource, id, chunk, bytes);
    }
    // A list whose first items cannot be made is still refused with a Status.
    const before = body === undefined ? form.before : form.between;
    body ??= openBody(ctx, r.type);
    if (body.gone) return;
    await body.put(before === '' ? bytes : Buffer.concat([Buffer.from(before), bytes]));
  }
  (body ?? openBody(ctx, r.type)).end(Buffer.from(form.after));
}

/** The length stands at the beginning, so that all items are measured before the first is sent. */
async function sendBinary(ctx: Context, resource: Resource, form: BinaryForm, items: readonly Item[], type: string): Promise<void> {
  const slices = new Slices(() => ctx.ended, undefined, ctx.owner);
  let bytes = 0;
  for (const chunk of inChunks(items, CHUNK)) {
    const { bytes: length, made } = await form.measure(chunk);
    bytes += length;
    if (made !== undefined) shared.keep(resource, form.name, chunk, Buffer.concat(made));
    if (slices.due) await slices.pause();
  }
  const { before, after } = form.around(bytes);
  const body = openBody(ctx, type, before.length + bytes + after.length);
  await body.put(before);
  for (const chunk of inChunks(items, CHUNK)) {
    if (body.gone) return;
    let piece = shared.find(resource, form.name, chunk);
    if (piece === undefined) {
      piece = Buffer.concat(await form.pieces(chunk));
      shared.keep(resource, form.name, chunk, piece);
    }
    await body.put(piece);
  }
  body.end(after);
}

/** Items that are made into pieces together: some, or one that is large. */
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
