import { Readable } from 'node:stream';
import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { requestTrace, type TracedRequest } from './trace.ts';

const request = (changes: Partial<TracedRequest> = {}): TracedRequest => ({
  method: 'POST',
  url: 'https://127.0.0.1:6443/api/v1/namespaces/a/pods',
  headers: { authorization: 'Bearer hidden', accept: 'application/json' },
  body: 'sent',
  ...changes,
});
async function traced(level: number, what: TracedRequest, answer: string | Buffer[] = 'received'): Promise<string> {
  const clock = new FakeClock();
  let shown = '';
  const exchange = requestTrace(level, clock, (line) => {
    shown += line;
  }).begin(what);
  await clock.advance(5);
  const body = exchange.answered({
    status: 201,
    headers: { 'content-type': 'text/plain', 'set-cookie': 'hidden' },
    body: Readable.from(typeof answer === 'string' ? [Buffer.from(answer)] : answer),
  });
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  expect(Buffer.concat(chunks).toString()).toBe(typeof answer === 'string' ? answer : Buffer.concat(answer).toString());
  expect(shown).not.toContain('hidden');
  return shown;
}

test('levels show more and more', async () => {
  const line = 'POST https://127.0.0.1:6443/api/v1/namespaces/a/pods 201 Created in 5 milliseconds\n';
  expect(await traced(6, request())).toBe(line);
  const seven = await traced(7, request());
  expect(seven).toBe(`POST https://127.0.0.1:6443/api/v1/namespaces/a/pods
> authorization: <masked>
> accept: application/json
${line}< content-type: text/plain
< set-cookie: <masked>
`);
  const eight = await traced(8, request());
  expect(eight).toContain('Request body: sent\n');
  expect(eight).toContain('Response body: received\n');
});

test('long bodies are cut at level 8 and 9', async () => {
  const long = 'x'.repeat(20_000);
  expect((await traced(8, request(), long)).length).toBeLessThan(2000);
  expect(await traced(9, request({ body: undefined }), long)).toContain('[truncated, 20000 bytes]');
  expect(await traced(10, request({ body: undefined }), [Buffer.from(long), Buffer.from('end')])).toContain('xend\n');
});

test.each([
  '/api/v1/namespaces/a/secrets',
  '/api/v1/namespaces/a/secrets/b?pretty=true',
  '/api/v1/secrets?limit=500',
  '/api/v1/namespaces/a/serviceaccounts/b/token',
  '/apis/authentication/v1/tokenreviews',
])('bodies of %s are not shown', async (path) => {
  const shown = await traced(9, request({ url: `https://a${path}`, body: 'hidden' }), 'also hidden');
  expect(shown).toContain('Request body: <masked, 6 bytes>');
  expect(shown).toContain('Response body: <masked, 11 bytes>');
});

test('commands of containers are not shown', async () => {
  expect(await traced(6, request({ url: 'https://a/exec?command=hidden&stdin=true' }))).toContain('?command=<masked>&stdin=true');
});

test('a request that fails', () => {
  let shown = '';
  requestTrace(6, new FakeClock(), (line) => {
    shown += line;
  })
    .begin(request())
    .failed(new Error('refused'));
  expect(shown).toBe('POST https://127.0.0.1:6443/api/v1/namespaces/a/pods failed in 0 milliseconds: refused\n');
});
