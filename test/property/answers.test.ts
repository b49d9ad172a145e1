/** The property would notice: answers that are wrong, and what is wrong with them. */
import { expect, test } from 'vitest';
import { Status } from '../../packages/kinds/src/meta-kinds.ts';
import { encodeEnvelope } from '../../packages/schema/src/protobuf/envelope.ts';
import { encodeProtobuf } from '../../packages/schema/src/protobuf/index.ts';
import { fault, type Got } from './answers.ts';
import type { Sent } from './edits.ts';

const sent = (accept?: string, path = '/api/v1/pods', method = 'GET'): Sent => ({
  method,
  path,
  query: [],
  headers: accept === undefined ? {} : { accept },
  body: undefined,
  user: 'admin',
  http2: false,
});
const got = (status: number, type: string | undefined, body: string | Buffer, more: Partial<Got> = {}): Got => ({
  status,
  headers: type === undefined ? {} : { 'content-type': type },
  bytes: Buffer.from(body),
  stream: false,
  cpuUs: 1000,
  ...more,
});
const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'no', reason: 'NotFound', code: 404 };
const json = (changes: object = {}): string => JSON.stringify({ ...status, ...changes });
const binary = encodeEnvelope({ kind: 'Status', apiVersion: 'v1', raw: encodeProtobuf(Status, { message: 'no', code: 404 } as never) });

test.each([
  ['a Status', sent(), got(404, 'application/json', json())],
  ['a Status as YAML', sent('application/yaml'), got(404, 'application/yaml', 'kind: Status\ncode: 404\nmessage: gone\n')],
  ['a binary Status', sent('application/vnd.kubernetes.protobuf'), got(404, 'application/vnd.kubernetes.protobuf', binary)],
  ['a path that leads nowhere', sent(), got(404, 'text/plain; charset=utf-8', '404 page not found\n')],
  ['no body for HEAD', sent(undefined, '/api', 'HEAD'), got(405, undefined, '')],
  ['no document', sent(undefined, '/openapi/v3/x'), got(404, undefined, '')],
  ['a stream that is cut', sent(), got(200, 'application/json', '{"type":"ADD', { stream: true })],
  ['what takes long because it is large', sent(), got(200, 'text/plain', 'x'.repeat(300_000), { cpuUs: 12_000_000 })],
])('%s is right', (_, request, answer) => expect(fault(request, answer)).toBeUndefined());

test.each([
  ['500', sent(), got(500, 'application/json', json({ code: 500 })), '500'],
  ['500 as an event', sent(), got(200, 'application/json', '{"type":"ERROR","object":{"code":500}}', { stream: true }), '500 in a watch'],
  [
    'an internal error by another code',
    sent(),
    got(503, 'application/json', json({ code: 503, reason: 'InternalError' })),
    'internal error',
  ],
  ['another code', sent(), got(422, 'application/json', json()), 'another code'],
  ['no message', sent(), got(404, 'application/json', json({ message: '' })), 'without a message'],
  ['no Status', sent(), got(404, 'application/json', '{}'), 'not a Status'],
  ['text', sent(), got(400, 'text/plain', 'no'), 'not a Status'],
  ['nothing', sent('image/png'), got(400, undefined, ''), 'cannot be read'],
  ['another form', sent('application/yaml'), got(404, 'application/json', json()), 'another form'],
  ['an answer that ends early', sent(), got(200, 'application/json', '{"kind":'), 'cannot be read'],
  ['what takes long', sent(), got(200, 'application/json', '{}', { cpuUs: 5_000_000 }), 'processor time'],
])('%s is noticed', (_, request, answer, words) => expect(fault(request, answer)).toContain(words));
