import { expect, test } from 'vitest';
import { readStandardInput } from './standard-input.ts';

async function* chunks(...texts: readonly (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text as string);
}

test('the standard input is bounded, and a text', async () => {
  // A character in two chunks is whole.
  const euro = Buffer.from('€');
  expect(await readStandardInput(chunks('a', euro.subarray(0, 1), euro.subarray(1)))).toBe('a€');
  await expect(readStandardInput(chunks('12345', '67890', '1'), 10)).rejects.toThrow('the standard input is larger than 10 bytes');
  expect(await readStandardInput(chunks('12345', '67890'), 10)).toBe('1234567890');
  await expect(readStandardInput(chunks(Buffer.from([0xff])))).rejects.toThrow('the standard input: the file is not UTF-8 text');
});
