import { MOST_STEPS } from '@plat-dev/cel/pattern/match';
import { atOnce, type Work } from '@plat-dev/lib/slices';
import { FieldErrors } from '@plat-dev/meta/field';
import { kubernetes } from '@plat-dev/meta/identity';
import type { JsonObject } from '@plat-dev/schema/types';
import { describe, expect, test } from 'vitest';
import type { ApiObject } from '../../kind.ts';
import type { JSONSchemaProps } from '../schema/json-schema.ts';
import { CustomSchema } from './custom-schema.ts';
import { boundedWork, CHARACTERS_A_STEP, MAX_EFFORT, spend, withEffort } from './effort.ts';
import { compilePattern, PatternError, patternFor } from './pattern.ts';

function faults(spec: JSONSchemaProps, value: unknown): string[] {
  const schema = atOnce(
    CustomSchema.compile({ type: 'object', properties: { spec } }, false, kubernetes.schemaExtensionPrefix, 'example.v1.Thing'),
  );
  const object = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, spec: value } as unknown as ApiObject & JsonObject;
  const errors = new FieldErrors();
  schema.validate(object, errors);
  return errors.list.map(({ message }) => message);
}
const tooMuch = expect.stringContaining('takes too much work to validate');

/** A text in which the places of `a` and `b` do not repeat soon, so that hardly a set of steps is met twice. */
function irregular(length: number): string {
  let text = '';
  for (let i = 0, seed = 1; i < length; i++) {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    text += seed % 7 < 3 ? 'a' : 'b';
  }
  return text;
}

