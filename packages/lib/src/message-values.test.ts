import { describe, expect, it } from 'vitest';
import { cut, SHOWN_VALUE, shownJson } from './message-values.ts';

describe('values in messages', () => {
  it('are shown whole where they are short', () => {
    const value = { a: [1, 'x', null, { b: true }], c: undefined, 'd"': 'ü' };
    expect(shownJson(value)).toBe(JSON.stringify(value));
    expect(shownJson('text')).toBe('"text"');
    expect(cut('text')).toBe('text');
  });

  it('are cut where they are long, and say so', () => {
    expect(cut('x'.repeat(SHOWN_VALUE + 7))).toBe(`${'x'.repeat(SHOWN_VALUE)}... (7 more characters)`);
    expect(cut(`${'x'.repeat(9)}😀`, 10)).toBe(`${'x'.repeat(9)}... (2 more characters)`);
    for (const value of ['x'.repeat(1e6), Array(1e5).fill('x'), { a: { b: 'y'.repeat(1e6) } }, { ['k'.repeat(1e6)]: 1 }])
      expect(shownJson(value).length).toBeLessThanOrEqual(SHOWN_VALUE + 10);
  });

  it('are not looked at behind what is shown', () => {
    let looks = 0;
    const item = {
      get a() {
        looks++;
        return 'x';
      },
    };
    shownJson(Array(100_000).fill(item));
    expect(looks).toBeLessThan(2 * SHOWN_VALUE);
  });
});
