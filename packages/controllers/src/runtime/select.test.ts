import { expect, test } from 'vitest';
import type { Controller } from './controller.ts';
import { selectControllers } from './select.ts';

const one = (name: string, onByDefault = true): Controller => ({ name, onByDefault, start() {} });
const all = [one('namespace'), one('disruption'), one('tokencleaner', false)];

test.each([
  [['*'], ['namespace', 'disruption']],
  [
    ['*', 'tokencleaner'],
    ['namespace', 'disruption', 'tokencleaner'],
  ],
  [['*', '-disruption'], ['namespace']],
  [['namespace'], ['namespace']],
  [['-namespace', '*'], ['disruption']],
  [['-namespace', 'namespace'], []],
  [['-*'], []],
  [[], []],
])('%j selects %j', (words, names) => {
  expect(selectControllers(all, words).map((controller) => controller.name)).toEqual(names);
});

test('a word that means no controller is refused with what was probably meant', () => {
  expect(() => selectControllers(all, ['*', '-namespce'])).toThrow(/"namespce" is not the name of a controller.*namespace/);
  const absent = { names: ['cronjob'], needs: '--workloads=controllers' };
  expect(() => selectControllers(all, ['-cronjob'], absent)).toThrow('the controller "cronjob" needs --workloads=controllers');
});
