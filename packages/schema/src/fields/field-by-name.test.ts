import { expect, test } from 'vitest';
import { always, bool, inline, int32, lazy, list, type MessageType, map, message, opt, ptr, string, time, union } from '../types.ts';
import { fieldOf } from './field-by-name.ts';
import { zeroValue } from './zero-values.ts';

const Source = message('t.v1.Source', { path: opt(1, string) });
const Item = message('t.v1.Item', { name: always(1, string), ref: opt(2, string, { json: '$ref' }), source: inline(3, Source) });
const Node: MessageType = message('t.v1.Node', {
  items: opt(1, list(Item)),
  labels: opt(2, map(string)),
  more: ptr(3, union('t.v1.NodeOrBool', { tag: 2, type: lazy(() => Node) }, { tag: 1, type: bool })),
  first: always(4, Item),
  at: always(5, time),
  count: always(6, int32, { nullable: true }),
});

test('fields are found by their JSON name, inline ones too', () => {
  expect(fieldOf(Item, '$ref')?.tag).toBe(2);
  expect(fieldOf(Item, 'path')?.type).toBe(string);
  expect([fieldOf(Item, 'source'), fieldOf(Item, 'ref'), fieldOf(Item, 'constructor')]).toEqual([undefined, undefined, undefined]);
});

test('the zero value holds what is always there', () => {
  expect(zeroValue(Node)).toEqual({ first: { name: '' } });
  expect([zeroValue(string), zeroValue(int32), zeroValue(time), zeroValue(list(string))]).toEqual(['', 0, undefined, undefined]);
});
