import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { testIO } from '../testing.ts';
import { isConfirmed } from './question.ts';

const ask = (answer: string[], interactive = true, yes = false): Promise<boolean> => {
  const { terminal } = testIO();
  return isConfirmed(
    'Go on?',
    { yes },
    testIO({ terminal: { ...terminal, interactive, input: Readable.from(answer) } }),
    new AbortController().signal,
  );
};

test('only a yes is a yes; the end of the input is a no', async () => {
  expect(await ask(['y\n'])).toBe(true);
  expect(await ask(['YES\n'])).toBe(true);
  expect(await ask(['\n'])).toBe(false);
  expect(await ask(['yesterday\n'])).toBe(false);
  expect(await ask([])).toBe(false);
});

test('without a terminal nothing is asked: --yes decides', async () => {
  expect(await ask([], false, true)).toBe(true);
  await expect(ask(['y\n'], false)).rejects.toThrow('add --yes');
});
