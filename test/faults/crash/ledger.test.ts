/** The ledger finds what a server could do wrong. */
import { expect, test } from 'vitest';
import { type FaultKind, Ledger, type SeenEvent } from './ledger.ts';

const object = (name: string, token: string, revision: number, uid = 'u') => ({
  metadata: { name, uid, resourceVersion: String(revision), annotations: { token } },
});
const list = (revision: number, ...items: object[]) => ({ metadata: { resourceVersion: String(revision) }, items });
const event = (type: string, token: string, revision: number, name = 'w1'): SeenEvent => ({ type, name, token, revision });

/** w1 was created at 5 and updated at 7; what comes then is given. */
function after(unanswered: 'update' | 'delete' | undefined, found: object, history?: SeenEvent[]): FaultKind[] {
  const ledger = new Ledger();
  const tracked = ledger.tracked('c', 'w1');
  ledger.acknowledge(tracked, object('w1', 'a', 5), ledger.begin(tracked, 'create', 'a'));
  ledger.acknowledge(tracked, object('w1', 'b', 7), ledger.begin(tracked, 'update', 'b'));
  if (unanswered !== undefined) ledger.begin(tracked, unanswered, unanswered === 'delete' ? 'b' : 'c');
  ledger.check('c', found, history, ledger.highest);
  return ledger.faults.map(({ kind }) => kind);
}
const whole = [event('ADDED', 'a', 5), event('MODIFIED', 'b', 7)];

test('what was acknowledged, and the unanswered write or not, is right', () => {
  expect(after(undefined, list(7, object('w1', 'b', 7)), whole)).toEqual([]);
  expect(after('update', list(7, object('w1', 'b', 7)), whole)).toEqual([]);
  expect(after('update', list(8, object('w1', 'c', 8)), [...whole, event('MODIFIED', 'c', 8)])).toEqual([]);
  expect(after('delete', list(8), [...whole, event('DELETED', 'b', 8)])).toEqual([]);
});

test('lost writes', () => {
  expect(after(undefined, list(7), whole)).toEqual(['lost']);
  expect(after(undefined, list(7, object('w1', 'a', 5)), whole)).toEqual(['lost']);
  expect(after('update', list(8), whole)).toEqual(['lost']);
});

test('what nobody wrote, or what was deleted, is resurrected', () => {
  expect(after(undefined, list(9, object('w1', 'x', 9)), whole)).toEqual(['resurrected']);
  expect(after(undefined, list(7, object('w1', 'b', 7), object('w2', 'z', 3)), whole)).toEqual(['resurrected']);
  const ledger = new Ledger();
  const tracked = ledger.tracked('c', 'w1');
  ledger.acknowledge(tracked, object('w1', 'a', 5), ledger.begin(tracked, 'create', 'a'));
  ledger.acknowledge(tracked, {}, ledger.begin(tracked, 'delete', 'a'));
  ledger.check('c', list(6, object('w1', 'a', 5)), undefined, 6);
  expect(ledger.faults.map(({ kind }) => kind)).toEqual(['resurrected']);
});

test('revisions that go back', () => {
  expect(after(undefined, list(6, object('w1', 'b', 7)), whole)).toEqual(['revision']);
  const ledger = new Ledger();
  const [one, two] = [ledger.tracked('c', 'w1'), ledger.tracked('c', 'w2')];
  ledger.acknowledge(one, object('w1', 'a', 5), ledger.begin(one, 'create', 'a'));
  ledger.acknowledge(two, object('w2', 'b', 5), ledger.begin(two, 'create', 'b'));
  expect(ledger.faults.map(({ kind }) => kind)).toEqual(['revision']);
});

test('a history that lacks an event, has one twice, one too many, or another order', () => {
  const state = list(7, object('w1', 'b', 7));
  expect(after(undefined, state, [event('MODIFIED', 'b', 7)])).toEqual(['watch']);
  expect(after(undefined, state, [...whole, event('MODIFIED', 'b', 7)])).toEqual(['watch']);
  expect(after(undefined, state, [event('ADDED', 'a', 5), event('MODIFIED', 'x', 6), event('MODIFIED', 'b', 7)])).toEqual(['watch']);
  expect(after(undefined, state, [event('MODIFIED', 'b', 7), event('ADDED', 'a', 5)])).toEqual(['watch', 'watch']);
  // The unanswered update is shown by the list, so that its event must be there.
  expect(after('update', list(8, object('w1', 'c', 8)), whole)).toEqual(['watch']);
});
