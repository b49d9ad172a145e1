import { expect, test } from 'vitest';
import { allotZones, type ZoneEndpoint, zoneShares } from './topology-hints.ts';

const nodes = (...zones: string[]) => zones.map((zone) => ({ zone, millis: 1000 }));
/** `a a>b`: the first is in zone a, the second in a and hinted for b. */
const endpoints = (text: string): ZoneEndpoint[] =>
  text.split(' ').map((one, i) => {
    const [zone = '', hinted] = one.split('>');
    return { id: String(i), zone: zone === '-' ? '' : zone, hinted };
  });
const hints = (text: string, ...zones: string[]): string | undefined => {
  const shares = zoneShares(nodes(...zones));
  const found = shares === undefined ? undefined : allotZones(endpoints(text), shares);
  return found === undefined ? undefined : [...Array(found.size).keys()].map((i) => found.get(String(i))).join(' ');
};

test('shares are those of the processors; one zone, or a node without zone or processors, gives none', () => {
  expect(zoneShares([{ zone: 'b', millis: 3000 }, ...nodes('a')])).toEqual(
    new Map([
      ['a', 0.25],
      ['b', 0.75],
    ]),
  );
  expect(zoneShares(nodes('a', 'a'))).toBeUndefined();
  expect(zoneShares(nodes('a', 'b', ''))).toBeUndefined();
  expect(zoneShares([...nodes('a'), { zone: 'b', millis: 0 }])).toBeUndefined();
  expect(zoneShares([])).toBeUndefined();
});

test('endpoints are for their own zone, and those that are too many for zones that have too few', () => {
  expect(hints('a b', 'a', 'b')).toBe('a b');
  expect(hints('a a a b', 'a', 'b')).toBe('a a b b');
  expect(hints('a a a a a a', 'a', 'b', 'c')).toBe('a a b b c c');
  expect(hints('b b b b', 'a', 'a', 'a', 'b')).toBe('b a a a');
  // No node is in the zone of the second.
  expect(hints('a x b b', 'a', 'b')).toBe('a a b b');
});

test('there are no hints where zones cannot all have enough, or an endpoint has no zone', () => {
  expect(hints('a', 'a', 'b')).toBeUndefined();
  expect(hints('a - b', 'a', 'b')).toBeUndefined();
  // Each zone needs two of three.
  expect(hints('a b a', 'a', 'b')).toBeUndefined();
});

test('hints that still serve all zones stay', () => {
  expect(hints('a>b a>a b>a b>b', 'a', 'b')).toBe('b a a b');
  expect(hints('a>a a>a b>a b>b', 'a', 'b')).toBe('a a b b');
  expect(hints('a>c a>a b>b b>b', 'a', 'b')).toBe('a a b b');
  expect(hints('a>a a>a b>b b', 'a', 'b')).toBe('a a b b');
});
