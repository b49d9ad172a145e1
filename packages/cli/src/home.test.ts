import { expect, test } from 'vitest';
import { homeDirectory, stateDirectory, userCache, workingDirectory } from './home.ts';

const fails = (): string => {
  throw new Error('no such user');
};

test('the home directory is never relative', () => {
  expect(homeDirectory(() => '/h', fails)).toBe('/h');
  for (const wrong of ['', '.', 'h'])
    expect(
      homeDirectory(
        () => wrong,
        () => '/of-user',
      ),
    ).toBe('/of-user');
  expect(homeDirectory(fails, fails)).toBe('/');
  expect(
    homeDirectory(
      () => '',
      () => '',
    ),
  ).toBe('/');
});

test('relative directories in the environment are ignored', () => {
  for (const wrong of [undefined, '', '.', 'state']) {
    expect(stateDirectory({ env: { XDG_STATE_HOME: wrong }, home: '/h' })).toBe('/h/.local/state/plat');
    expect(userCache({ env: { XDG_CACHE_HOME: wrong }, home: '/h' })).toBe('/h/.cache/plat');
  }
  expect(stateDirectory({ env: { XDG_STATE_HOME: '/s' }, home: '/h' })).toBe('/s/plat');
  expect(userCache({ env: { XDG_CACHE_HOME: '/c' }, home: '/h' })).toBe('/c/plat');
});

test('a working directory that was removed is the root', () => {
  expect(workingDirectory(() => '/w')).toBe('/w');
  expect(workingDirectory(fails)).toBe('/');
});
