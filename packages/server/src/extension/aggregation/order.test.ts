import { expect, test } from 'vitest';
import { listedGroups } from './order.ts';

const service = (name: string, groupPriorityMinimum: number, versionPriority: number) => {
  const dot = name.indexOf('.');
  return { metadata: { name }, spec: { version: name.slice(0, dot), group: name.slice(dot + 1), groupPriorityMinimum, versionPriority } };
};
const listed = (...services: ReturnType<typeof service>[]): string =>
  listedGroups(services)
    .map(({ name, versions }) => `${name}: ${versions.join(' ')}`)
    .join('; ');

test('a group stands where the highest priority of its versions puts it', () => {
  expect(listed(service('v1.low', 10, 1), service('v1.mixed', 5, 20), service('v2.mixed', 30, 10), service('v1.high', 20, 1))).toBe(
    'mixed: v1 v2; high: v1; low: v1',
  );
});

test('among equals the name of the object decides, which begins with the version', () => {
  expect(listed(service('v1alpha1.a', 10, 1), service('v1.c', 10, 1), service('v1.b', 10, 1))).toBe('b: v1; c: v1; a: v1alpha1');
});

test('versions of equal priority are ordered by their names, as clients expect', () => {
  const names = ['v1alpha1.a', 'v10.a', 'v2beta1.a', 'v2.a', 'odd.a'];
  expect(listed(...names.map((name) => service(name, 1, 1)))).toBe('a: v10 v2 v2beta1 v1alpha1 odd');
});
