import { expect, test } from 'vitest';
import { apiVersionOf, isApiVersion, joinApiVersion, slashedApiVersion, splitApiVersion } from './api-version.ts';

test.each([
  ['apps', 'v1', 'apps/v1', 'apps/v1'],
  ['example.com', 'v1alpha1', 'example.com/v1alpha1', 'example.com/v1alpha1'],
  ['', 'v1', 'v1', '/v1'],
  ['', '', '', '/'],
])('%s and %s are %s', (group, version, apiVersion, slashed) => {
  expect(joinApiVersion(group, version)).toBe(apiVersion);
  expect(apiVersionOf({ group, version })).toBe(apiVersion);
  expect(splitApiVersion(apiVersion)).toEqual({ group, version });
  expect(slashedApiVersion(apiVersion)).toBe(slashed);
  expect(isApiVersion(apiVersion)).toBe(true);
});

test('several slashes are no apiVersion, and the first one ends the group', () => {
  expect(isApiVersion('a/b/c')).toBe(false);
  expect(splitApiVersion('a/b/c')).toEqual({ group: 'a', version: 'b/c' });
});

test('a slash at either end leaves that part empty', () => {
  expect(splitApiVersion('/v1')).toEqual({ group: '', version: 'v1' });
  expect(splitApiVersion('apps/')).toEqual({ group: 'apps', version: '' });
});
