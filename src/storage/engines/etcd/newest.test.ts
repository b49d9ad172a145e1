import { expect, test } from 'vitest';
import { NewestRevision } from './newest.ts';

test('a caller never gets the answer to a question that was asked before its call', async () => {
  const answers: ((revision: number) => void)[] = [];
  const newest = new NewestRevision(() => new Promise((resolve) => answers.push(resolve)));
  const early = [newest.get(), newest.get()];
  const late = [newest.get(), newest.get(), newest.get()];
  expect(answers).toHaveLength(2);
  answers[0]?.(10);
  expect(await early[0]).toBe(10);
  expect(answers).toHaveLength(3);
  const latest = newest.get();
  answers[1]?.(11);
  answers[2]?.(12);
  expect(await early[1]).toBe(11);
  expect(await Promise.all(late)).toEqual([12, 12, 12]);
  answers[3]?.(13);
  expect(await latest).toBe(13);
  expect(answers).toHaveLength(4);
});

test('a question that fails is asked anew for those who came later', async () => {
  let count = 0;
  const newest = new NewestRevision(async () => {
    if (++count <= 2) throw new Error(`failure ${count}`);
    return count;
  });
  const outcomes = await Promise.allSettled([newest.get(), newest.get(), newest.get()]);
  expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected', 'fulfilled']);
});
