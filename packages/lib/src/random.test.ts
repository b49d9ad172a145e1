import { expect, test } from 'vitest';
import { type Random, seededRandom, systemRandom } from './random.ts';

const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test.each<[string, Random]>([
  ['system', systemRandom],
  ['seeded', seededRandom(7)],
])('%s: numbers stay below their limit and reach every value', (_, random) => {
  const seen = new Set<number>();
  for (let i = 0; i < 5000; i++) seen.add(random.below(27));
  expect([...seen].sort((a, b) => a - b)).toEqual(Array.from({ length: 27 }, (_, i) => i));
  expect(random.below(1)).toBe(0);
  expect(random.bytes(9)).toHaveLength(9);
  expect(random.uuid()).toMatch(uuid4);
  const f = random.float();
  expect(f >= 0 && f < 1).toBe(true);
});

test('the same seed gives the same sequence, another seed another', () => {
  const sequence = (seed: number): string => {
    const random = seededRandom(seed);
    return [random.below(1000), random.uuid(), random.bytes(4).toString('hex'), random.float()].join(' ');
  };
  expect(sequence(1)).toBe(sequence(1));
  expect(sequence(1)).not.toBe(sequence(2));
});

test('bytes of the machine are as many as asked for, and never the same', () => {
  const seen = new Set<string>();
  for (let i = 0; i < 2000; i++) {
    const count = 16 + (i % 60);
    const bytes = systemRandom.bytes(count);
    expect(bytes.length).toBe(count);
    seen.add(bytes.toString('hex'));
    seen.add(systemRandom.bytes(16).toString('hex'));
    // What was handed out belongs to whoever got it.
    bytes.fill(0);
  }
  expect(seen.size).toBe(4000);
  expect(systemRandom.bytes(4096).length).toBe(4096);
});

test('UUIDs of the machine are valid and never the same, and each digit that is not fixed takes every value', () => {
  const made = Array.from({ length: 2000 }, () => systemRandom.uuid());
  expect(made.filter((text) => !uuid4.test(text))).toEqual([]);
  expect(new Set(made).size).toBe(2000);
  const values = Array.from({ length: 36 }, (_, at) => new Set(made.map((text) => text[at])).size);
  const expected = Array.from({ length: 36 }, (_, at) => ([8, 13, 14, 18, 23].includes(at) ? 1 : at === 19 ? 4 : 16));
  expect(values).toEqual(expected);
});
