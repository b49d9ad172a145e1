import { expect, test } from 'vitest';
import { AGAIN, type Replay, type Run, replay } from './replay.ts';

const places = '    [5].events[1].object.metadata.managedFields[0].subresource\n      want undefined\n      got  "status"';
const failed = (complaint: string): Replay => ({ report: { s: { c: 'fail' } }, complaints: new Map([['s · c', complaint]]) });
const passed: Replay = { report: { s: { c: 'pass' } }, complaints: new Map() };

/** Answers in turn, and notes what was asked. */
function answering(...answers: Replay[]): { run: Run; asked: (string | undefined)[] } {
  const asked: (string | undefined)[] = [];
  return { asked, run: async (_suites, only) => answers[asked.push(only) - 1] as Replay };
}
const never = (): boolean => false;

test('a case that an end of a second came between is replayed again', async () => {
  const { run, asked } = answering(failed(places), passed);
  expect((await replay(run, ['s'], never)).report).toEqual({ s: { c: 'pass' } });
  expect(asked).toEqual([undefined, 'c']);
});

test('an order that is wrong again and again stays a failure', async () => {
  const { run, asked } = answering(...Array.from({ length: AGAIN + 1 }, () => failed(places)));
  const { report, complaints } = await replay(run, ['s'], never);
  expect(report).toEqual({ s: { c: 'fail' } });
  expect(complaints.get('s · c')).toBe(places);
  expect(asked).toEqual([undefined, ...Array(AGAIN).fill('c')]);
});

test('whatever else differs is not replayed, nor what is explained', async () => {
  for (const other of [
    `${places}\n    [1].status\n      want 200\n      got  500`,
    `${places}\n    check: the bookmark is older`,
    '    [5].events.length\n      want 3\n      got  2',
    '    [5].events[1].object.metadata.managedFields.length\n      want 2\n      got  1',
  ]) {
    const { run, asked } = answering(failed(other));
    expect((await replay(run, ['s'], never)).report, other).toEqual({ s: { c: 'fail' } });
    expect(asked).toEqual([undefined]);
  }
  const { run, asked } = answering(failed(places));
  await replay(run, ['s'], () => true);
  expect(asked).toEqual([undefined]);
});
