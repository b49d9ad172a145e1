/**
 * Pieces of long lists that were made a moment ago. Clients that list the same objects in the same form at the same time take
 * their turns one after another, and are at about the same place: what one of them made serves the others.
 *
 *   20 clients list 10,000 objects as YAML: each piece is made once and sent 20 times
 */
import type { Resource } from '../registry/catalog.ts';
import type { Item } from '../storage/item.ts';

/** Most bytes of pieces altogether; the oldest goes first. */
export const SHARED_LIMIT: number = 8 * 1024 * 1024;

interface Piece {
  readonly resource: Resource;
  readonly items: readonly Item[];
  readonly bytes: Buffer;
}

export class SharedPieces {
  private readonly pieces = new Map<string, Piece>();
  private size = 0;
  private readonly limit: number;

  constructor(limit: number = SHARED_LIMIT) {
    this.limit = limit;
  }

  get bytes(): number {
    return this.size;
  }

  /** The piece of exactly these items. `form` names everything that the bytes depend on besides the items. */
  find(resource: Resource, form: string, items: readonly Item[]): Buffer | undefined {
    const found = this.pieces.get(idOf(form, items));
    return found !== undefined && found.resource === resource && sameItems(found.items, items) ? found.bytes : undefined;
  }

  keep(resource: Resource, form: string, items: readonly Item[], bytes: Buffer): void {
    if (bytes.length > this.limit) return;
    const id = idOf(form, items);
    this.forget(id);
    this.pieces.set(id, { resource, items, bytes });
    this.size += bytes.length;
    for (const oldest of this.pieces.keys()) {
      if (this.size <= this.limit) return;
      this.forget(oldest);
    }
  }

  private forget(id: string): void {
    const known = this.pieces.get(id);
    if (known === undefined) return;
    this.pieces.delete(id);
    this.size -= known.bytes.length;
  }
}

function idOf(form: string, items: readonly Item[]): string {
  const [first] = items;
  return `${form}|${first?.revision}|${first?.key}`;
}

/** An object that changed is another item. */
function sameItems(a: readonly Item[], b: readonly Item[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
