import { ApiError } from '@plat-dev/meta/errors';
import { expect, test } from 'vitest';
import { isSecrets, throwMasked } from './secret-errors.ts';

test('values of secrets are taken out of errors', () => {
  const text = 'patch: Invalid value: "{\\"a\\":\\"hidden\\"}": illegal data';
  const error = new ApiError(422, 'Invalid', ` "" is invalid: ${text}`, {
    name: 's',
    causes: [{ reason: 'x', message: text }, { field: 'a' }],
  });
  expect(() => throwMasked(error)).toThrow(
    expect.objectContaining({
      code: 422,
      reason: 'Invalid',
      message: ' "" is invalid: patch: Invalid value: "***": illegal data',
      details: { name: 's', causes: [{ reason: 'x', message: 'patch: Invalid value: "***": illegal data' }, { field: 'a' }] },
    }),
  );
  const other = new TypeError('x');
  expect(() => throwMasked(other)).toThrow(other);
  expect(isSecrets({ group: '', name: 'secrets' })).toBe(true);
  expect(isSecrets({ group: 'example.com', name: 'secrets' })).toBe(false);
});
