import { seededRandom } from '@plat-dev/lib/random';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import { testSeed } from '@plat-dev/lib/testing/seed.testing';
import { addressRange, portRange, staticBand } from '@plat-dev/meta/ranges';
import { describe, expect, test } from 'vitest';
import { Pool } from './pool.ts';

describe('pools', () => {
  test('propose what is free until nothing is, whatever is taken and given back', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('take' as const) }),
      fc.record({ do: fc.constant('set' as const), index: fc.nat(40), used: fc.boolean() }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 41 }), fc.array(step, { maxLength: 200 }), fc.nat(), (size, steps, seed) => {
        const pool = new Pool(size);
        const used = new Set<number>();
        const random = seededRandom(seed);
        for (const one of steps) {
          if (one.do === 'set') {
            const index = one.index % size;
            pool.set(index, one.used);
            if (one.used) used.add(index);
            else used.delete(index);
          } else {
            const proposed = pool.propose(random.below, 0);
            if (used.size === size) expect(proposed).toBeUndefined();
            else {
              expect(proposed).toBeDefined();
              expect(used.has(proposed as number)).toBe(false);
              pool.set(proposed as number, true);
              used.add(proposed as number);
            }
          }
          expect(pool.used).toBe(used.size);
        }
        for (let i = 0; i < size; i++) expect(pool.has(i)).toBe(used.has(i));
      }),
    );
  });

  test('what was proposed is avoided for a while, and only while something else is left', () => {
    const pool = new Pool(3);
    const first = () => 0;
    expect([pool.propose(first, 0), pool.propose(first, 0), pool.propose(first, 0)]).toEqual([0, 1, 2]);
    expect(pool.propose(first, 0)).toBe(0);
    expect(pool.propose(first, 60_000)).toBe(0);
  });
});

describe('a pool with a reserved band', () => {
  const random = seededRandom(testSeed);
  test('the band is proposed from only when all others are in use', () => {
    const pool = new Pool(40, 16);
    const given = new Set<number>();
    for (let i = 0; i < 24; i++) {
      const index = pool.propose(random.below, 0) as number;
      expect(index).toBeGreaterThanOrEqual(16);
      pool.set(index, true);
      given.add(index);
    }
    expect(given.size).toBe(24);
    const next = pool.propose(random.below, 0) as number;
    expect(next).toBeLessThan(16);
    pool.set(20, false);
    expect(pool.propose(random.below, 0)).toBe(20);
  });
  test('the last numbers of the band are found, and none where all are in use', () => {
    const pool = new Pool(21, 13);
    for (let i = 0; i < 21; i++) if (i !== 12) pool.set(i, true);
    expect(pool.propose(random.below, 0)).toBe(12);
    pool.set(12, true);
    expect(pool.propose(random.below, 0)).toBeUndefined();
  });
  test('a band that is as large as the pool is none', () => {
    const pool = new Pool(14, 16);
    expect(pool.propose(() => 0, 0)).toBe(0);
  });
  test.each([
    ['10.0.0.0/29', 0],
    ['10.0.0.0/28', 16],
    ['10.0.0.0/24', 16],
    ['10.0.0.0/22', 64],
    ['10.0.0.0/20', 256],
    ['10.0.0.0/8', 256],
    ['fd00::/108', 256],
  ])('of %s %i addresses are reserved', (text, size) => {
    expect(staticBand(addressRange(text))).toBe(size);
  });
});

describe('ranges', () => {
  test.each([
    ['10.0.0.0/24', 254, '10.0.0.1', '10.0.0.254'],
    ['10.0.0.128/29', 6, '10.0.0.129', '10.0.0.134'],
    ['10.0.0.0/8', 2 ** 20, '10.0.0.1', '10.16.0.0'],
    ['fd00::/112', 65535, 'fd00::1', 'fd00::ffff'],
    ['fd00::/64', 65536, 'fd00::1', 'fd00::1:0'],
  ])('%s holds %i addresses from %s to %s', (text, size, first, last) => {
    const range = addressRange(text);
    expect([range.size, range.at(0), range.at(range.size - 1)]).toEqual([size, first, last]);
    expect([range.indexOf(first), range.indexOf(last)]).toEqual([0, size - 1]);
  });
  test('the ends of a network and what lies outside are no members', () => {
    const range = addressRange('10.0.0.0/24');
    for (const text of ['10.0.0.0', '10.0.0.255', '10.0.1.1', 'fd00::1', 'nonsense']) expect(range.indexOf(text)).toBeUndefined();
    expect(range.indexOf('::ffff:10.0.0.7')).toBe(6);
  });
  test('position and text are each the other way round', () => {
    fc.assert(
      fc.property(fc.constantFrom('10.0.0.0/12', '192.168.7.64/26', 'fd00:1:2::/108'), fc.nat(), (text, n) => {
        const range = addressRange(text);
        const index = n % range.size;
        expect(range.indexOf(range.at(index))).toBe(index);
      }),
    );
    const ports = portRange(30000, 30002);
    expect([ports.size, ports.at(2), ports.indexOf('30001'), ports.indexOf('29999'), ports.indexOf('x')]).toEqual([
      3,
      '30002',
      1,
      undefined,
      undefined,
    ]);
  });
});
