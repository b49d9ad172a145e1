import { expect, test } from 'vitest';
import { type LogOptions, openLog, redactText } from './log.ts';

const now = (): number => Date.UTC(2024, 0, 2, 3, 4, 5, 6);
function capture(options: LogOptions): { log: ReturnType<typeof openLog>; text: () => string } {
  let written = '';
  const log = openLog({
    now,
    ...options,
    write: (lines) => {
      written += lines;
    },
  });
  return {
    log,
    text: () => {
      log.flush();
      return written;
    },
  };
}

test('text is one line an entry, with fields a person can read', () => {
  const { log, text } = capture({});
  log.info('ready', { address: '127.0.0.1:6443', took: 12, why: 'two words', list: ['a'], gone: undefined });
  log.child({ part: 'store' }).warn('slow\ndisk "x"');
  expect(text()).toBe(
    [
      '2024-01-02T03:04:05.006Z INFO  ready address=127.0.0.1:6443 took=12 why="two words" list=["a"]\n',
      '2024-01-02T03:04:05.006Z WARN  slow\\ndisk "x" part=store\n',
    ].join(''),
  );
});

test('JSON is one object an entry', () => {
  const { log, text } = capture({ format: 'json' });
  log.error('failed', { error: new Error('no room', { cause: new Error('ENOSPC') }), big: 7n });
  expect(JSON.parse(text())).toEqual({
    time: '2024-01-02T03:04:05.006Z',
    level: 'error',
    msg: 'failed',
    error: 'no room: ENOSPC',
    big: '7',
  });
});

test('details appear from their verbosity on', () => {
  const { log, text } = capture({ verbosity: 4 });
  log.debug(4, 'shown');
  log.debug(5, 'hidden');
  expect([log.enabled(4), log.enabled(5)]).toEqual([true, false]);
  expect(text()).toContain('shown');
  expect(text()).not.toContain('hidden');
});

test.each([
  ['Authorization: Bearer abcdef.0123456789abcdef', 'Authorization: Bearer [redacted]'],
  ['got token abcdef.0123456789abcdef today', 'got token [redacted] today'],
  ['jwt eyJhbGciOiJSUzI1.eyJzdWIiOiJhYmMi.c2lnbmF0dXJl!', 'jwt [redacted]!'],
  ['Basic dXNlcjpwYXNzd29yZA==', 'Basic [redacted]'],
  ['-----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY-----\nrest', '[redacted]\nrest'],
  ['nothing secret about pods.v1 or 10.0.0.1', 'nothing secret about pods.v1 or 10.0.0.1'],
])('%j is written %j', (text, shown) => {
  expect(redactText(text)).toBe(shown);
});

test('fields named like secrets are blanked, however deep', () => {
  const { log, text } = capture({ format: 'json' });
  log.info('call', {
    headers: { Authorization: 'x', accept: 'json' },
    user: { name: 'a', password: 'p' },
    tokens: 3,
    bytes: Buffer.from('secret'),
  });
  const entry = JSON.parse(text());
  expect(entry).toMatchObject({
    headers: { Authorization: '[redacted]', accept: 'json' },
    user: { name: 'a', password: '[redacted]' },
    tokens: 3,
    bytes: '6 bytes',
  });
});

test('a log that is written faster than it is read drops lines and says so', () => {
  const { log, text } = capture({});
  expect(log.problem?.()).toBeUndefined();
  for (let i = 0; i < 3000; i++) log.info('x'.repeat(1000));
  expect(log.problem?.()).toMatch(/^nothing takes the lines: \d+ were dropped$/);
  const written = text();
  expect(log.problem?.()).toBeUndefined();
  expect(written.length).toBeLessThan(1.1 * 2 ** 20);
  expect(written).toMatch(/\d+ log lines were dropped\n$/);
  log.info('again');
  expect(text()).toContain('again');
});
