/** Each rule about watches, lists and revisions is broken once. */
import { expect, test } from 'vitest';
import { checkRules, type ListRecord, type Objects, type WatchEvent, type WatchRecord, type WriteRecord } from './rules.ts';

const event = (type: WatchEvent['type'], name: string, token: string, revision: number): WatchEvent => ({ type, name, token, revision });
const bookmark = (revision: number) => event('BOOKMARK', '', '', revision);
const added = event('ADDED', 'x', 'a', 5);
const modified = event('MODIFIED', 'x', 'b', 7);
const deleted = event('DELETED', 'x', 'b', 9);
const none: Objects = new Map();
const watch = (events: WatchEvent[], start = 1, objects = none, id = 'w'): WatchRecord => ({ id, start, objects, events });
const objects = (...all: [string, string, number][]): Objects => new Map(all.map(([name, token, revision]) => [name, { token, revision }]));
const list = (revision: number, what: Objects, at = 100, changes: Partial<ListRecord> = {}): ListRecord => ({
  server: 's1',
  consistent: true,
  start: at,
  end: at + 1,
  revision,
  objects: what,
  ...changes,
});
const write = (token: string, revision: number, at = 1): WriteRecord => ({ name: 'x', token, revision, start: at, end: at + 1 });
const rules = (watches: WatchRecord[], lists: ListRecord[] = [], writes: WriteRecord[] = []) =>
  checkRules(watches, lists, writes).map(({ rule }) => rule);

test('what is right', () => {
  const state = objects(['x', 'b', 7]);
  expect(
    rules(
      [watch([added, bookmark(6), modified, bookmark(8), deleted]), watch([deleted], 7, state)],
      [list(7, state), list(9, none, 200)],
      [write('a', 5), write('b', 7)],
    ),
  ).toEqual([]);
  // The cache of one server may be behind that of another, and behind what was answered.
  expect(
    rules(
      [watch([added, modified])],
      [list(7, state), list(5, objects(['x', 'a', 5]), 200, { server: 's2', consistent: false })],
      [write('b', 7)],
    ),
  ).toEqual([]);
});

test('an event twice, or out of order', () => {
  expect(rules([watch([added, modified, modified])])).toEqual(['order']);
  expect(rules([watch([added, event('MODIFIED', 'x', 'c', 8), modified])])).toEqual(['order']);
});

test('an event that does not fit the state', () => {
  expect(rules([watch([modified])])).toEqual(['state']);
  expect(rules([watch([added, event('ADDED', 'x', 'c', 8)])])).toEqual(['state']);
});

test('a bookmark that lies', () => {
  expect(rules([watch([added, bookmark(8), modified])])).toEqual(['bookmark']);
  expect(rules([watch([added, modified, bookmark(6)])])).toEqual(['bookmark']);
  // It says that everything up to it has come.
  expect(rules([watch([added, bookmark(8)])], [], [write('b', 7)])).toEqual(['lost']);
});

test('an event that is lost: acknowledged, or seen by another watch', () => {
  expect(rules([watch([added, deleted])], [], [write('a', 5), write('b', 7)])).toEqual(['lost']);
  expect(rules([watch([added, modified, deleted]), watch([added, deleted], 1, none, 'v')])).toEqual(['lost']);
});

test('watches that differ', () => {
  expect(rules([watch([added]), watch([event('ADDED', 'x', 'z', 5)], 1, none, 'v')])).toEqual(['differs']);
});

test('a list that is not the state at its revision', () => {
  expect(rules([watch([added, modified])], [list(7, objects(['x', 'a', 5]))])).toEqual(['list']);
  expect(rules([watch([added, modified])], [list(7, none)])).toEqual(['list']);
  expect(rules([watch([added, modified, deleted])], [list(9, objects(['x', 'b', 7]))])).toEqual(['list']);
});

test('a consistent list that is older than an answer before it', () => {
  expect(rules([watch([added, modified])], [list(5, objects(['x', 'a', 5]))], [write('b', 7)])).toEqual(['stale']);
});

test('a server whose cache goes back', () => {
  const lists = [list(7, objects(['x', 'b', 7]), 100, { consistent: false }), list(5, objects(['x', 'a', 5]), 200, { consistent: false })];
  expect(rules([watch([added, modified])], lists)).toEqual(['backwards']);
});
