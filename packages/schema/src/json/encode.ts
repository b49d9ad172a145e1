/**
 * From the normal form to JSON text: fields in schema order, maps in order of their keys, null or a zero value for
 * empty `always` fields. Equal objects have equal bytes, whatever the order in which their fields were set.
 *
 * The bytes are written straight into one buffer, that of the text itself or one that all calls share, from which it is copied:
 * JSON.stringify would need an ordered copy as its input.
 */
import type { Work } from '@plat-dev/lib/slices';
import type { Type } from '../types.ts';
import { encoderOf } from './encoders.ts';
import { type Gap, JsonWriter, TextTooLong } from './writer.ts';

/** All calls share it: none of them is interrupted but between steps, which leave nothing in it. */
const writer = new JsonWriter();

/** The JSON text of an object. */
export function encode(type: Type, object: unknown): string {
  return writer.textOf(() => encoderOf(type)(writer, object));
}

/** The JSON text of an object with its explicit empty lists, which other texts have as null. */
export function encodeWithEmptyLists(type: Type, object: unknown): string {
  writer.showsEmpty = true;
  try {
    return encode(type, object);
  } finally {
    writer.showsEmpty = false;
  }
}

/**
 * The JSON text of an object as bytes, after so many reserved bytes. Throws TextTooLong when it finds that the text has more than
 * `most` bytes, at twice as many at the latest; a text that is a little longer is still encoded.
 */
export function encodeBytes(type: Type, object: unknown, room = 0, most = Number.POSITIVE_INFINITY): Buffer {
  return block.write(room, most, () => encoderOf(type)(writer, object));
}

/**
 * Texts of objects that are about to be stored: they are dropped together soon, or held together by a store in memory. They are
 * written one after another into a block of memory, and stay where they were written. One that finds less room begins a new block.
 */
class TextBlock {
  private memory = Buffer.alloc(0);
  private used = 0;

  write(room: number, most: number, write: Gap): Buffer {
    if (this.memory.length - this.used < LEAST_ROOM) {
      this.memory = Buffer.allocUnsafeSlow(BLOCK_SIZE);
      this.used = 0;
    }
    const start = this.used;
    const end = writer.writeInto(this.memory, start, room, most, write);
    if (typeof end !== 'number') return end;
    this.used = end;
    return this.memory.subarray(start, end);
  }
}
const BLOCK_SIZE = 64 * 1024;
const LEAST_ROOM = 8 * 1024;
const block = new TextBlock();

/** Bytes after which the work yields: less than a millisecond of it. */
const BYTES_A_STEP = 16 * 1024;

/**
 * The same bytes as those of `encodeBytes`, for an object that may be large. Throws TextTooLong as soon as the text has more than
 * twice `most` bytes; a shorter one is encoded, so that its size is known.
 *
 *   {"items":[1,2,3 ]}           a step ends within the list, and goes up to the end of the object
 *                  ,4,5,6        the next ones fill the gap
 */
export function* encodedBytes(type: Type, object: unknown, room = 0, most = Number.POSITIVE_INFINITY): Work<Buffer> {
  const texts: Buffer[] = [Buffer.allocUnsafe(room)];
  const rest: (Buffer | Gap)[] = [() => encoderOf(type)(writer, object)];
  let size = 0;
  let sizeAtYield = 0;
  for (let piece = rest.pop(); piece !== undefined; piece = rest.pop()) {
    if (typeof piece === 'function') {
      const pieces = writer.stepOf(BYTES_A_STEP, piece);
      for (let i = pieces.length - 1; i >= 0; i--) rest.push(pieces[i] as Buffer | Gap);
      continue;
    }
    texts.push(piece);
    size += piece.length;
    if (size > 2 * most) throw new TextTooLong();
    if (size - sizeAtYield < BYTES_A_STEP) continue;
    sizeAtYield = size;
    yield;
  }
  return Buffer.concat(texts);
}
