/**
 * Recently made pieces of long lists. Clients that list the same objects in the same form at the same time take
 * turns, and are at about the same position: a piece that one of them made serves the others.
 *
 *   20 clients list 10,000 objects as YAML: each piece is made once and sent 20 times
 *
 * A piece that is being made is awaited: a large object is not converted by 20 clients at the same time.
 */
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import type { Item } from '@plat-dev/storage/item';
import type { Resource } from '../registry/catalog.ts';

/** Maximum bytes of pieces in all; the oldest is evicted. */
export const SHARED_LIMIT: number = 8 * 1024 * 1024;
/** Maximum number of pieces, for small ones. */
const MOST_PIECES = 16_384;

interface Piece {
  readonly resource: Resource;
  readonly items: readonly Item[];
  readonly bytes: Buffer;
}

interface PendingPiece {
  readonly resource: Resource;
  readonly items: readonly Item[];
  /** Undefined when it could not be made. */
  readonly bytes: Promise<Buffer | undefined>;
}

export class SharedPieces {
  private readonly pieces: BoundedCache<string, Piece>;
  /** Pieces that are being made; at most as many as requests. */
  private readonly pendingPieces = new Map<string, PendingPiece>();

  constructor(limit: number = SHARED_LIMIT) {
    this.pieces = new BoundedCache(MOST_PIECES, { most: limit, of: ({ bytes }) => bytes.length });
  }

  get bytes(): number {
    return this.pieces.total;
  }

  /** The piece of exactly these items. `form` names everything that the bytes depend on except the items. */
  find(resource: Resource, form: string, items: readonly Item[]): Buffer | undefined {
    const cachedPiece = this.pieces.get(idOf(form, items));
    return cachedPiece !== undefined && cachedPiece.resource === resource && sameItems(cachedPiece.items, items)
      ? cachedPiece.bytes
      : undefined;
  }

  /**
   * The piece of these items: a cached one, the one that another client has begun to make, or a new one. A maker whose client
   * disconnects leaves it to the next. `wait` is called before a piece of another maker is used.
   */
  async piece(
    resource: Resource,
    form: string,
    items: readonly Item[],
    make: () => Promise<Buffer>,
    wait: () => Promise<void>,
  ): Promise<Buffer> {
    const id = idOf(form, items);
    for (;;) {
      const cachedBytes = this.find(resource, form, items);
      if (cachedBytes !== undefined) return cachedBytes;
      const pendingPiece = this.pendingPieces.get(id);
      if (pendingPiece === undefined) break;
      const bytes = await pendingPiece.bytes;
      await wait();
      if (bytes !== undefined && pendingPiece.resource === resource && sameItems(pendingPiece.items, items)) return bytes;
    }
    const making = make();
    this.pendingPieces.set(id, { resource, items, bytes: making.catch(() => undefined) });
    try {
      const bytes = await making;
      this.keep(resource, form, items, bytes);
      return bytes;
    } finally {
      this.pendingPieces.delete(id);
    }
  }

  keep(resource: Resource, form: string, items: readonly Item[], bytes: Buffer): void {
    this.pieces.set(idOf(form, items), { resource, items, bytes });
  }
}

function idOf(form: string, items: readonly Item[]): string {
  const [first] = items;
  return `${form}|${first?.revision}|${first?.key}`;
}

/** A changed object is another item. */
function sameItems(a: readonly Item[], b: readonly Item[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
