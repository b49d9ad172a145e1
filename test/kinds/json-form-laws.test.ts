/** What holds for random objects of every kind: the JSON form made from an object is that of its text. */
import { expect, test } from 'vitest';
import { builtinKinds } from '../../packages/kinds/src/index.ts';
import type { KindVersion } from '../../packages/kinds/src/kind.ts';
import fc, { rounds } from '../../packages/lib/src/testing/fast-check.testing.ts';
import { kubernetes } from '../../packages/meta/src/identity.ts';
import { decode, encode } from '../../packages/schema/src/json/index.ts';
import { jsonForm } from '../../packages/schema/src/json/json-form.ts';
import { isNormal } from '../../packages/schema/src/json/normal-form.ts';
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
