/**
 * Random objects of a schema, as a client would write them in JSON. Values lean towards what a server accepts: names are
 * names, words are those of the schema, quantities and times are good ones in one of their spellings.
 *
 * An object comes from one number, so that a failure is told by the seed and that number; objects are not shrunk.
 */
import fc from '../../packages/lib/src/testing/fast-check.testing.ts';
import {
  type JsonObject,
  type JsonValue,
  type MessageType,
  type NamedField,
  resolve,
  type ScalarName,
  type Type,
} from '../../packages/schema/src/types.ts';

/** Numbers from 0 to below 1, the same ones for the same seed. */
export type Random = () => number;
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
export const pick = <T>(random: Random, values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;

const names = ['a', 'web', 'x-1', 'front.example.com', 'node-7'];
const texts = [...names, '', 'Grüße', '日本', '😀 x', 'two words', 'line\nline', '"quoted"\\', 'constructor', '__proto__', '<&>\u2028'];
const quantities = ['0', '1', '100m', '1000m', '1.5', '1Gi', '1024Mi', '2e3', '0.5Ki', '-3', '12E', '1u'];
const times = ['2024-05-01T08:00:00Z', '2024-05-01T10:00:00+02:00', '1970-01-01T00:00:00Z', '1969-12-31T23:59:59Z', '9999-12-31T23:59:59Z'];
const microTimes = ['2024-05-01T08:00:00.000001Z', '2024-05-01T10:00:00.500000+02:00', '1969-12-31T23:59:59.999999Z'];
const int32s = [0, 1, 2, 80, 443, 30000, 65535, -1, 2 ** 31 - 1, -(2 ** 31)];
const wholes = [...int32s, 2 ** 40, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
const anything: JsonValue[] = [true, false, 0, 1.5, -7, 'x', '', [], {}, [1, [null]], { a: { b: null } }, { é: ['😀'] }];

const scalars: Readonly<Record<ScalarName, readonly JsonValue[]>> = {
  string: texts,
  bool: [true, false],
  int32: int32s,
  int64: wholes,
  double: [...wholes, 0.1, -2.5, 1e-7],
  bytes: ['', 'AA==', 'aGVsbG8=', '/+8='],
  quantity: quantities,
  time: times,
  microTime: microTimes,
  duration: ['0s', '1m', '1m0s', '1h30m', '-2s', '1.5ms'],
  intOrString: [0, 1, 443, '50%', 'http', ''],
  raw: [{ kind: 'Thing', apiVersion: 'example.com/v1' }, { a: [1, null] }, {}],
  json: anything,
  fieldsV1: [{ 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } }, {}],
};

/** Texts whose field says what they are. */
const byName: Readonly<Record<string, readonly string[]>> = {
  name: names,
  namespace: ['shop', 'default'],
  ip: ['192.0.2.1', '2001:db8::1'],
  protocol: ['TCP', 'UDP', 'SCTP'],
};

/** How deep messages stand in each other; below, only what must be there is. */
const DEPTH = 9;

export function randomValue(type: Type, random: Random, depth = 0, field?: NamedField): JsonValue {
  const resolved = resolve(type);
  switch (resolved.node) {
    case 'scalar':
      if (field?.enum !== undefined && random() < 0.9) return pick(random, field.enum);
      return pick(random, (resolved.name === 'string' && random() < 0.8 && byName[field?.name ?? '']) || scalars[resolved.name]);
    case 'list':
      return Array.from({ length: pick(random, [0, 1, 1, 2, 3]) }, () => randomValue(resolved.item, random, depth + 1, field));
    case 'map': {
      const keys = pick(random, [[], ['a'], ['b', 'a', 'é'], ['example.com/key', 'constructor'], ['cpu', 'memory']]);
      return Object.fromEntries(keys.map((key) => [key, randomValue(resolved.value, random, depth + 1, field)]));
    }
    case 'union':
      return randomValue(random() < 0.5 ? resolved.object.type : resolved.other.type, random, depth + 1, field);
    case 'message':
      return randomMessage(resolved, random, depth);
  }
}

/** Objects inside objects lose their kind in the binary form, so that they are given none. */
const isTypeMeta = (schema: MessageType, name: string): boolean => schema.object && (name === 'kind' || name === 'apiVersion');

function randomMessage(schema: MessageType, random: Random, depth: number): JsonObject {
  const object: JsonObject = {};
  // Where much could stand, each of it stands less often: objects stay small, and every field has its turn.
  const chance = depth === 0 ? 0.8 : Math.min(0.5, 4 / schema.ordered.length);
  for (const field of schema.ordered) {
    if (isTypeMeta(schema, field.name)) continue;
    const wanted = field.always ? (depth < DEPTH ? 0.9 : 0) : depth < DEPTH ? chance : 0;
    if (random() < wanted) object[field.name] = randomValue(field.type, random, depth + 1, field);
  }
  return object;
}

/** Random objects of a schema. */
export const arbitraryOf = (schema: MessageType): fc.Arbitrary<JsonObject> =>
  fc.integer({ min: 0, max: 2 ** 31 - 1 }).map((seed) => randomValue(schema, randomOf(seed)) as JsonObject);
