import { expect, test } from 'vitest';
import { requiresField, selectorsIn } from './selectors.ts';

const read = (query: Record<string, string>) => selectorsIn((name) => query[name]);

test('selectors of a query are requirements', () => {
  expect(read({ fieldSelector: 'spec.nodeName=n1,status.phase!=Failed', labelSelector: 'a in (x,y),!b,c,d notin (z),n>3' })).toEqual({
    fields: [
      { key: 'spec.nodeName', operator: 'In', values: ['n1'] },
      { key: 'status.phase', operator: 'NotIn', values: ['Failed'] },
    ],
    labels: [
      { key: 'a', operator: 'In', values: ['x', 'y'] },
      { key: 'b', operator: 'DoesNotExist', values: [] },
      { key: 'c', operator: 'Exists', values: [] },
      { key: 'd', operator: 'NotIn', values: ['z'] },
    ],
  });
});

test('what cannot be read, and what is too long, limits nothing', () => {
  expect(read({})).toBeUndefined();
  expect(read({ fieldSelector: '', labelSelector: 'a b c !!' })).toBeUndefined();
  expect(read({ fieldSelector: 'a' })).toBeUndefined();
  expect(read({ labelSelector: `a in (${'x,'.repeat(20_000)}x)` })).toBeUndefined();
});

test('a field is required by one value of it', () => {
  const requires = (fieldSelector: string) => requiresField(read({ fieldSelector }), 'f', 'v');
  expect(['f=v', 'f==v', 'f!=v', 'f=w', 'g=v'].map(requires)).toEqual([true, true, false, false, false]);
  expect(requiresField(undefined, 'f', 'v')).toBe(false);
});