test('a counted repeat that starts anywhere in a long text is given up, and usual patterns are not', () => {
  expect(faults({ type: 'string', pattern: 'a.{900}c' }, irregular(20_000))).toEqual([tooMuch]);
  expect(faults({ type: 'string', pattern: '^[ab]{1,1000}$' }, irregular(1000))).toEqual([]);
  expect(faults({ type: 'string', pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$' }, irregular(1_000_000))).toEqual([]);
  expect(
    faults({ type: 'array', items: { type: 'string', pattern: '^(([0-9]{1,3}\\.){3}[0-9]{1,3})$' } }, Array(5000).fill('10.0.0.1')),
  ).toEqual([]);
});

test('a pattern of too many steps is refused', () => {
  expect(() => compilePattern('a{1000}'.repeat(MOST_STEPS / 1000))).toThrow('expression too large');
  expect(compilePattern('a{1000}'.repeat(2)).test('a'.repeat(2000))).toBe(true);
});

test('every value against every branch of a combination is given up', () => {
  const anyOf = Array.from({ length: 5000 }, (_, i) => ({ maxLength: 0, minLength: i + 1 }));
  expect(faults({ type: 'array', items: { type: 'string', anyOf } }, Array(5000).fill('text'))).toEqual([tooMuch]);
  expect(
    faults({ type: 'array', items: { type: 'string', anyOf: [{ pattern: '^x' }, { pattern: '^t' }] } }, Array(5000).fill('text')),
  ).toEqual([]);
});

test('a long enumeration is looked up: every member of a long list may be one of many', () => {
  const members = Array.from({ length: 20_000 }, (_, i) => `m${i}`);
  expect(faults({ type: 'array', items: { type: 'string', enum: members } }, members)).toEqual([]);
  expect(faults({ type: 'string', enum: members }, 'n')).toHaveLength(1);
});

test('the members of an enumeration are put into words once, however many values are none of them', () => {
  let worded = 0;
  const counted = {
    toJSON: () => {
      worded++;
      return 'counted';
    },
  };
  const members = [...Array.from({ length: 2000 }, (_, i) => `member-${i}`), counted] as unknown as string[];
  const found = faults({ type: 'array', items: { type: 'string', enum: members } }, Array(20_000).fill('other'));
  expect(found).toHaveLength(257);
  expect(found[0]).toContain('Unsupported value: "other": supported values: "member-0", "member-1"');
  for (const message of found) expect(message.length).toBeLessThan(5000);
  expect(worded).toBe(1);
});

/** Choices of two within choices of two: 2^depth schemas that may each be asked about one value. */
function choices(word: 'allOf' | 'anyOf' | 'oneOf', depth: number, last: JSONSchemaProps): JSONSchemaProps {
  return depth === 0 ? last : { [word]: [choices(word, depth - 1, last), choices(word, depth - 1, last)] };
}

test('the characters of a long text are not counted again for each of many branches', () => {
  const long = 'a'.repeat(1_000_000);
  for (const word of ['anyOf', 'oneOf'] as const) {
    expect(faults({ type: 'string', ...choices(word, 5, { maxLength: 900_000 }) }, long)).toEqual([tooMuch]);
    expect(faults({ type: 'string', ...choices(word, 5, { minLength: 1_000_001 }) }, long)[0]).toContain('must validate');
  }
  expect(faults({ type: 'string', maxLength: 999_999 }, long)).toHaveLength(1);
  expect(faults({ type: 'string', maxLength: 1_000_000, minLength: 1_000_000 }, long)).toEqual([]);
});

test('a format of long texts is not looked for again in each of many branches', () => {
  const alternatives = Array.from({ length: 20 }, () => ({ format: 'email' }));
  expect(faults({ type: 'string', anyOf: alternatives }, 'a'.repeat(1_000_000))).toEqual([tooMuch]);
  expect(faults({ type: 'string', format: 'email' }, 'a'.repeat(1_000_000))).toHaveLength(1);
});

test('words about a value that fits none of thousands of branches are given up, and about some hundred are found', () => {
  for (const word of ['allOf', 'anyOf', 'oneOf'] as const) {
    expect(faults({ type: 'string', ...choices(word, 14, { maxLength: 1 }) }, 'text')).toEqual([tooMuch]);
    expect(faults({ type: 'string', ...choices(word, 8, { maxLength: 1 }) }, 'text')).toHaveLength(2);
  }
});

test('the one fault of a large object is named', () => {
  const rows = Array.from({ length: 20_000 }, (_, i) => ({ name: `row-${i}`, size: i, tags: ['a', 'b'] }));
  const row: JSONSchemaProps = {
    type: 'object',
    properties: {
      name: { type: 'string', maxLength: 20, pattern: '^row' },
      size: { type: 'integer', maximum: 19_998 },
      tags: { type: 'array', items: { type: 'string' } },
    },
  };
  const schema: JSONSchemaProps = { type: 'object', properties: { rows: { type: 'array', items: row } } };
  expect(faults(schema, { rows })).toEqual([
    expect.stringContaining('spec.rows[19999].size in body should be less than or equal to 19998'),
  ]);
});

test('work in steps has a bound for all of them, and what others do between them does not count', () => {
  const exceeded: string[] = [];
  const steps = (name: string, last: number): Work<void> =>
    boundedWork(
      (function* () {
        spend(MAX_EFFORT / 2);
        yield;
        spend(last);
      })(),
      () => exceeded.push(name),
    );
  const all = [steps('all of it', MAX_EFFORT / 2), steps('too much', MAX_EFFORT / 2 + 1)];
  for (const work of all) expect(work.next().done).toBe(false);
  withEffort(
    () => spend(MAX_EFFORT),
    () => exceeded.push('others'),
  );
  for (const work of all) expect(work.next().done).toBe(true);
  expect(exceeded).toEqual(['too much']);
  // Outside there is no bound.
  spend(2 * MAX_EFFORT);
});

describe('what patterns cost depends on the object alone', () => {
  const isExceeded = (spent: number, run: () => void): boolean => {
    let exceeded = false;
    withEffort(
      () => {
        spend(spent);
        run();
      },
      () => {
        exceeded = true;
      },
    );
    return exceeded;
  };
  const costOf = (run: () => void): number => {
    let [low, high] = [0, MAX_EFFORT];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (isExceeded(middle, run)) high = middle - 1;
      else low = middle;
    }
    return MAX_EFFORT - low;
  };
  const mirrored = (text: string): string => text.replace(/[ab]/g, (letter) => (letter === 'a' ? 'b' : 'a'));
  const pieces = (count: number, length: number): string[] =>
    Array.from({ length: count }, (_, i) => irregular(count * length).slice(i * length, (i + 1) * length));

  test.each<[string, string, string[], boolean]>([
    ['one short text', 'a.{150}c', pieces(1, 100), false],
    ['texts that share matchers', 'a.{151}c', pieces(6, 100), false],
    ['texts beyond those', 'a.{152}c', pieces(9, 100), true],
    ['one long text', 'a.{153}c', pieces(1, 700), true],
    ['many equal texts', '^[ab]{1,154}c?$', Array(500).fill(irregular(100)), true],
  ])('%s', (_name, source, texts, isCounted) => {
    const run = (): void => {
      for (const text of texts) patternFor(source).test(text);
    };
    const cost = costOf(run);
    const characters = texts.reduce((sum, text) => sum + text.length / CHARACTERS_A_STEP, 0);
    if (isCounted) expect(cost).toBeGreaterThan(characters + 100);
    else expect(cost).toBe(characters);
    // Others are validated in between.
    for (const text of pieces(10, 100)) patternFor(source).test(mirrored(text));
    expect([isExceeded(MAX_EFFORT - cost, run), isExceeded(MAX_EFFORT - cost + 1, run)]).toEqual([false, true]);
    // A pattern that nobody has used before costs the same the first time.
    const fresh = mirrored(source).replace('[ba]', '[ab]');
    const mirror = texts.map(mirrored);
    const other = (suffix: string) => () => {
      for (const text of mirror) patternFor(fresh.replace('c', suffix)).test(text);
    };
    expect(isExceeded(MAX_EFFORT - cost + 1, other('d'))).toBe(true);
    expect(isExceeded(MAX_EFFORT - cost, other('e'))).toBe(false);
  });

  test('compiling the patterns of a definition', () => {
    const cost = costOf(() => compilePattern('a{900}b'));
    expect(cost).toBeGreaterThan(900);
    expect(isExceeded(MAX_EFFORT - cost + 1, () => compilePattern('a{900}c'))).toBe(true);
    expect(isExceeded(MAX_EFFORT - cost, () => compilePattern('a{900}d'))).toBe(false);
    const tooLarge = 'a{1000}'.repeat(MOST_STEPS / 1000);
    for (let i = 0; i < 2; i++) {
      expect(isExceeded(MAX_EFFORT - MOST_STEPS + 1, () => compilePattern(tooLarge))).toBe(true);
      expect(() =>
        withEffort(
          () => compilePattern(tooLarge),
          () => undefined,
        ),
      ).toThrow(PatternError);
    }
  });

  test('the number of matchers of one object is bounded by its effort', () => {
    const values = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`f${i}`, 'a'.repeat(50)]));
    const properties = Object.fromEntries(
      Object.keys(values).map((name, i): [string, JSONSchemaProps] => [name, { type: 'string', pattern: `a{40}.{900}${i}` }]),
    );
    for (let i = 0; i < 2; i++) expect(faults({ type: 'object', properties }, values)).toEqual([tooMuch]);
  });
});
