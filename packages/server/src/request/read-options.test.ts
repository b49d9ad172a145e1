import { ApiError } from '@plat-dev/meta/errors';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import type { Context } from '../context.ts';
import type { Catalog } from '../registry/catalog.ts';
import { readOptions } from './options.ts';

/** What a request with this query is refused for; an empty list where it is not. */
function faults(query: string, { release = '1.36', isOn = true, watch = true } = {}): readonly string[] {
  const parameters = new URLSearchParams(query);
  const ctx = { search: query, param: (name: string) => parameters.get(name) ?? undefined } as Context;
  const catalog = { identity: kubernetes, release, feature: () => isOn } as unknown as Catalog;
  try {
    readOptions(ctx, catalog, watch);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.details?.causes?.map(({ field, message }) => `${field}: ${message}`) ?? [error.message];
  }
}
const NEEDED = 'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
const ALONE = 'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided';
const OFF = 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled';

test.each<[string, Parameters<typeof faults>[1], readonly string[]]>([
  ['sendInitialEvents=true&resourceVersionMatch=NotOlderThan', {}, []],
  ['sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=7', {}, []],
  ['sendInitialEvents=true', {}, [NEEDED]],
  [
    'sendInitialEvents=true&resourceVersionMatch=Exact',
    {},
    [NEEDED, 'resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"'],
  ],
  ['resourceVersionMatch=NotOlderThan&resourceVersion=1', {}, [ALONE]],
  [
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=abc',
    {},
    ['resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided'],
  ],
  ['sendInitialEvents=true&resourceVersionMatch=NotOlderThan', { isOn: false }, [OFF]],
  [
    'sendInitialEvents=maybe&resourceVersionMatch=NotOlderThan',
    {},
    ['query parameter "sendInitialEvents" must be true or false, not "maybe"'],
  ],
  ['sendInitialEvents=true', { watch: false }, ['sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list']],
  ['sendInitialEvents=true', { watch: false, release: '1.24' }, []],
  ['sendInitialEvents=true', { release: '1.24' }, []],
  [
    'resourceVersionMatch=NotOlderThan&resourceVersion=1',
    { release: '1.24' },
    ['resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch'],
  ],
])('%s with %o', (query, setting, expected) => {
  expect(faults(query, setting)).toEqual(expected);
});
