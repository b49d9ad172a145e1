import { expect, test } from 'vitest';
import { inPageTurn, MOST_PAGES } from './page-turns.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('few pages are made at a time, users take turns, and those who are gone get none', async () => {
  const server = {};
  const [alice, bob, carol] = [{}, {}, {}];
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const page = (user: object, name: string, ended = false): Promise<void> =>
    inPageTurn(server, { owner: user, ended }, () => {
      begun.push(name);
      return new Promise<void>((end) => ends.push(end));
    });
  const pages = Array.from({ length: MOST_PAGES + 2 }, (_, i) => page(alice, `alice ${i}`));
  const gone = expect(page(carol, 'gone', true)).rejects.toThrow('the request ended');
  pages.push(page(bob, 'bob'));
  await nextTurn();
  expect(begun.length).toBe(MOST_PAGES);
  while (ends.length < pages.length || begun.length < pages.length) {
    for (const end of ends) end();
    await nextTurn();
  }
  for (const end of ends) end();
  await Promise.all([...pages, gone]);
  expect(begun.slice(MOST_PAGES)).toEqual(['alice 4', 'bob', 'alice 5']);
});

test('an error gives its turn back', async () => {
  const server = {};
  const ctx = { owner: undefined, ended: false };
  for (let i = 0; i < MOST_PAGES * 2; i++)
    await expect(inPageTurn(server, ctx, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await inPageTurn(server, ctx, () => Promise.resolve(1))).toBe(1);
});
