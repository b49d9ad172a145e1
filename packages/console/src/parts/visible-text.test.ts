import { expect, test } from 'vitest';
import { shortText, visibleText } from './visible-text.ts';

test.each([
  ['plain text\n\tstays', 'plain text\n\tstays'],
  ['a\u202eb', 'a⟨U+202E⟩b'],
  ['\u0000\u001b[31m', '⟨U+0000⟩⟨U+001B⟩[31m'],
  ['\u200b\ufeff\u2066', '⟨U+200B⟩⟨U+FEFF⟩⟨U+2066⟩'],
  ['\u3164\u2800', '⟨U+3164⟩⟨U+2800⟩'],
  ['Grüße 日本 🙂', 'Grüße 日本 🙂'],
  ['<script>', '<script>'],
])('%j is shown as %j', (text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

test('a long text is cut between characters', () => {
  expect(shortText('abcdef', 6)).toBe('abcdef');
  expect(shortText('abcdef', 5)).toBe('abcde…');
  expect(shortText('abcd🙂', 5)).toBe('abcd…');
});
