import { afterEach, expect, test, vi } from 'vitest';
import { assembled, branchIf, get, i32, i64, loop, set, v128, when } from './assembler.ts';

const [AT, END] = [0, 1] as const;

test('a loop runs until its condition is false, and what is under a condition only when it is true', () => {
  const SUM = 2;
  const total = {
    parameters: 2,
    locals: ['i64'] as const,
    body: [
      when(
        i32.lessThan(get(AT), get(END)),
        loop(
          set(SUM, i64.add(get(SUM), i64.load(get(AT), 1000))),
          set(AT, i32.add(get(AT), i32.constant(8))),
          branchIf(i32.lessThan(get(AT), get(END))),
        ),
      ),
      i64.store(i32.constant(0), get(SUM)),
    ],
  };
  const made = assembled(1, () => ({ total }))();
  if (made === undefined) throw new Error('assembled code cannot run here');
  const view = new DataView(made.memory.buffer);
  for (let i = 0; i < 20; i++) view.setBigUint64(1000 + 8 * i, BigInt(i) << 40n, true);
  made.call.total(0, 8 * 20);
  expect(view.getBigUint64(0, true)).toBe(190n << 40n);
  made.call.total(8, 8);
  expect(view.getBigUint64(0, true)).toBe(0n);
});

test('constants of any sign and length, and words of sixteen bytes', () => {
  const numbers = [0, 63, 64, -64, -65, 8191, 8192, 0x3ffffff, 0x7fffffff, -0x80000000];
  const write = {
    parameters: 0,
    locals: [] as const,
    body: [
      numbers.map((number, i) => i64.store(i32.constant(8 * i), i64.constant(number))),
      v128.store(i32.constant(200), v128.pickWords(v128.constant(1, 2, 3, 4), v128.constant(5, 6, 7, 8), [7, 0, 5, 2])),
      v128.store(i32.constant(0), v128.shiftWordsLeft(v128.load(i32.constant(200)), i32.constant(28)), 216),
    ],
  };
  const made = assembled(1, () => ({ write }))();
  if (made === undefined) throw new Error('assembled code cannot run here');
  made.call.write();
  const view = new DataView(made.memory.buffer);
  expect(numbers.map((_, i) => Number(view.getBigInt64(8 * i, true)))).toEqual(numbers);
  const words = (at: number): number[] => [0, 1, 2, 3].map((i) => view.getUint32(at + 4 * i, true));
  expect(words(200)).toEqual([8, 1, 6, 3]);
  expect(words(216)).toEqual([0x80000000, 0x10000000, 0x60000000, 0x30000000]);
});

afterEach(() => vi.unstubAllGlobals());
test('code that is not valid, or that cannot run, makes no instance', () => {
  expect(assembled(1, () => ({ broken: { parameters: 0, locals: [], body: get(5) } }))()).toBeUndefined();
  vi.stubGlobal('WebAssembly', undefined);
  expect(assembled(1, () => ({ empty: { parameters: 0, locals: [], body: [] } }))()).toBeUndefined();
});

test('instances share compiled code, and each has a memory of its own', () => {
  let compiled = 0;
  const one = assembled(1, () => {
    compiled++;
    return { mark: { parameters: 1, locals: [], body: [i64.store(i32.constant(0), i64.ofI32(get(0)))] } };
  });
  const [a, b] = [one(), one()];
  a?.call.mark(1);
  b?.call.mark(2);
  expect([compiled, a?.memory[0], b?.memory[0]]).toEqual([1, 1, 2]);
});
