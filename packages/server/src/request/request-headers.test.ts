import { expect, test } from 'vitest';
import { Context } from '../context.ts';
import { readFields } from '../http1/head.ts';
import { Request } from '../http1/request.ts';
import { HeadNotes } from './request-headers.ts';

test.each([
  [{}, { accept: undefined, auditId: undefined, impersonates: false, isReader: false }],
  [{ accept: 'application/yaml' }, { accept: 'application/yaml' }],
  [{ 'audit-id': 'mine' }, { auditId: 'mine' }],
  [{ 'audit-id': 'not mine' }, { auditId: undefined }],
  [{ 'audit-id': 'x'.repeat(65) }, { auditId: undefined }],
  [{ 'audit-id': '' }, { auditId: undefined }],
  [{ 'impersonate-user': 'bob' }, { impersonates: true }],
  [{ 'impersonate-group': '' }, { impersonates: true }],
  [{ 'impersonate-uid': '1' }, { impersonates: true }],
  [{ 'impersonate-extra-scopes': 'a' }, { impersonates: true }],
  [{ impersonate: 'bob' }, { impersonates: false }],
  [{ 'user-agent': 'curl/8.0' }, { isReader: true }],
  [{ 'user-agent': 'kubectl/v1.24' }, { isReader: false }],
])('%j', (headers, notes) => {
  expect(new HeadNotes(headers)).toMatchObject(notes);
});

test('requests with the same headers share the notes, and others do not', () => {
  const fields = [readFields('Host: a\r\nImpersonate-User: bob'), readFields('Host: a')];
  const contextOf = (i: number) =>
    new Context(new Request({ method: 'GET', target: '/', minor: 1 }, fields[i] as never, {} as never), {} as never, 0);
  const [first, same, other] = [contextOf(0), contextOf(0), contextOf(1)];
  expect(first.head).toBe(same.head);
  expect([first.head.impersonates, other.head.impersonates]).toEqual([true, false]);
  const alone = new Context({ httpVersionMajor: 2, headers: { accept: 'x/y' } } as never, {} as never, 0);
  expect(alone.head.accept).toBe('x/y');
  expect(alone.head).toBe(alone.head);
});
