/**
 * A small assembler of WebAssembly, for inner loops that need instructions which JavaScript does not have: operations on
 * sixteen bytes at once and products of 64 bits. Code is an array of bytes, and an operation a function of the code of its operands:
 *
 *   set(SUM, i32.add(get(SUM), i32.load(get(AT), 16)))          sum += memory[at + 16]
 *   loop(…, branchIf(i32.lessThan(get(AT), get(END))))          do … while (at < end)
 *
 * The engine validates the module before it runs, and checks every access to the memory.
 */
/** Nested as it was made; flattened when it is assembled. */
export type Code = readonly (number | Code)[];
export type ValueType = 'i32' | 'i64' | 'v128';

export interface WasmFunction {
  /** How many parameters there are, all `i32`: the first locals. */
  readonly parameters: number;
  readonly locals: readonly ValueType[];
  readonly body: Code;
}
/** The memory of an instance, and its functions by name. */
export interface Assembled<Name extends string> {
  readonly memory: Uint8Array;
  readonly call: Readonly<Record<Name, (...parameters: number[]) => void>>;
}

const valueTypes: Readonly<Record<ValueType, number>> = { i32: 0x7f, i64: 0x7e, v128: 0x7b };
/** Memory is allocated in pages of this size. */
export const PAGE = 65_536;

/** LEB128, unsigned and signed. */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, unsigned(value >>> 7)];
}
function signed(value: number): Code {
  return value >= -0x40 && value < 0x40 ? [value & 0x7f] : [(value & 0x7f) | 0x80, signed(value >> 7)];
}

export const get = (local: number): Code => [0x20, unsigned(local)];
export const set = (local: number, value: Code): Code => [value, 0x21, unsigned(local)];
/** Runs once, and again whenever a branch is taken. */
export const loop = (...body: readonly Code[]): Code => [0x03, 0x40, body, 0x0b];
/** Within a loop, as its last statement: runs the loop again. */
export const branchIf = (condition: Code): Code => [condition, 0x0d, 0];
export const when = (condition: Code, ...body: readonly Code[]): Code => [condition, 0x04, 0x40, body, 0x0b];

type Binary = (a: Code, b: Code) => Code;
const binary =
  (...operation: readonly number[]): Binary =>
  (a, b) => [a, b, operation];
const load =
  (alignment: number, ...operation: readonly number[]) =>
  (at: Code, offset = 0): Code => [at, operation, alignment, unsigned(offset)];
const store =
  (alignment: number, ...operation: readonly number[]) =>
  (at: Code, value: Code, offset = 0): Code => [at, value, operation, alignment, unsigned(offset)];

/** Numbers have no sign. */
export const i32 = {
  constant: (value: number): Code => [0x41, signed(value)],
  add: binary(0x6a),
  and: binary(0x71),
  shiftLeft: binary(0x74),
  shiftRight: binary(0x76),
  lessThan: binary(0x49),
} as const;

export const i64 = {
  /** Of 31 bits at most. */
  constant: (value: number): Code => [0x42, signed(value)],
  load: load(3, 0x29),
  store: store(3, 0x37),
  add: binary(0x7c),
  multiply: binary(0x7e),
  and: binary(0x83),
  or: binary(0x84),
  shiftLeft: binary(0x86),
  shiftRight: binary(0x88),
  ofI32: (value: Code): Code => [value, 0xad],
} as const;

export const v128 = {
  load: load(4, 0xfd, 0x00),
  store: store(4, 0xfd, 0x0b),
  xor: binary(0xfd, 0x51),
  /** Of four words, each by itself. */
  addWords: binary(0xfd, 0xae, 0x01),
  shiftWordsLeft: binary(0xfd, 0xab, 0x01),
  shiftWordsRight: binary(0xfd, 0xad, 0x01),
  /** Four words, by their numbers in two values: 0 to 3 and 4 to 7. */
  pickWords: (a: Code, b: Code, words: readonly [number, number, number, number]): Code => [
    a,
    b,
    [0xfd, 0x0d],
    words.flatMap((word) => [0, 1, 2, 3].map((byte) => 4 * word + byte)),
  ],
  /** Four small numbers. */
  constant: (...words: readonly [number, number, number, number]): Code => [0xfd, 0x0c, words.flatMap((word) => [word, 0, 0, 0])],
  /** One of the four words. */
  word: (value: Code, lane: number): Code => [value, 0xfd, 0x1b, lane],
} as const;

const flat = (code: Code): number[] => {
  const bytes: number[] = [];
  const add = (part: Code): void => {
    for (const one of part) {
      if (typeof one === 'number') bytes.push(one);
      else add(one);
    }
  };
  add(code);
  return bytes;
};
const withLength = (...content: readonly Code[]): Code => {
  const bytes = flat(content);
  return [unsigned(bytes.length), bytes];
};
const vector = (items: readonly Code[]): Code => [unsigned(items.length), items];
const text = (name: string): Code => withLength([...Buffer.from(name)]);

/** The bytes of a module with one memory. */
export function assemble(pages: number, functions: Readonly<Record<string, WasmFunction>>): Uint8Array {
  const all = Object.entries(functions);
  const types = all.map(([, { parameters }]): Code => [0x60, vector(new Array<Code>(parameters).fill([valueTypes.i32])), 0]);
  const bodies = all.map(([, { locals, body }]) => withLength(vector(locals.map((type): Code => [1, valueTypes[type]])), body, [0x0b]));
  const exported = [[text('memory'), 0x02, 0], ...all.map(([name], i): Code => [text(name), 0x00, unsigned(i)])];
  return Uint8Array.from(
    flat([
      [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
      [1, withLength(vector(types))],
      [3, withLength(vector(all.map((_, i) => unsigned(i))))],
      [5, withLength(vector([[0x00, unsigned(pages)]]))],
      [7, withLength(vector(exported))],
      [10, withLength(vector(bodies))],
    ]),
  );
}

/** Of the global object, which the types of Node do not declare. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: Readonly<Record<string, unknown>> };
}

/** Makes an instance with a memory of its own. Undefined where the processor or the way Node was started does not allow it. */
export type Instantiate<Name extends string> = () => Assembled<Name> | undefined;

/**
 * The code is compiled with the first instance, and the others share it: the engine compiles code that is used much a second time, which
 * costs about ten milliseconds, and keys that are loaded again must not cost that each time.
 */
export function assembled<Name extends string>(pages: number, functions: () => Readonly<Record<Name, WasmFunction>>): Instantiate<Name> {
  let module: object | undefined;
  return () => {
    const { WebAssembly: api } = globalThis as { WebAssembly?: WebAssemblyApi };
    if (api === undefined) return undefined;
    try {
      module ??= new api.Module(assemble(pages, functions()));
      const { exports } = new api.Instance(module);
      const { memory, ...call } = exports as { memory: { buffer: ArrayBuffer } } & Assembled<Name>['call'];
      return { memory: new Uint8Array(memory.buffer), call: call as unknown as Assembled<Name>['call'] };
    } catch {
      return undefined;
    }
  };
}
