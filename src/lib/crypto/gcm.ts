/**
 * AES-GCM of short messages (NIST SP 800-38D, nonces of 12 bytes, tags of 16). Node's cipher objects serve one message each,
 * and making one costs several times what it does to a kilobyte. Here one cipher under the key encrypts the counters of all
 * messages, and the rest (combining, GHASH) is assembled code:
 *
 *   counters  nonce ‖ 1, nonce ‖ 2, …        → AES →  mask of the tag, key stream
 *   memory    tables │ key stream │ place, message, lengths: each padded to blocks
 *
 * GHASH multiplies by a fixed element H: a table has the product of H with each value of each half of a byte at each of its 32
 * positions, so that a product is the sum of 32 entries. Like every GHASH by tables its timing may depend on what the
 * processor has cached.
 */
import { type Cipher, createCipheriv } from 'node:crypto';
import { type Assembled, assembled, branchIf, type Code, get, i32, loop, PAGE, set, v128, type WasmFunction, when } from './assembler.ts';

export const GCM_NONCE = 12;
export const GCM_TAG = 16;
/** Longest message and longest authenticated data of a sealer: the cipher of Node is faster with longer messages. */
export const LONGEST_MESSAGE = 8192;
export const LONGEST_PLACE = 1024;

const BLOCK = 16;
/** Positions of half bytes in a block, and values of each. */
const [POSITIONS, VALUES] = [32, 16] as const;
const TABLES = 0;
const STREAM = POSITIONS * VALUES * BLOCK;
const DATA = STREAM + LONGEST_MESSAGE + 2 * BLOCK;

const padded = (length: number): number => (length + BLOCK - 1) & -BLOCK;

/** `seal(message, messageEnd, end, tag)`: offsets of whole blocks; authenticated data begin at DATA, the tag is written to `tag`. */
function sealFunction(): WasmFunction {
  const [AT, MESSAGE_END, END, TAG, STREAM_AT, HASH, WORD] = [0, 1, 2, 3, 4, 5, 6] as const;
  const advance = (local: number): Code => set(local, i32.add(get(local), i32.constant(BLOCK)));
  const combine = loop(
    v128.store(get(AT), v128.xor(v128.load(get(AT)), v128.load(get(STREAM_AT), STREAM + BLOCK))),
    advance(STREAM_AT),
    advance(AT),
    branchIf(i32.lessThan(get(AT), get(MESSAGE_END))),
  );
  /** The offset of a half byte's entry within the table of its position. */
  const entryOffset = (lane: number, shift: number): Code => {
    const word = get(WORD + lane);
    const shifted = shift < 0 ? i32.shiftLeft(word, i32.constant(-shift)) : shift === 0 ? word : i32.shiftRight(word, i32.constant(shift));
    return i32.and(shifted, i32.constant(0xf0));
  };
  const entries = Array.from({ length: POSITIONS }, (_, position): Code => {
    const byte = position >> 1;
    // The upper half comes first. Entries have 16 bytes: the half byte is wanted four bits further up.
    const shift = 8 * (byte & 3) - (position & 1 ? 4 : 0);
    return v128.load(entryOffset(byte >> 2, shift), TABLES + position * VALUES * BLOCK);
  });
  const hash = loop(
    set(HASH, v128.xor(get(HASH), v128.load(get(AT)))),
    ...[0, 1, 2, 3].map((lane) => set(WORD + lane, v128.word(get(HASH), lane))),
    set(HASH, sum(entries)),
    advance(AT),
    branchIf(i32.lessThan(get(AT), get(END))),
  );
  return {
    parameters: 4,
    locals: ['i32', 'v128', 'i32', 'i32', 'i32', 'i32'],
    body: [
      when(i32.lessThan(get(AT), get(MESSAGE_END)), combine),
      set(AT, i32.constant(DATA)),
      hash,
      v128.store(get(TAG), v128.xor(get(HASH), v128.load(i32.constant(STREAM)))),
    ],
  };
}

/** As a balanced tree, so that no addition waits for all others. */
function sum(codes: readonly Code[]): Code {
  const half = codes.length >> 1;
  return half === 0 ? (codes[0] as Code) : v128.xor(sum(codes.slice(0, half)), sum(codes.slice(half)));
}

const gcmCode = assembled(1, () => ({ seal: sealFunction() }));

