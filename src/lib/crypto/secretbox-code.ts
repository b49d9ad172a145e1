/**
 * Assembled code of secretbox: Salsa20 two blocks at a time, and Poly1305 with limbs of 26 bits. No branch or address depends on
 * a secret.
 *
 *   memory   state of Salsa20 │ sum of Poly1305 │ key stream │ message
 */
import { type Assembled, assembled, branchIf, type Code, get, i32, i64, loop, set, v128, type WasmFunction, when } from './assembler.ts';

/** Longest message. */
export const LONGEST_MESSAGE = 8192;
/** The diagonals of the state: words 0 5 10 15, 4 9 14 3, 8 13 2 7, 12 1 6 11. Word 8 counts blocks. */
export const STATE = 0;
/** Five limbs, each in eight bytes. */
export const SUM = 64;
export const STREAM = 128;
/** Bytes of the key stream that become the key of the authenticator. */
const AUTHENTICATOR_KEY = 32;
const BLOCK = 64;
export const MESSAGE = STREAM + LONGEST_MESSAGE + 4 * BLOCK;

export type SecretBoxCode = Assembled<'combine' | 'authenticate'>;
/** Undefined where assembled code cannot run. */
export const secretBoxCode = assembled(1, () => ({ combine: combineFunction(), authenticate: authenticateFunction() }));

/** `combine(streamEnd, length)`: makes the key stream up to an offset, and combines that much of the message with it. */
function combineFunction(): WasmFunction {
  const [STREAM_END, LENGTH, AT, ROUND, WORK_A, WORK_B, A, B] = [0, 1, 2, 3, 4, 5, 6, 10] as const;
  const step = (block: number, work: number, to: number, a: number, b: number, bits: number): Code => [
    set(work, v128.addWords(get(block + a), get(block + b))),
    set(
      block + to,
      v128.xor(
        v128.xor(get(block + to), v128.shiftWordsLeft(get(work), i32.constant(bits))),
        v128.shiftWordsRight(get(work), i32.constant(32 - bits)),
      ),
    ),
  ];
  const both = (to: number, a: number, b: number, bits: number): Code => [step(A, WORK_A, to, a, b, bits), step(B, WORK_B, to, a, b, bits)];
  const turn = (diagonal: number, by: number): Code =>
    [A, B].map((block) => {
      const value = get(block + diagonal);
      return set(block + diagonal, v128.pickWords(value, value, [by & 3, (by + 1) & 3, (by + 2) & 3, (by + 3) & 3]));
    });
  const doubleRound: Code = [
    [both(1, 0, 3, 7), both(2, 1, 0, 9), both(3, 2, 1, 13), both(0, 3, 2, 18)],
    [turn(1, 3), turn(2, 2), turn(3, 1)],
    [both(3, 0, 1, 7), both(2, 3, 0, 9), both(1, 2, 3, 13), both(0, 1, 2, 18)],
    [turn(1, 1), turn(2, 2), turn(3, 3)],
  ];
  const ONE = v128.constant(1, 0, 0, 0);
  const state = (diagonal: number): Code => v128.load(i32.constant(STATE), 16 * diagonal);
  const counter = (block: number): Code => (block === A ? state(2) : v128.addWords(state(2), ONE));
  const begin = [A, B].map((block) => [0, 1, 2, 3].map((i) => set(block + i, i === 2 ? counter(block) : state(i))));
  const addState = [A, B].map((block) =>
    [0, 1, 2, 3].map((i) => set(block + i, v128.addWords(get(block + i), i === 2 ? counter(block) : state(i)))),
  );
  /** Every second word of two diagonals, and then one half of each of two such pairs, make a row. */
  const row = (block: number, a: number, b: number, c: number, d: number): Code =>
    v128.pickWords(
      v128.pickWords(get(block + a), get(block + b), [0, 5, 2, 7]),
      v128.pickWords(get(block + c), get(block + d), [0, 5, 2, 7]),
      [0, 1, 6, 7],
    );
  const write = [A, B].map((block, i) => [
    v128.store(get(AT), row(block, 0, 3, 2, 1), BLOCK * i),
    v128.store(get(AT), row(block, 1, 0, 3, 2), BLOCK * i + 16),
    v128.store(get(AT), row(block, 2, 1, 0, 3), BLOCK * i + 32),
    v128.store(get(AT), row(block, 3, 2, 1, 0), BLOCK * i + 48),
  ]);
  const advance = (by: number): Code => set(AT, i32.add(get(AT), i32.constant(by)));
  return {
    parameters: 2,
    locals: ['i32', 'i32', ...new Array<'v128'>(10).fill('v128')],
    body: [
      set(AT, i32.constant(STREAM)),
      loop(
        begin,
        set(ROUND, i32.constant(0)),
        loop(doubleRound, set(ROUND, i32.add(get(ROUND), i32.constant(1))), branchIf(i32.lessThan(get(ROUND), i32.constant(10)))),
        addState,
        write,
        v128.store(i32.constant(STATE), v128.addWords(state(2), v128.constant(2, 0, 0, 0)), 32),
        advance(2 * BLOCK),
        branchIf(i32.lessThan(get(AT), get(STREAM_END))),
      ),
      set(AT, i32.constant(0)),
      when(
        i32.lessThan(get(AT), get(LENGTH)),
        loop(
          v128.store(get(AT), v128.xor(v128.load(get(AT), MESSAGE), v128.load(get(AT), STREAM + AUTHENTICATOR_KEY)), MESSAGE),
          advance(16),
          branchIf(i32.lessThan(get(AT), get(LENGTH))),
        ),
      ),
    ],
  };
}

