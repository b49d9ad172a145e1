import { builtinKinds } from '@plat-dev/kinds';
import { newerKinds } from '@plat-dev/kinds/newer-kinds';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { checkLookedUp, loadedFirst, mayLoadLater } from './loaded-first.ts';

const kind = (group: string, plural: string, custom = false) => ({ group, plural, custom });

test('kinds that authentication, authorization and admission look up are loaded first, however many objects they have', () => {
  for (const one of [kind('', 'namespaces'), kind('', 'services'), kind('rbac.authorization', 'rolebindings')]) {
    expect(mayLoadLater(one)).toBe(false);
    checkLookedUp(one);
  }
});

test('every kind that is loaded first exists', () => {
  const known = new Set([...builtinKinds(kubernetes), ...newerKinds].map(({ group, plural }) => `${group}/${plural}`));
  expect([...loadedFirst].filter((name) => !known.has(name))).toEqual([]);
});

test('all others may be loaded later, and cannot be looked up; some can, since all who do so wait', () => {
  for (const one of [kind('', 'configmaps'), kind('apps', 'deployments'), kind('garden.example.com', 'namespaces', true)]) {
    expect(mayLoadLater(one)).toBe(true);
    expect(() => checkLookedUp(one)).toThrow('may be loaded later');
  }
  for (const one of [kind('', 'pods'), kind('', 'secrets'), kind('', 'serviceaccounts'), kind('storage', 'volumeattachments')]) {
    expect(mayLoadLater(one)).toBe(true);
    checkLookedUp(one);
  }
});