export class GcmSealer {
  readonly #memory: Buffer;
  readonly #view: DataView;
  readonly #seal: (...offsets: number[]) => void;
  readonly #blocks: Cipher;
  readonly #counters = Buffer.alloc(LONGEST_MESSAGE + BLOCK);
  readonly #counterView = new DataView(this.#counters.buffer, this.#counters.byteOffset);

  /** Undefined where assembled code cannot run. */
  static of(secret: Buffer): GcmSealer | undefined {
    const code = gcmCode();
    return code === undefined ? undefined : new GcmSealer(secret, code);
  }

  private constructor(secret: Buffer, { memory, call }: Assembled<'seal'>) {
    this.#memory = Buffer.from(memory.buffer, 0, PAGE);
    this.#view = new DataView(memory.buffer);
    this.#seal = call.seal;
    this.#blocks = createCipheriv(`aes-${secret.length * 8}-ecb`, secret, null).setAutoPadding(false);
    for (let block = 0; block * BLOCK < this.#counters.length; block++) this.#counterView.setUint32(block * BLOCK + 12, block + 1);
    fillTables(this.#view, this.#blocks.update(Buffer.alloc(BLOCK)));
  }

  /**
   * Writes the encrypted message and its tag to `out` at an offset. A nonce is used once.
   * `place` is authenticated; both it and the message have at most the lengths above.
   */
  seal(out: Buffer, at: number, message: Buffer, nonce: Buffer, place: string): void {
    if (message.length > LONGEST_MESSAGE || place.length > LONGEST_PLACE) throw new RangeError('the message is too long for this cipher');
    const memory = this.#memory;
    const begin = DATA + padded(place.length);
    const end = begin + message.length;
    const blocksEnd = begin + padded(message.length);
    memory.write(place, DATA, 'latin1');
    for (let i = DATA + place.length; i < begin; i++) memory[i] = 0;
    message.copy(memory, begin);
    this.#stream(nonce, 1 + (blocksEnd - begin) / BLOCK).copy(memory, STREAM);
    // The rest of the last block stays zero when it is combined.
    for (let i = end; i < blocksEnd; i++) memory[i] = memory[STREAM + BLOCK + i - begin] = 0;
    this.#view.setUint32(blocksEnd, 0);
    this.#view.setUint32(blocksEnd + 4, place.length * 8);
    this.#view.setUint32(blocksEnd + 8, 0);
    this.#view.setUint32(blocksEnd + 12, message.length * 8);
    this.#seal(begin, blocksEnd, blocksEnd + BLOCK, end);
    memory.copy(out, at, begin, end + GCM_TAG);
  }

  /** The first block is the mask of the tag. */
  #stream(nonce: Buffer, blocks: number): Buffer {
    const view = this.#counterView;
    const n0 = nonce.readUInt32BE(0);
    const n1 = nonce.readUInt32BE(4);
    const n2 = nonce.readUInt32BE(8);
    for (let block = 0; block < blocks; block++) {
      const at = block * BLOCK;
      view.setUint32(at, n0);
      view.setUint32(at + 4, n1);
      view.setUint32(at + 8, n2);
    }
    return this.#blocks.update(this.#counters.subarray(0, blocks * BLOCK));
  }
}

/**
 * The products of `h` with every value of every half byte. The first bit of a block is the coefficient of 1, the next that of
 * x, and so on; x^128 is 1 + x + x^2 + x^7.
 */
function fillTables(view: DataView, h: Buffer): void {
  const power = [h.readUInt32BE(0), h.readUInt32BE(4), h.readUInt32BE(8), h.readUInt32BE(12)] as [number, number, number, number];
  for (let bit = 0; bit < 128; bit++) {
    const position = bit >> 2;
    const weight = 8 >> (bit & 3);
    for (let value = 0; value < VALUES; value++) {
      if ((value & weight) === 0) continue;
      const at = TABLES + (position * VALUES + value) * BLOCK;
      for (let i = 0; i < 4; i++) view.setUint32(at + 4 * i, view.getUint32(at + 4 * i) ^ (power[i] as number));
    }
    const carry = power[3] & 1;
    for (let i = 3; i > 0; i--) power[i] = ((power[i] as number) >>> 1) | ((power[i - 1] as number) << 31);
    power[0] = (power[0] >>> 1) ^ (carry === 1 ? 0xe1000000 : 0);
  }
}
