import { expect, test } from 'vitest';
import { changeText } from './change-text.ts';

const from = { metadata: { generation: 1, labels: { app: 'web' } }, spec: { replicas: 3, text: 'x'.repeat(100) }, status: { replicas: 1 } };

test.each([
  ['spec.replicas 3 → 5', [{ op: 'replace', path: '/spec/replicas', value: 5 }]],
  ['metadata.labels.app web → api', [{ op: 'replace', path: '/metadata/labels/app', value: 'api' }]],
  ['metadata.labels.a/b = 1', [{ op: 'add', path: '/metadata/labels/a~1b', value: '1' }]],
  ['spec.template added', [{ op: 'add', path: '/spec/template', value: {} }]],
  ['spec.replicas removed', [{ op: 'remove', path: '/spec/replicas' }]],
  [`spec.text ${'x'.repeat(40)}… → ""`, [{ op: 'replace', path: '/spec/text', value: '' }]],
  ['no field', [{ op: 'replace', path: '/metadata/generation', value: 2 }]],
  [
    'marked for deletion',
    [
      { op: 'add', path: '/metadata/deletionTimestamp', value: '2026-05-01T10:00:00Z' },
      { op: 'add', path: '/metadata/deletionGracePeriodSeconds', value: 30 },
    ],
  ],
  [
    'spec.a = 1, spec.b = 2, spec.c = 3, 1 more',
    [
      { op: 'replace', path: '/status/replicas', value: 2 },
      { op: 'add', path: '/spec/a', value: 1 },
      { op: 'add', path: '/spec/b', value: 2 },
      { op: 'add', path: '/spec/c', value: 3 },
    ],
  ],
] as const)('%s', (text, operations) => {
  expect(changeText(operations, from, false)).toBe(text);
});

test('values are left out where they are hidden', () => {
  const operations = [
    { op: 'replace', path: '/data/a', value: 'new' },
    { op: 'add', path: '/data/b', value: 'new' },
  ] as const;
  expect(changeText(operations, { data: { a: 'old' } }, true)).toBe('data.a changed, data.b added');
});
