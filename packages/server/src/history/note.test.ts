import type { ApiObject } from '@plat-dev/kinds/kind';
import { expect, test } from 'vitest';
import { decodeNote, encodeNote } from './note.ts';
import { withoutValues } from './without-values.ts';

const origin = { verb: 'patch', userAgent: 'kubectl/v1.24', auditId: 'id', subresource: 'status', impersonator: undefined };
const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'db', namespace: 'a', uid: 'u', labels: { app: 'x' }, annotations: { copy: '{"password":"hunter2"}' } },
  type: 'Opaque',
  data: { password: 'aHVudGVyMg==' },
} as unknown as ApiObject;

test('a note is read as it was written', () => {
  expect(decodeNote(encodeNote('alice', 'kubectl', origin))).toEqual({ user: 'alice', manager: 'kubectl', origin, outline: undefined });
});

test('writers that differ in one part have different notes', () => {
  const parts = ['user', 'manager', 'verb', 'userAgent', 'subresource', 'impersonator'] as const;
  for (const changed of parts) {
    const part = (name: (typeof parts)[number]): string => (name === changed ? `other-${name}` : name);
    const changedOrigin = {
      verb: part('verb'),
      userAgent: part('userAgent'),
      auditId: changed,
      subresource: part('subresource'),
      impersonator: part('impersonator'),
    };
    const note = decodeNote(encodeNote(part('user'), part('manager'), changedOrigin));
    expect(note).toEqual({ user: part('user'), manager: part('manager'), origin: changedOrigin, outline: undefined });
  }
});

test('bytes that are no note are none', () => {
  expect(decodeNote(Buffer.from('{'))).toBeUndefined();
  expect(decodeNote(undefined)).toBeUndefined();
});

test('names of any length make a note of at most 2 KB', () => {
  const long = '𐍈'.repeat(5000);
  const note = encodeNote(long, long, { ...origin, userAgent: long, auditId: long, impersonator: long });
  expect(note.length).toBeLessThanOrEqual(2048);
  expect(decodeNote(note)?.user.startsWith('𐍈𐍈')).toBe(true);
});

test('an outline has the names of keys and annotations, and no values', () => {
  const outline = {
    metadata: { name: 'db', namespace: 'a', uid: 'u', labels: { app: 'x' }, annotations: { copy: '' } },
    type: 'Opaque',
    data: { password: '' },
  };
  expect(withoutValues(secret)).toEqual(outline);
  expect(decodeNote(encodeNote('alice', '', origin, secret))?.outline).toEqual(outline);
});

test('an outline is bounded: annotations go first, then labels, then the names of keys', () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-${i}`, 'value']));
  const { metadata } = secret;
  expect(withoutValues({ ...secret, metadata: { ...metadata, annotations: many(5000) } } as ApiObject)).toMatchObject({
    metadata: { labels: { app: 'x' } },
    data: { password: '' },
  });
  const large = { ...secret, metadata: { ...metadata, labels: many(5000) }, data: many(5000) } as unknown as ApiObject;
  expect(encodeNote('alice', '', origin, large).length).toBeLessThan(20_000);
  expect(withoutValues(large)).toEqual({ metadata: { name: 'db', namespace: 'a', uid: 'u' }, type: 'Opaque' });
});
