import fc from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { MessageReader, withHeader } from './messages.ts';

function read(chunks: readonly Buffer[], mostBytes = 1_000): { messages: string[]; incomplete: boolean } {
  const messages: string[] = [];
  const reader = new MessageReader(mostBytes, (message) => messages.push(message.toString('latin1')));
  for (const chunk of chunks) reader.push(chunk);
  return { messages, incomplete: reader.incomplete };
}

test('a message has a header of five bytes', () => {
  expect(withHeader(Buffer.from('abc'), 3).toString('hex')).toBe('0000000003616263');
  expect(() => withHeader(Buffer.from('abcd'), 3)).toThrow(
    expect.objectContaining({ kind: 'request-too-large', code: 'RESOURCE_EXHAUSTED' }),
  );
});

test('messages come out whole, however the stream is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary-ascii', maxLength: 40 }), { maxLength: 6 }), fc.array(fc.nat(60)), (texts, sizes) => {
      const stream = Buffer.concat(texts.map((text) => withHeader(Buffer.from(text, 'latin1'), 100)));
      const chunks: Buffer[] = [];
      let at = 0;
      for (const size of sizes) {
        chunks.push(stream.subarray(at, at + size));
        at += size;
      }
      if (at < stream.length) chunks.push(stream.subarray(at));
      expect(read(chunks)).toEqual({ messages: texts, incomplete: false });
    }),
  );
});

test('a stream that ends within a message, or within its header, is incomplete', () => {
  const message = withHeader(Buffer.from('abc'), 3);
  for (let length = 1; length < message.length; length++)
    expect(read([message.subarray(0, length)])).toEqual({ messages: [], incomplete: true });
});

test('the largest message is read, a larger one is refused as soon as its header is there', () => {
  expect(read([withHeader(Buffer.alloc(10, 'x'), 10)], 10).messages).toEqual(['x'.repeat(10)]);
  expect(() => read([Buffer.from('000000000b', 'hex')], 10)).toThrow(expect.objectContaining({ kind: 'answer-too-large' }));
  expect(() => read([Buffer.from('00ffffffff', 'hex')])).toThrow(expect.objectContaining({ kind: 'answer-too-large' }));
});

test('compressed messages and other bytes are refused', () => {
  expect(() => read([Buffer.from('010000000161', 'hex')])).toThrow(
    expect.objectContaining({ kind: 'invalid', message: expect.stringContaining('compression is not supported') }),
  );
  expect(() => read([Buffer.from('<html>')])).toThrow(expect.objectContaining({ kind: 'invalid' }));
});
