import { expect, test } from 'vitest';
import { always, int32, list, map, message, object, opt, ptr, string, time } from '../types.ts';
import { decode, encode } from './index.ts';
import { jsonForm } from './json-form.ts';

const Condition = message('t.v1.Condition', { type: always(1, string), since: always(2, time) });
const Plain = message('t.v1.Plain', { name: opt(1, string), count: always(2, int32) });
const Status = message('t.v1.Status', { conditions: opt(1, list(Condition)), byName: opt(2, map(Condition)), plain: opt(3, Plain) });
const Thing = object('t.v1.Thing', {
  status: always(1, Status),
  rules: always(2, list(string)),
  limit: ptr(3, int32),
  plain: opt(4, Plain),
});

const form = (given: object) => {
  const normal = decode(Thing, given);
  return { normal, shown: jsonForm(Thing, normal), parsed: JSON.parse(encode(Thing, normal)) };
};

test('is what parsing the text gives', () => {
  for (const given of [
    {},
    { rules: ['a'] },
    { status: { conditions: [{ type: 'A' }, { type: 'B', since: '2024-01-01T00:00:00Z' }], byName: { x: {}, ['__proto__']: {} } } },
    { limit: 0, status: { plain: {} }, plain: { name: 'x', count: 1 } },
  ]) {
    const { shown, parsed } = form(given);
    expect(shown).toStrictEqual(parsed);
  }
});

test('parts that need no null are shared, and the object is not changed', () => {
  const { normal, shown } = form({ status: { conditions: [{ type: 'A' }], plain: { count: 1 } }, plain: { name: 'x' }, rules: ['a'] });
  expect(shown.plain).toBe(normal.plain);
  expect(shown.rules).toBe(normal.rules);
  expect(shown.status.plain).toBe(normal.status.plain);
  expect(shown.status.conditions?.[0]).toStrictEqual({ type: 'A', since: null });
  expect(normal.status.conditions?.[0]).toStrictEqual({ type: 'A' });
  const whole = form({ rules: ['a'], metadata: { creationTimestamp: '2024-01-01T00:00:00Z' } });
  expect(whole.shown).toBe(whole.normal);
});
