/** What holds for random objects of every built-in kind: forms, defaults and versions lose nothing. */

import { expect, test } from 'vitest';
import type { ApiObject } from '../../packages/kinds/src/kind.ts';
import { fromHubNow, type ServedKind, toHubNow } from '../../packages/kinds/src/served-kind.ts';
import { testEnv } from '../../packages/kinds/src/validation/kinds.testing.ts';
import { normalize } from '../../packages/kinds/src/validation/laws.testing.ts';
import { expectEqual } from '../../packages/lib/src/testing/expect-equal.testing.ts';
import fc, { rounds } from '../../packages/lib/src/testing/fast-check.testing.ts';
import { applyDefaults, decode, encode } from '../../packages/schema/src/json/index.ts';
import { decodeProtobuf, encodeProtobuf } from '../../packages/schema/src/protobuf/index.ts';
import { type MessageType, resolve, type Type } from '../../packages/schema/src/types.ts';
import { arbitraryOf } from '../support/arbitrary.ts';
import { kinds, readExamples, servedVersions } from '../support/examples.ts';

const every: [string, ServedKind][] = kinds.flatMap((kind) =>
  servedVersions(kind).map((served): [string, ServedKind] => [`${served.apiVersion} ${kind.kind}`, served]),
);
const converted = every.filter(([, served]) => !served.isHub);
/** fast-check prints the seed of a failure; give it here to see it again. */
const runs = (numRuns: number) => ({ numRuns: rounds(numRuns) });

const read = (schema: MessageType, value: unknown): ApiObject => decode(schema, value) as ApiObject;
const json = (schema: MessageType, object: unknown): unknown => JSON.parse(encode(schema, object));

function fillIn(served: ServedKind, object: ApiObject): void {
  applyDefaults(served.schema, object);
  served.definition.defaults?.(object as never, testEnv);
}

/** An object as the binary form has it: lists whose absence means something else than none at all cannot be empty there. */
function withoutEmptyLists(type: Type, value: unknown): unknown {
  const resolved = resolve(type);
  if (resolved.node === 'list' && Array.isArray(value)) return value.map((item) => withoutEmptyLists(resolved.item, item));
  if (resolved.node !== 'message' || typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = { ...value };
  for (const field of resolved.ordered) {
    const inner = copy[field.name];
    if (inner === undefined) continue;
    if (field.nullable && resolve(field.type).node === 'list' && (inner as unknown[]).length === 0) delete copy[field.name];
    else copy[field.name] = withoutEmptyLists(field.type, inner);
  }
  return copy;
}

test.each(every)('%s is the same in JSON and in the binary form', (_name, { schema }) => {
  fc.assert(
    fc.property(arbitraryOf(schema), (value) => {
      const object = read(schema, value);
      const text = encode(schema, object);
      expectEqual(encode(schema, read(schema, JSON.parse(text))), text);
      const bytes = encodeProtobuf(schema, object);
      const back = decodeProtobuf(schema, bytes);
      expectEqual(json(schema, back), json(schema, withoutEmptyLists(schema, object)));
      expectEqual(encodeProtobuf(schema, back).equals(bytes), true);
    }),
    runs(60),
  );
});

test.each(every)('defaults of %s are complete the first time', (_name, served) => {
  fc.assert(
    fc.property(arbitraryOf(served.schema), (value) => {
      const object = read(served.schema, value);
      fillIn(served, object);
      const once = json(served.schema, object);
      fillIn(served, object);
      expectEqual(json(served.schema, object), once);
      // What was answered and sent again is the same object.
      const again = read(served.schema, once);
      fillIn(served, again);
      expectEqual(json(served.schema, again), once);
    }),
    runs(60),
  );
});

test.each(converted)('nothing stored is lost through %s', (_name, served) => {
  const hub = servedVersions(served.kind).find((one) => one.isHub);
  fc.assert(
    fc.property(arbitraryOf(served.hub.schema), (value) => {
      const stored = read(served.hub.schema, value);
      if (hub !== undefined) fillIn(hub, stored);
      normalize(served.kind, stored);
      const before = json(served.hub.schema, stored);
      const shown = json(served.schema, fromHubNow(served, stored));
      const received = read(served.schema, shown);
      fillIn(served, received);
      const after = json(served.hub.schema, toHubNow(served, received)) as ApiObject;
      expectEqual(
        { ...after, kind: undefined, apiVersion: undefined },
        { ...(before as ApiObject), kind: undefined, apiVersion: undefined },
      );
    }),
    runs(300),
  );
});

test('an example of every kind is the same in every version', () => {
  for (const { file, object, served } of readExamples()) {
    const given = read(served.schema, object);
    fillIn(served, given);
    const stored = json(served.hub.schema, toHubNow(served, given));
    for (const other of servedVersions(served.kind)) {
      const shown = read(other.schema, json(other.schema, fromHubNow(other, read(served.hub.schema, stored))));
      fillIn(other, shown);
      expect(json(other.hub.schema, toHubNow(other, shown)), `${file} in ${other.version}`).toEqual(stored);
    }
  }
});
