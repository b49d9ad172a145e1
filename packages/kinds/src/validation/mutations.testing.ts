/** Bodies with a few invalid values, for property tests. */
import { copied } from '@plat-dev/lib/testing/copied.testing';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import type { Loose } from './kinds.testing.ts';

/** Values that clients put in wrong places. */
const odd = fc.constantFrom<Loose>(
  '',
  'x',
  'Bad Value',
  '..',
  '/',
  '../a',
  'é'.repeat(70),
  '10.0.0.1',
  '::1',
  '10.0.0.0/8',
  -1,
  0,
  1,
  65536,
  2 ** 31,
  true,
  false,
  null,
  {},
  [],
  [{}],
  ['x'],
  ['x', 'x'],
  { a: 'b' },
  { constructor: '1', __proto__x: '2' },
  '1Gi',
  '-1',
  '1.5',
  '2024-01-01T00:00:00Z',
  "metadata.labels['a']",
);

type Place = readonly (string | number)[];

/** Every place in a value. */
function places(value: Loose, at: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [at];
  const keys: (string | number)[] = Array.isArray(value) ? value.map((_, i) => i) : Object.keys(value);
  return [at, ...keys.flatMap((key) => places(value[key], [...at, key]))];
}

/** Replaces a value, unless an earlier change removed its parent. */
function put(value: Loose, place: Place, change: Loose): void {
  let parent = value;
  for (const key of place.slice(0, -1)) parent = parent?.[key];
  const last = place.at(-1);
  if (last !== undefined && typeof parent === 'object' && parent !== null) parent[last] = copied(change);
}

/** The body with one to four of its values replaced. */
export function mutated(body: Loose): fc.Arbitrary<Loose> {
  const all = places(body).filter((place) => place.length > 0);
  return fc.array(fc.tuple(fc.constantFrom(...all), odd), { minLength: 1, maxLength: 4 }).map((changes) => {
    const copy = copied(body);
    for (const [place, change] of changes) put(copy, place, change);
    return copy;
  });
}

/** Bodies that decoding refuses are not validated. */
export function decodes<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if ((error as Error).name === 'DecodeError') return undefined;
    throw error;
  }
}
