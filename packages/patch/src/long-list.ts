/**
 * A long list that items are put into and taken out of at any place: in pieces, so that each costs the size of a piece and not
 * that of the list. It replaces the list while a JSON patch is applied.
 */
import type { Work } from '@plat-dev/lib/slices';
import { clonedJson } from '@plat-dev/schema/json/plain';
import type { JsonValue } from '@plat-dev/schema/types';

/** Lists up to this length are changed in place. */
export const LONG_FROM = 2048;
const PIECE = 1024;

export class LongList {
  private readonly pieces: JsonValue[][] = [];
  length = 0;

  constructor(items: readonly JsonValue[]) {
    for (let at = 0; at < items.length; at += PIECE) this.pieces.push(items.slice(at, at + PIECE));
    this.length = items.length;
  }

  at(index: number): JsonValue | undefined {
    const { piece, within } = this.find(index);
    return piece?.[within];
  }
  set(index: number, value: JsonValue): void {
    const { piece, within } = this.find(index);
    if (piece !== undefined) piece[within] = value;
  }
  insert(index: number, value: JsonValue): void {
    const { piece, within, number } = this.find(index);
    this.length++;
    if (piece === undefined) {
      this.pieces.push([value]);
      return;
    }
    piece.splice(within, 0, value);
    if (piece.length > 2 * PIECE) this.pieces.splice(number + 1, 0, piece.splice(PIECE));
  }
  remove(index: number): void {
    const { piece, within, number } = this.find(index);
    if (piece === undefined) return;
    this.length--;
    piece.splice(within, 1);
    if (piece.length === 0) this.pieces.splice(number, 1);
  }
  items(): JsonValue[] {
    return this.pieces.flat();
  }

  /** The piece that holds an index; for the index after the last item, the last piece. */
  private find(index: number): { piece: JsonValue[] | undefined; within: number; number: number } {
    let countBefore = 0;
    const last = this.pieces.length - 1;
    for (let number = 0; number <= last; number++) {
      const piece = this.pieces[number] as JsonValue[];
      if (index < countBefore + piece.length || number === last) return { piece, within: index - countBefore, number };
      countBefore += piece.length;
    }
    return { piece: undefined, within: 0, number: 0 };
  }
}

/** Replaces long lists in a value by plain ones, in place, and returns it. Throws DecodeError when it is nested too deeply. */
export const withPlainLists = (value: JsonValue): Work<JsonValue> => clonedJson(value, plainList);

/** A copy that shares nothing with the original and holds plain lists. Throws DecodeError when it is nested too deeply. */
export const clonePlain = (value: JsonValue): Work<JsonValue> => clonedJson(value, plainCopy);

const plainList = (container: object): object => (container instanceof LongList ? container.items() : container);
function plainCopy(container: object): object {
  if (container instanceof LongList) return container.items();
  return Array.isArray(container) ? container.slice() : { ...container };
}
