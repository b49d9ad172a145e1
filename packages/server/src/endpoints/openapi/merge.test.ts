import { atOnce } from '@plat-dev/lib/slices';
import type { JsonObject } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import type { SpecPart } from '../../extension/aggregation/spec.ts';
import { mergedParts } from './merge.ts';

const ref = (name: string): JsonObject => ({ $ref: `#/definitions/${name}` });
const A: JsonObject = { type: 'object', description: 'ours', properties: { description: { type: 'string' } } };
const otherA: JsonObject = { type: 'object', properties: { description: { type: 'integer' } } };
const merged = (...given: Parameters<typeof mergedParts>): SpecPart => atOnce(mergedParts(...given));
const part = (definitions: JsonObject, first = 'B') => ({ paths: { '/x': { get: { schema: ref(first) } } }, definitions });

test('what says the same is there once, whatever it tells people', () => {
  const theirs = { ...A, description: 'theirs', 'x-kubernetes-group-version-kind': [{ kind: 'A' }] };
  const { definitions, paths } = merged({ A }, [part({ A: theirs, B: { properties: { a: ref('A') } } })]);
  expect(definitions).toEqual({ B: { properties: { a: ref('A') } } });
  expect(paths).toEqual({ '/x': { get: { schema: ref('B') } } });
});

test('what says another thing gets another name, and what leads to it follows', () => {
  const B = { properties: { a: ref('A') } };
  const { definitions, paths } = merged({ A, B }, [part({ A: otherA, B })]);
  expect(definitions).toEqual({ A_v2: otherA, B_v2: { properties: { a: ref('A_v2') } } });
  expect(paths).toEqual({ '/x': { get: { schema: ref('B_v2') } } });
});

test('servers that agree share a definition, others get one each', () => {
  const thirdA = { type: 'string' };
  const { definitions } = merged({ A }, [part({ A: otherA }, 'A'), part({ A: { ...otherA } }, 'A'), part({ A: thirdA }, 'A')]);
  expect(definitions).toEqual({ A_v2: otherA, A_v3: thirdA });
});

test('definitions that lead to each other in a circle are renamed together', () => {
  const circle = (type: string): JsonObject => ({ A: { type, properties: { b: ref('B') } }, B: { properties: { a: ref('A') } } });
  const { definitions } = merged(circle('object') as Record<string, JsonObject>, [part(circle('array'), 'A')]);
  expect(definitions).toEqual({
    A_v2: { type: 'array', properties: { b: ref('B_v2') } },
    B_v2: { properties: { a: ref('A_v2') } },
  });
});

test('large documents are merged in steps: of many definitions, of many paths, and within a large definition', () => {
  const yieldsOf = (ours: Record<string, JsonObject>, theirs: SpecPart): number => [...mergedParts(ours, [theirs])].length;
  const numbers = Array.from({ length: 5_000 }, (_, i) => i);
  const many = Object.fromEntries(numbers.map((i) => [`D${i}`, otherA]));
  expect(yieldsOf({}, { paths: {}, definitions: many })).toBeGreaterThanOrEqual(5_000);
  expect(yieldsOf({}, { paths: many, definitions: {} })).toBeGreaterThanOrEqual(5_000);
  const large = (): JsonObject => ({ properties: Object.fromEntries(numbers.map((i) => [`p${i}`, { type: 'string', maxLength: i }])) });
  const renamed = yieldsOf({}, { paths: {}, definitions: { A: large() } });
  expect(renamed).toBeGreaterThanOrEqual(10);
  // They are the same, so that nothing is added; each of their values is compared.
  expect(yieldsOf({ A: large() }, { paths: {}, definitions: { A: large() } })).toBeGreaterThanOrEqual(renamed + 10);
});
