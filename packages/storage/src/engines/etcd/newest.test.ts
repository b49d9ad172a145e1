import { expect, test } from 'vitest';
import { NewestRevision } from './newest.ts';

/** Questions, and their answers by a test. */
function questions() {
  const answers: { resolve: (revision: number) => void; reject: (error: Error) => void }[] = [];
  const turns: (() => void)[] = [];
  const newest = new NewestRevision(
    () => new Promise((resolve, reject) => answers.push({ resolve, reject })),
    (call) => turns.push(call),
  );
  const endTurn = (): void => {
    for (const call of turns.splice(0)) call();
  };
  return { newest, answers, endTurn };
}

test('the callers of one turn share a question, which begins at its end', async () => {
  const { newest, answers, endTurn } = questions();
  const callers = [newest.get(), newest.get(), newest.get()];
  expect(answers).toHaveLength(0);
  endTurn();
  expect(answers).toHaveLength(1);
  answers[0]?.resolve(10);
  expect(await Promise.all(callers)).toEqual([10, 10, 10]);
});

test('a caller never gets the answer to a question that was asked before its call', async () => {
  const { newest, answers, endTurn } = questions();
  const early = newest.get();
  endTurn();
  const late = [newest.get(), newest.get()];
  endTurn();
  // One question at a time.
  expect(answers).toHaveLength(1);
  answers[0]?.resolve(10);
  expect(await early).toBe(10);
  const latest = newest.get();
  endTurn();
  expect(answers).toHaveLength(2);
  answers[1]?.resolve(11);
  expect(await Promise.all([...late, latest])).toEqual([11, 11, 11]);
  const another = newest.get();
  endTurn();
  answers[2]?.resolve(12);
  expect(await another).toBe(12);
});

test('a question that fails is asked anew for those who came later', async () => {
  const { newest, answers, endTurn } = questions();
  const early = newest.get();
  endTurn();
  const late = newest.get();
  answers[0]?.reject(new Error('not now'));
  await expect(early).rejects.toThrow('not now');
  endTurn();
  answers[1]?.resolve(11);
  expect(await late).toBe(11);
});
