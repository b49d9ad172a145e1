import { expect, test } from 'vitest';
import { testIO } from '../testing.ts';
import { screenText, withSafeErrors } from './screen-text.ts';

test('control characters are shown, lines and tabs stay', () => {
  expect(screenText('a\tb\r\nc\n')).toBe('a\tb\nc\n');
  expect(screenText('\u001b[2J \u009b1A \u0007 \r \u007f \0 \u202e \u2066 \u2028')).toBe(
    '\\u001b[2J \\u009b1A \\u0007 \\u000d \\u007f \\u0000 \\u202e \\u2066 \\u2028',
  );
  const plain = 'größer 日本 🙂\n\tb';
  expect(screenText(plain)).toBe(plain);
});

test('errors are filtered; what is written by bytes is not', () => {
  const io = testIO();
  const safe = withSafeErrors(io);
  safe.err('plat: \u001b]0;title\u0007\n');
  safe.terminal.writeError(Buffer.from('\u001b[33m'));
  expect(io.stderr).toBe('plat: \\u001b]0;title\\u0007\n\u001b[33m');
});
