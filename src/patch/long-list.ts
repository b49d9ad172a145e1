/**
 * A long list that items are put into and taken out of at any place: in pieces, so that each costs the size of a piece and not
 * that of the list. It replaces the list while a JSON patch is applied.
 */
import { setOwn } from '../lib/own.ts';
import { DecodeError, maxDepth } from '../schema/errors.ts';
import type { JsonValue } from '../schema/types.ts';

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
    let before = 0;
    const last = this.pieces.length - 1;
    for (let number = 0; number <= last; number++) {
      const piece = this.pieces[number] as JsonValue[];
      if (index < before + piece.length || number === last) return { piece, within: index - before, number };
      before += piece.length;
    }
    return { piece: undefined, within: 0, number: 0 };
  }
}

/** Replaces long lists in a value by plain ones, in place, and returns it. Throws DecodeError when it is nested too deeply. */
export function withPlainLists(value: JsonValue, depth = 0): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > maxDepth) throw new DecodeError('exceeded max depth');
  const list = (value as unknown) instanceof LongList ? (value as unknown as LongList).items() : value;
  if (Array.isArray(list)) {
    for (let i = 0; i < list.length; i++) {
      const item = list[i] as JsonValue;
      if (typeof item === 'object' && item !== null) list[i] = withPlainLists(item, depth + 1);
    }
    return list;
  }
  for (const key in list) {
    const item = list[key] as JsonValue;
    if (typeof item !== 'object' || item === null) continue;
    const plain = withPlainLists(item, depth + 1);
    if (plain !== item) setOwn(list, key, plain);
  }
  return list;
}

/** A copy that shares nothing with the original and holds plain lists. Throws DecodeError when it is nested too deeply. */
export function clonePlain(value: JsonValue, depth = 0): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > maxDepth) throw new DecodeError('exceeded max depth');
  const list = (value as unknown) instanceof LongList ? (value as unknown as LongList).items() : value;
  if (Array.isArray(list)) return list.map((item) => clonePlain(item, depth + 1));
  const out: { [key: string]: JsonValue } = {};
  for (const key of Object.keys(list)) setOwn(out, key, clonePlain(list[key] as JsonValue, depth + 1));
  return out;
}
