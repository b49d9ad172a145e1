import { FieldErrors } from '@plat-dev/meta/field';
import { expect, test } from 'vitest';
import { managerName, validateFieldManager } from './manager-name.ts';

test('the manager is the parameter, else the beginning of the user agent', () => {
  expect(managerName('chosen', 'painter/v2')).toBe('chosen');
  expect(managerName('', 'painter/v2 (linux) extra/1')).toBe('painter');
  expect(managerName(undefined, 'no slash here')).toBe('no slash here');
  expect(managerName(undefined, `${'q'.repeat(140)}/1`)).toBe('q'.repeat(128));
  expect(managerName(undefined, 'é'.repeat(70))).toBe('é'.repeat(64));
  expect(managerName(undefined, 'tab\there/1')).toBe('tabhere');
  expect(managerName(undefined, '/leading')).toBe('unknown');
  expect(managerName(undefined, undefined)).toBe('unknown');
});

const problems = (name: string | undefined, required = false): string[] => {
  const errors = new FieldErrors();
  validateFieldManager(name, required, errors);
  return errors.list.map((error) => `${error.field}: ${error.message}`);
};

test('a bad parameter is refused in the words of the stock server', () => {
  expect(problems(undefined)).toEqual([]);
  expect(problems('sp ace-é/ok')).toEqual([]);
  expect(problems('', true)).toEqual(['fieldManager: Required value: is required for apply patch']);
  expect(problems('m'.repeat(129))).toEqual(['fieldManager: Too long: must have at most 128 bytes']);
  expect(problems('é'.repeat(65))).toEqual(['fieldManager: Too long: must have at most 128 bytes']);
  expect(problems('a\0b')).toEqual(['fieldManager: Invalid value: "a\\x00b": invalid character U+0000 (at position 1)']);
  expect(problems('é\x07')).toEqual(['fieldManager: Invalid value: "é\\a": invalid character U+0007 (at position 2)']);
});
