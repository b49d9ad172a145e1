/** A patch that sees only what it touches makes what it would make of the whole object. */

import { bodies } from '@plat-dev/kinds/bodies.testing';
import type { Kind, KindVersion } from '@plat-dev/kinds/kind';
import { create, type Loose } from '@plat-dev/kinds/validation/kinds.testing';
import { mutated } from '@plat-dev/kinds/validation/mutations.testing';
import { jsonText } from '@plat-dev/lib/json-text';
import { expectEqual } from '@plat-dev/lib/testing/expect-equal.testing';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { decode, encode, toJson } from '@plat-dev/schema/json';
import type { JsonValue } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { type Patch, readJsonPatch } from './json-patch.ts';
import { readMergePatch } from './merge-patch.ts';
import { readStrategicPatch } from './strategic.ts';
import { addUntouched, touchedPart } from './touched.ts';

function stored(kind: Kind, body: Loose): Loose {
  const { schema } = kind.versions[kind.hub] as KindVersion;
  const { object } = create(kind, body);
  object.metadata.labels = { a: '1', b: '2' };
  const fieldsV1 = { 'f:spec': {} };
  object.metadata.managedFields = [{ manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 }];
  return decode(schema, JSON.parse(encode(schema, { kind: kind.kind, apiVersion: 'v1', ...object })));
}

function whole(kind: Kind, live: Loose, patch: Patch): unknown {
  const { schema } = kind.versions[kind.hub] as KindVersion;
  return decode(schema, patch(toJson(schema, live)));
}
function partial(kind: Kind, live: Loose, patch: Patch): unknown {
  const { schema } = kind.versions[kind.hub] as KindVersion;
  const { touched } = patch;
  if (touched === undefined) return whole(kind, live, patch);
  const made = decode(schema, patch(toJson(schema, touchedPart(live, touched)))) as Loose;
  addUntouched(made, live, touched);
  return made;
}
/** What came of it, or why nothing did. */
function outcome(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

/** Some of the fields of a body, and of its metadata, with a few things wrong in them. */
const someOf = (body: Loose): fc.Arbitrary<Loose> => {
  const template = { ...body, metadata: { ...body.metadata, labels: { a: '3' }, annotations: { x: 'y' }, finalizers: ['a/b'] } };
  return fc.tuple(mutated(template), fc.infiniteStream(fc.boolean())).map(([value, coins]) => {
    const keeps = () => coins.next().value === true;
    const pick = (object: Loose): Loose => Object.fromEntries(Object.entries(object).filter(keeps));
    const picked = pick(value);
    if (typeof picked.metadata === 'object' && picked.metadata !== null && !Array.isArray(picked.metadata))
      picked.metadata = pick(picked.metadata);
    return picked;
  });
};
const place = (value: Loose): fc.Arbitrary<string> => {
  const all: string[] = [];
  const walk = (at: string, inner: Loose): void => {
    all.push(at);
    if (typeof inner === 'object' && inner !== null)
      for (const key of Object.keys(inner)) walk(`${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, inner[key]);
  };
  walk('', value);
  return fc.oneof(fc.constantFrom(...all), fc.constantFrom('/nowhere', '/metadata/labels/new', '/spec/-', 'x/spec'));
};

test.each(bodies)('a merge patch or a strategic one of a %s', (_name, kind, body) => {
  const { schema } = kind.versions[kind.hub] as KindVersion;
  const live = stored(kind, body);
  fc.assert(
    fc.property(someOf(body), (given) => {
      const text = jsonText(given);
      for (const patch of [readMergePatch(text), readStrategicPatch(schema, text)])
        expectEqual(
          outcome(() => partial(kind, live, patch)),
          outcome(() => whole(kind, live, patch)),
        );
    }),
    { numRuns: rounds(200) },
  );
});

test.each(bodies)('a JSON patch of a %s', (_name, kind, body) => {
  const { schema } = kind.versions[kind.hub] as KindVersion;
  const live = stored(kind, body);
  const at = place(toJson(schema, live) as JsonValue);
  const operation = fc.record({ op: fc.constantFrom('add', 'replace', 'remove', 'move', 'copy', 'test'), path: at, from: at, value: at });
  fc.assert(
    fc.property(fc.array(operation, { minLength: 1, maxLength: 3 }), (operations) => {
      const patch = readJsonPatch(JSON.stringify(operations));
      expectEqual(
        outcome(() => partial(kind, live, patch)),
        outcome(() => whole(kind, live, patch)),
      );
    }),
    { numRuns: rounds(200) },
  );
});

test('what says how the object is read, and directives, concern all of it', () => {
  for (const patch of ['{"apiVersion":"v2"}', '{"kind":null}', '{"$patch":"replace"}', '[]'])
    expect(readMergePatch(patch).touched).toBeUndefined();
  expect(readMergePatch('{"metadata":{"$retainKeys":[]}}').touched).toEqual({ fields: new Set(['metadata']), metadata: undefined });
  expect(readJsonPatch('[{"op":"test","path":""}]').touched).toBeUndefined();
  expect(readJsonPatch('[{"op":"copy","path":"/spec/a","from":"/kind"}]').touched).toBeUndefined();
});

test('what is not touched is copied, and managedFields are shared', () => {
  const live = { metadata: { labels: { a: '1' }, managedFields: [{}] }, spec: { a: [1] }, data: { x: '1' } };
  const touched = { fields: new Set(['data', 'metadata']), metadata: new Set(['annotations']) };
  const made: Loose = { data: { x: '2' }, metadata: { annotations: { b: '2' } } };
  addUntouched(made, live, touched);
  expect(made).toEqual({
    data: { x: '2' },
    spec: { a: [1] },
    metadata: { annotations: { b: '2' }, labels: { a: '1' }, managedFields: [{}] },
  });
  expect(made.spec).not.toBe(live.spec);
  expect(made.metadata.labels).not.toBe(live.metadata.labels);
  expect(made.metadata.managedFields).toBe(live.metadata.managedFields);
});
