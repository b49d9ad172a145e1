/**
 * Long lists in other forms than plain JSON: YAML, indented, Tables, metadata alone, other versions, the binary form. They are
 * made piece by piece as the client takes them, so that no list holds the event loop, and of each no more than a slice is there.
 *
 * A conversion that fails after the first pieces were sent ends the connection: the client must not take them for the whole.
 */
import type { KindEnv } from '../kinds/kind.ts';
import { Slices } from '../lib/slices.ts';
import type { Resource } from '../registry/catalog.ts';
import type { Item } from '../storage/item.ts';
import { type BodyStream, openBody } from './body-stream.ts';
import type { Context } from './context.ts';
import { type BinaryForm, binaryListForm, listForm } from './list-form.ts';
import type { Representation } from './negotiate.ts';
import { needsCalls } from './represent.ts';
import type { IncludeObject, ListMeta } from './table.ts';

/** Stored bytes up to which a list is made at once; rows of Tables are kept for a while, and are not made anew for each client. */
const WHOLE_LIMIT = 256 * 1024;
const WHOLE_TABLE_LIMIT = 1.5 * 1024 * 1024;
/** Stored bytes of the items that are made into pieces together: a few milliseconds' work; more where calls convert them. */
const CHUNK = 32 * 1024;
const CALLS_CHUNK = 1024 * 1024;
const CHUNK_ITEMS = 200;
/** Encoded binary items that are kept between measuring and sending; of longer lists each item is encoded twice. */
const KEPT_BINARY = 2 * 1024 * 1024;

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
  const chunks = [...inChunks(items, needsCalls(resource, r, include) ? CALLS_CHUNK : CHUNK)];
  if (r.media === 'protobuf') return sendBinary(ctx, binaryListForm(resource, meta, r), chunks, r.type);
  const form = await listForm(env, resource, meta, r, pretty, include);
  let body: BodyStream | undefined;
  let slice: string[] = [form.before];
  let length = 0;
  let separator = '';
  for (const chunk of chunks) {
    for (const text of await form.pieces(chunk)) {
      slice.push(separator, text);
      length += text.length;
      separator = form.between;
    }
    // A list whose first items cannot be made is still refused with a Status.
    body ??= openBody(ctx, r.type);
    if (body.gone) return;
    await body.put(length === 0 ? NOTHING : Buffer.from(slice.join('')));
    slice = [];
    length = 0;
  }
  (body ?? openBody(ctx, r.type)).end(Buffer.from(form.after));
}
const NOTHING = Buffer.alloc(0);

/** The length stands at the beginning, so that all items are measured before the first is sent. */
async function sendBinary(ctx: Context, form: BinaryForm, chunks: readonly (readonly Item[])[], type: string): Promise<void> {
  const slices = new Slices(() => ctx.ended);
  const kept: (Buffer | undefined)[] = [];
  let bytes = 0;
  for (const chunk of chunks) {
    const { bytes: length, made } = await form.measure(chunk);
    bytes += length;
    kept.push(made !== undefined && bytes <= KEPT_BINARY ? Buffer.concat(made) : undefined);
    if (slices.due) await slices.pause();
  }
  const { before, after } = form.around(bytes);
  const body = openBody(ctx, type, before.length + bytes + after.length);
  await body.put(before);
  for (let i = 0; i < chunks.length && !body.gone; i++) {
    await body.put(kept[i] ?? Buffer.concat(await form.pieces(chunks[i] as readonly Item[])));
    kept[i] = undefined;
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
