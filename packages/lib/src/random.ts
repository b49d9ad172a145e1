/** Randomness as a value that is passed in: the machine's for servers, a seeded one for tests. */
import { randomBytes } from 'node:crypto';

export interface Random {
  /** A whole number from 0 to below `limit`, all equally likely. `limit` is 1 to 2^32. */
  below(limit: number): number;
  /** A number from 0 to below 1. */
  float(): number;
  bytes(count: number): Buffer;
  /** A version 4 UUID. */
  uuid(): string;
}

/** Draws 32-bit numbers until one falls into the largest multiple of the limit, so that no value is favoured. */
function unbiased(limit: number, draw: () => number): number {
  const fair = 2 ** 32 - (2 ** 32 % limit);
  for (;;) {
    const number = draw();
    if (number < fair) return number % limit;
  }
}

const poolSize = 4096;
let pool = Buffer.alloc(0);
let used = 0;
/** Random bytes are fetched by the block: a call for each name would be slow. */
function draw32(): number {
  if (used + 4 > pool.length) {
    pool = randomBytes(poolSize);
    used = 0;
  }
  const number = pool.readUInt32LE(used);
  pool.fill(0, used, used + 4);
  used += 4;
  return number;
}

/** Every encrypted write needs a nonce; other sizes are rare. */
const POOLED_BYTES = 64;
function drawBytes(count: number): Buffer {
  if (count > POOLED_BYTES) return randomBytes(count);
  if (used + count > pool.length) {
    pool = randomBytes(poolSize);
    used = 0;
  }
  const bytes = Buffer.from(pool.subarray(used, used + count));
  // Bytes of the pool are used once.
  pool.fill(0, used, used + count);
  used += count;
  return bytes;
}

/**
 * Version 4 UUIDs, many at a time: their texts are cut out of one, which takes a fraction of what making each does. One of them keeps
 * the text of all in memory.
 */
const UUIDS_AT_ONCE = 32;
const UUID_LENGTH = 36;
let uuids = '';
let uuidAt = 0;
function drawUuid(): string {
  if (uuidAt === uuids.length) {
    uuids = makeUuids();
    uuidAt = 0;
  }
  const start = uuidAt;
  uuidAt += UUID_LENGTH;
  return uuids.slice(start, uuidAt);
}
function makeUuids(): string {
  const bytes = randomBytes(16 * UUIDS_AT_ONCE);
  for (let i = 0; i < bytes.length; i++) {
    const within = i & 15;
    let byte = bytes[i] as number;
    if (within === 6) byte = (byte & 0x0f) | 0x40;
    else if (within === 8) byte = (byte & 0x3f) | 0x80;
    const at = (i >> 4) * UUID_LENGTH + (uuidPlaces[within] as number);
    uuidTexts[at] = digits[byte >> 4] as number;
    uuidTexts[at + 1] = digits[byte & 0x0f] as number;
  }
  return uuidTexts.toString('latin1');
}
const digits = Buffer.from('0123456789abcdef');
/** Where the two digits of each byte stand. */
const uuidPlaces = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const uuidTexts = Buffer.from('00000000-0000-0000-0000-000000000000'.repeat(UUIDS_AT_ONCE));

/** Fit for secrets. */
export const systemRandom: Random = {
  below: (limit) => unbiased(limit, draw32),
  float: () => draw32() / 2 ** 32,
  bytes: drawBytes,
  uuid: drawUuid,
};

/** The same seed gives the same sequence. For tests and simulations only. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const draw = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  };
  const bytes = (count: number): Buffer => Buffer.from(Array.from({ length: count }, () => draw() >>> 24));
  return {
    below: (limit) => unbiased(limit, draw),
    float: () => draw() / 2 ** 32,
    bytes,
    uuid() {
      const b = bytes(16);
      b[6] = ((b[6] as number) & 0x0f) | 0x40;
      b[8] = ((b[8] as number) & 0x3f) | 0x80;
      const hex = b.toString('hex');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    },
  };
}
