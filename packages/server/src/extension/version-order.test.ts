import { expect, test } from 'vitest';
import { byPriority } from './version-order.ts';

test('versions are preferred by stage, then by number', () => {
  const order = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10', 'v0'];
  expect([...order].reverse().sort(byPriority)).toEqual(order);
  expect([...order].sort().sort(byPriority)).toEqual(order);
});
