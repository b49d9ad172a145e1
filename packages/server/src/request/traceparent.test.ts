import { expect, test } from 'vitest';
import type { Context } from '../context.ts';
import { readTraceparent, traceparentOf } from './traceparent.ts';

const sent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
const request = (header: string | undefined, traceparent?: string): Context =>
  ({ header: () => header, traceparent }) as unknown as Context;

test('calls carry the span of a sampled request, else what the client sent', () => {
  expect(traceparentOf(request(sent))).toBe(sent);
  expect(traceparentOf(request(sent, 'own'))).toBe('own');
  expect(traceparentOf(request(undefined))).toBeUndefined();
});

test('a header that is malformed, or names no trace, is not passed on', () => {
  for (const header of [
    'x',
    `${sent}\r\nx: y`,
    sent.toUpperCase(),
    `00-${'0'.repeat(32)}-${'cd'.repeat(8)}-01`,
    `00-${'ab'.repeat(16)}-${'0'.repeat(16)}-01`,
  ])
    expect([readTraceparent(header), traceparentOf(request(header))]).toEqual([undefined, undefined]);
});
