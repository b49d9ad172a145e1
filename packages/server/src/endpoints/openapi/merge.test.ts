import type { JsonObject } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { mergedParts } from './merge.ts';

const ref = (name: string): JsonObject => ({ $ref: `#/definitions/${name}` });
const A: JsonObject = { type: 'object', description: 'ours', properties: { description: { type: 'string' } } };
const otherA: JsonObject = { type: 'object', properties: { description: { type: 'integer' } } };
const part = (definitions: JsonObject, first = 'B') => ({ paths: { '/x': { get: { schema: ref(first) } } }, definitions });

test('what says the same is there once, whatever it tells people', () => {
  const theirs = { ...A, description: 'theirs', 'x-kubernetes-group-version-kind': [{ kind: 'A' }] };
  const { definitions, paths } = mergedParts({ A }, [part({ A: theirs, B: { properties: { a: ref('A') } } })]);
  expect(definitions).toEqual({ B: { properties: { a: ref('A') } } });
  expect(paths).toEqual({ '/x': { get: { schema: ref('B') } } });
});

test('what says another thing gets another name, and what leads to it follows', () => {
  const B = { properties: { a: ref('A') } };
  const { definitions, paths } = mergedParts({ A, B }, [part({ A: otherA, B })]);
  expect(definitions).toEqual({ A_v2: otherA, B_v2: { properties: { a: ref('A_v2') } } });
  expect(paths).toEqual({ '/x': { get: { schema: ref('B_v2') } } });
});

test('servers that agree share a definition, others get one each', () => {
  const thirdA = { type: 'string' };
  const { definitions } = mergedParts({ A }, [part({ A: otherA }, 'A'), part({ A: { ...otherA } }, 'A'), part({ A: thirdA }, 'A')]);
  expect(definitions).toEqual({ A_v2: otherA, A_v3: thirdA });
});

test('definitions that lead to each other in a circle are renamed together', () => {
  const circle = (type: string): JsonObject => ({ A: { type, properties: { b: ref('B') } }, B: { properties: { a: ref('A') } } });
  const { definitions } = mergedParts(circle('object') as Record<string, JsonObject>, [part(circle('array'), 'A')]);
  expect(definitions).toEqual({
    A_v2: { type: 'array', properties: { b: ref('B_v2') } },
    B_v2: { properties: { a: ref('A_v2') } },
  });
});
