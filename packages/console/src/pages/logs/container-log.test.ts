import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import type { Query, RequestOptions } from '../../api/api.ts';
import { ApiError } from '../../api/api-error.ts';
import { ContainerLog, LONGEST_LINE, type NewLine } from './container-log.ts';

const at = (seconds: string): string => `2024-05-01T10:00:${seconds}Z`;

/** A log whose requests get these answers one after the other: pieces of a stream, or an error. */
function started(answers: (readonly (string | Uint8Array)[] | Error)[], { isRunning = true, isPrevious = false } = {}) {
  const clock = new FakeClock();
  const queries: Query[] = [];
  const lines: NewLine[] = [];
  const running = { isRunning };
  const api = {
    fetch: async (_: string, { query = {} }: RequestOptions = {}) => {
      queries.push(query);
      const answer = answers.shift() ?? [];
      if (answer instanceof Error) throw answer;
      return new Response(streamOf(answer));
    },
  };
  const log = new ContainerLog({
    api,
    clock,
    path: '/log',
    container: 'web',
    isPrevious,
    tailLines: 10,
    isRunning: () => running.isRunning,
    onLines: (some) => lines.push(...some),
  });
  const settled = async (): Promise<void> => {
    for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, queries, lines, log, running, settled, texts: () => lines.map(({ text }) => text) };
}

function streamOf(pieces: readonly (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(typeof piece === 'string' ? encoder.encode(piece) : piece);
      controller.close();
    },
  });
}

test('lines and letters that are cut between pieces are put together', async () => {
  const letters = new TextEncoder().encode(`${at('01')} grün\n`);
  const { settled, lines, log } = started([[`${at('00.5')} fi`, 'rst\r\n', letters.slice(0, 24), letters.slice(24), `${at('02')} last`]]);
  await settled();
  expect(lines).toEqual([
    { time: at('00.5'), text: 'first' },
    { time: at('01'), text: 'grün' },
    { time: at('02'), text: 'last' },
  ]);
  log.close();
});

test('a stream that ends while the container runs goes on where it ended, and repeats nothing', async () => {
  const { settled, clock, queries, texts, log } = started([
    [`${at('00')} a\n${at('01.1')} b\n${at('01.10')} c\n`],
    [`${at('01.05')} a half\n${at('01.1')} b\n${at('01.1')} c\n${at('01.1')} d\n${at('02')} e\n`],
  ]);
  await settled();
  expect(log.state.value.phase).toBe('waiting');
  await clock.advance(1000);
  await settled();
  expect(queries[0]).toEqual({ container: 'web', timestamps: true, follow: true, tailLines: 10 });
  expect(queries[1]).toEqual({ container: 'web', timestamps: true, follow: true, sinceTime: at('01') });
  expect(texts()).toEqual(['a', 'b', 'c', 'd', 'e']);
  log.close();
});

test('a container that waits to start is asked for again, less and less often', async () => {
  const waiting = new ApiError({ code: 400, message: 'container "web" is waiting to start: ContainerCreating' });
  const { settled, clock, queries, log, texts } = started([waiting, waiting, [`${at('00')} up\n`]]);
  await settled();
  expect(log.state.value).toEqual({ phase: 'waiting', error: waiting });
  await clock.advance(1000);
  await settled();
  await clock.advance(1000);
  await settled();
  expect(queries.length).toBe(2);
  await clock.advance(1000);
  await settled();
  expect(texts()).toEqual(['up']);
  log.close();
});

test('without rights there is one question, and no other', async () => {
  const { settled, clock, queries, log } = started([new ApiError({ code: 403, message: 'no' })]);
  await settled();
  await clock.advance(60_000);
  await settled();
  expect([queries.length, log.state.value.phase]).toEqual([1, 'failed']);
});

test('the log of a container that does not run ends, and goes on when it runs again', async () => {
  const { settled, clock, queries, log, running, texts } = started([[`${at('00')} a\n`], [`${at('00')} a\n${at('05')} b\n`]], {
    isRunning: false,
  });
  await settled();
  await clock.advance(60_000);
  expect([queries.length, log.state.value.phase]).toEqual([1, 'ended']);
  running.isRunning = true;
  log.resume();
  await settled();
  expect(texts()).toEqual(['a', 'b']);
  log.close();
});

test('the run before is read once, and not followed', async () => {
  const { settled, queries, log } = started([[`${at('00')} a\n`]], { isPrevious: true });
  await settled();
  expect(queries).toEqual([{ container: 'web', timestamps: true, previous: true, tailLines: 10 }]);
  expect(log.state.value.phase).toBe('ended');
});

test('a line without an end is given in pieces', async () => {
  const { settled, texts, log } = started([['x'.repeat(LONGEST_LINE), 'yy', 'zz\n']], { isRunning: false });
  await settled();
  expect(texts().map(({ length }) => length)).toEqual([LONGEST_LINE + 2, 2]);
  log.close();
});

test('nothing is asked for after it was closed', async () => {
  const { settled, clock, queries, log } = started([[`${at('00')} a\n`]]);
  await settled();
  log.close();
  await clock.advance(60_000);
  expect(queries.length).toBe(1);
});