/**
 * `authenticate(whole, length)`: the polynomial of Poly1305 over the blocks of that much of the message, of which those after `whole`
 * bytes are a short one that ends with a one of its own. The key is the beginning of the key stream.
 */
function authenticateFunction(): WasmFunction {
  const [WHOLE, LENGTH, AT] = [0, 1, 2] as const;
  const [LOW, HIGH, CARRY] = [3, 4, 5] as const;
  /** Limbs of the key, of the sum and of the product; five times those of the key. */
  const [R, H, D, S] = [6, 11, 16, 21] as const;
  const LIMB = 0x3ffffff;
  const limbs = (masks: readonly number[]): Code[] => {
    const at = (i: number): Code =>
      [
        get(LOW),
        i64.shiftRight(get(LOW), i64.constant(26)),
        i64.or(i64.shiftRight(get(LOW), i64.constant(52)), i64.shiftLeft(get(HIGH), i64.constant(12))),
        i64.shiftRight(get(HIGH), i64.constant(14)),
        i64.shiftRight(get(HIGH), i64.constant(40)),
      ][i] as Code;
    return masks.map((mask, i) => i64.and(at(i), i64.constant(mask)));
  };
  const five = [0, 1, 2, 3, 4];
  const clamped = limbs([LIMB, 0x3ffff03, 0x3ffc0ff, 0x3f03fff, 0x00fffff]);
  const block = limbs([LIMB, LIMB, LIMB, LIMB, LIMB]);
  const top = i64.shiftLeft(i64.ofI32(i32.lessThan(get(AT), get(WHOLE))), i64.constant(24));
  /** 2^130 is 5: limbs of the key that are multiplied beyond the last one come back five times. */
  const factor = (i: number, j: number): Code => get(i >= j ? R + i - j : S + i - j + 5);
  const product = (i: number): Code => five.map((j) => i64.multiply(get(H + j), factor(i, j))).reduce((total, one) => i64.add(total, one));
  const carryOf = (i: number): Code => [
    set(CARRY, i64.shiftRight(get(D + i), i64.constant(26))),
    set(H + i, i64.and(get(D + i), i64.constant(LIMB))),
  ];
  const carries = five.map((i) => [
    carryOf(i),
    i < 4 ? set(D + i + 1, i64.add(get(D + i + 1), get(CARRY))) : set(D, i64.add(get(H), i64.multiply(get(CARRY), i64.constant(5)))),
  ]);
  const read = (at: Code, offset: number): Code => [set(LOW, i64.load(at, offset)), set(HIGH, i64.load(at, offset + 8))];
  return {
    parameters: 2,
    locals: ['i32', ...new Array<'i64'>(23).fill('i64')],
    body: [
      read(i32.constant(STREAM), 0),
      five.map((i) => set(R + i, clamped[i] as Code)),
      five.map((i) => set(S + i, i64.multiply(get(R + i), i64.constant(5)))),
      when(
        i32.lessThan(get(AT), get(LENGTH)),
        loop(
          read(get(AT), MESSAGE),
          ...five.map((i) => set(H + i, i64.add(get(H + i), i === 4 ? i64.or(block[i] as Code, top) : (block[i] as Code)))),
          ...five.map((i) => set(D + i, product(i))),
          carries,
          // The first limb again: what was carried around may not fit into it.
          carryOf(0),
          set(H + 1, i64.add(get(H + 1), get(CARRY))),
          set(AT, i32.add(get(AT), i32.constant(16))),
          branchIf(i32.lessThan(get(AT), get(LENGTH))),
        ),
      ),
      five.map((i) => i64.store(i32.constant(SUM), get(H + i), 8 * i)),
    ],
  };
}
