import { atOnce } from '@plat-dev/lib/slices';
import { expect, test } from 'vitest';
import { contentsOfMap } from './pod-sources.ts';

const KEYS = 10_000;
const many = (value: string): Record<string, string> => Object.fromEntries(Array.from({ length: KEYS }, (_, i) => [`k${i}`, value]));

test('texts and bytes are contents by key, and `__proto__` is a key', () => {
  const data = JSON.parse('{"a":"1","__proto__":"2"}') as Record<string, string>;
  expect([...atOnce(contentsOfMap({ data, binaryData: { b: 'Mw==' } as never }))]).toEqual([
    ['a', '1'],
    ['__proto__', '2'],
    ['b', '3'],
  ]);
});

test.each(['data', 'binaryData'])('%s of many keys is read in steps', (field) => {
  const work = contentsOfMap({ [field]: many('eA==') });
  let steps = 0;
  while (work.next().done !== true) steps++;
  expect(steps).toBe(KEYS / 100);
});
