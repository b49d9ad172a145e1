/** What holds for random objects of every kind: the JSON form made from an object is that of its text. */
import { expect, test } from 'vitest';
import { builtinKinds } from '../../src/kinds/index.ts';
import type { KindVersion } from '../../src/kinds/kind.ts';
import fc, { rounds } from '../../src/lib/fast-check.testing.ts';
import { kubernetes } from '../../src/meta/identity.ts';
import { decode, encode } from '../../src/schema/json.ts';
import { jsonForm } from '../../src/schema/json-form.ts';
import { isNormal } from '../../src/schema/normal.ts';
import { arbitraryOf } from '../support/arbitrary.ts';

const RUNS = rounds(12);

test.each(builtinKinds(kubernetes).map((kind) => [kind.kind, (kind.versions[kind.hub] as KindVersion).schema] as const))(
  '%s',
  (_name, schema) => {
    fc.assert(
      fc.property(arbitraryOf(schema), (json) => {
        const object = decode(schema, json);
        if (!isNormal(schema, object)) return;
        expect(jsonForm(schema, object)).toEqual(JSON.parse(encode(schema, object)));
      }),
      { numRuns: RUNS },
    );
  },
);
