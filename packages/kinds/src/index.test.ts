import { kubernetes, plat } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { builtinKinds } from './index.ts';
import type { Column } from './kind.ts';

const kinds = builtinKinds(kubernetes);
const find = (group: string, plural: string) => kinds.find((kind) => kind.group === group && kind.plural === plural);

test('groups come in the order of their priority', () => {
  expect([...new Set(kinds.map((kind) => kind.group))]).toEqual([
    '',
    'apiregistration',
    'apps',
    'events',
    'authentication',
    'authorization',
    'autoscaling',
    'batch',
    'certificates',
    'networking',
    'policy',
    'rbac.authorization',
    'storage',
    'admissionregistration',
    'apiextensions',
    'scheduling',
    'coordination',
    'node',
    'discovery',
    'flowcontrol.apiserver',
  ]);
});

test('the preferred version comes first', () => {
  expect(Object.keys(find('autoscaling', 'horizontalpodautoscalers')?.versions ?? {})).toEqual(['v2', 'v1', 'v2beta1', 'v2beta2']);
  expect(Object.keys(find('flowcontrol.apiserver', 'flowschemas')?.versions ?? {})).toEqual(['v1beta2', 'v1beta1']);
});

test('no two kinds, and no two short names, are confused within a group', () => {
  const names = kinds.flatMap((kind) => [kind.plural, kind.singular, ...kind.short].map((name) => `${kind.group}/${name}`));
  const plain = names.filter((name, i) => names.indexOf(name) !== i);
  // The plural of Endpoints is also its singular.
  expect(plain).toEqual(['/endpoints']);
});

test('every kind has its hub among its versions, or lives in the store of another', () => {
  for (const kind of kinds) {
    expect(Object.keys(kind.versions), kind.kind).toContain(kind.hub);
    if (kind.sharesStoreOf) expect(find(kind.sharesStoreOf.group, kind.sharesStoreOf.plural)).toBeDefined();
  }
});

test('every schema is an object with metadata', () => {
  for (const kind of kinds) {
    for (const [version, { schema }] of Object.entries(kind.versions)) {
      expect(schema.object, `${kind.kind} ${version}`).toBe(true);
      expect(schema.ordered.slice(0, 3).map((field) => field.name)).toEqual(['kind', 'apiVersion', 'metadata']);
    }
  }
});

test('every column says what it shows', () => {
  const problems = kinds.flatMap((kind) =>
    (kind.columns ?? [])
      .filter((column: Column) => !/^[A-Z].*\.$/.test(column.description ?? ''))
      .map((column) => `${kind.kind} ${column.name}`),
  );
  expect(problems).toEqual([]);
});

test('only custom resource definitions depend on the identity', () => {
  const other = builtinKinds(plat);
  expect(kinds.filter((kind, i) => kind !== other[i]).map((kind) => kind.kind)).toEqual(['CustomResourceDefinition']);
});
