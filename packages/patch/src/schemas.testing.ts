/** Random schemas with matching objects, for properties that must hold for every kind. */

import { ObjectMeta } from '@plat-dev/kinds/meta';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import { always, int32, list, type MessageType, map, message, object, opt, string, type Type } from '@plat-dev/schema/types';
import type { Values } from './shape.ts';

/** A type, and a generator of its values. */
interface Drawn {
  readonly type: Type;
  readonly value: fc.Arbitrary<unknown>;
}

const texts = fc.constantFrom('x', 'y', 'z', '__proto__', 'constructor');
const keys = fc.constantFrom('a', 'b', 'c', '__proto__', 'toString');

const scalar: fc.Arbitrary<Drawn> = fc.constantFrom<Drawn>(
  { type: string, value: fc.constantFrom('x', 'y', 'z') },
  { type: int32, value: fc.integer({ min: 1, max: 3 }) },
);

/** External keys may have any name. */
const record = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .uniqueArray(fc.tuple(keys, value), { minLength: 1, maxLength: 3, selector: ([key]) => key })
    .map((entries) => Object.fromEntries(entries));

const drawn = fc.letrec<{ any: Drawn; message: Drawn }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'schema' },
    scalar,
    fc.tuple(scalar, fc.boolean()).map(([{ type, value }, atomic]) => ({ type: map(type, { atomic }), value: record(value) })),
    scalar.map(({ type, value }) => ({ type: list(type), value: fc.array(value, { minLength: 1, maxLength: 3 }) })),
    fc.constant({ type: list(string, 'set'), value: fc.uniqueArray(texts, { minLength: 1, maxLength: 3 }) }),
    tie('message'),
    tie('message').map((inner) => keyedList(inner)),
    tie('message').map(({ type, value }) => ({ type: map(type), value: record(value) })),
  ),
  message: fc
    .tuple(
      fc.uniqueArray(fc.constantFrom('p', 'q', 'r'), { minLength: 1, maxLength: 3 }),
      fc.array(tie('any'), { minLength: 3, maxLength: 3 }),
      fc.boolean(),
    )
    .map(([names, fields, atomic]) => messageOf(names, fields, atomic)),
}));

function messageOf(names: readonly string[], fields: readonly Drawn[], atomic: boolean): Drawn {
  const used = names.map((name, i) => [name, fields[i] as Drawn] as const);
  const type = message('test.Part', Object.fromEntries(used.map(([name, field], i) => [name, opt(i + 1, field.type)])), { atomic });
  return {
    type,
    value: fc.record(Object.fromEntries(used.map(([name, field]) => [name, field.value])), { requiredKeys: [names[0] as string] }),
  };
}
function keyedList({ type, value }: Drawn): Drawn {
  const inner = type as MessageType;
  const item = message('test.Item', { name: always(10, string), side: opt(11, string, { default: 'left' }), ...(inner.fields as object) });
  const named = fc.tuple(texts, fc.constantFrom('left', 'right'), value).map(([name, side, rest]) => ({ name, side, ...(rest as object) }));
  return {
    type: list(item, 'map', ['name', 'side']),
    value: fc.uniqueArray(named, { minLength: 1, maxLength: 3, selector: (one) => `${one.name}/${one.side}` }),
  };
}

export interface Sample {
  readonly type: MessageType;
  /** Objects of the type, as a client would send them. */
  readonly objects: readonly Values[];
}

/** A schema with some objects. Every object has some of the fields only. */
export function samples(count: number): fc.Arbitrary<Sample> {
  return fc.tuple(drawn.any, drawn.any, drawn.any).chain((parts) => {
    const names = ['data', 'spec', 'more'];
    const type = object('test.Thing', {
      metadata: always(1, ObjectMeta),
      ...Object.fromEntries(names.map((name, i) => [name, opt(i + 2, (parts[i] as Drawn).type)])),
    }) as unknown as MessageType;
    const one = fc.record(Object.fromEntries(names.map((name, i) => [name, (parts[i] as Drawn).value])), { requiredKeys: [] });
    return fc.array(one, { minLength: count, maxLength: count }).map((objects) => ({
      type,
      objects: objects as Values[],
      [fc.toStringMethod]: () =>
        JSON.stringify({ data: describe(parts[0].type), spec: describe(parts[1].type), more: describe(parts[2].type), objects }),
    }));
  });
}

/** A type in few words, for counterexamples. */
function describe(type: Type): unknown {
  switch (type.node) {
    case 'scalar':
      return type.name;
    case 'list':
      return [`${type.list} of`, describe(type.item)];
    case 'map':
      return { [type.atomic ? 'atomic map of' : 'map of']: describe(type.value) };
    case 'message':
      return {
        ...(type.atomic && { atomic: true }),
        ...Object.fromEntries(type.ordered.map((field) => [field.name, describe(field.type)])),
      };
    default:
      return type.node;
  }
}
