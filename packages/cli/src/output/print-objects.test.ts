import { expect, test } from 'vitest';
import { type ApiItem, ObjectPrinter } from './print-objects.ts';

const objects = [
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', managedFields: [{ manager: 'x' }] }, data: { text: 'one\n  two\n\n[]\n' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' }, data: { long: 'word '.repeat(60), '10': '[]', '9': '<>' } },
  { apiVersion: 'v1', kind: 'Empty', metadata: {}, list: [[], [{ a: [] }], {}] },
];
const items: readonly ApiItem[] = objects;

test.each(['json', 'yaml'] as const)('a list in pieces is the same text as the whole list: %s', async (form) => {
  for (const sizes of [[], [0, 0], [3], [1, 2], [0, 1, 0, 1, 1]]) {
    for (const managedFields of [false, true]) {
      const pieces = new ObjectPrinter(form, managedFields).listInPieces();
      let text = '';
      let at = 0;
      for (const size of sizes) {
        text += await pieces.items(items.slice(at, at + size));
        at += size;
      }
      text += await pieces.end();
      expect(text, `${sizes}`).toBe(await new ObjectPrinter(form, managedFields).list(items.slice(0, at)));
    }
  }
});
