import { FakeClock } from '@plat-dev/lib/clock';
import { nextTurn } from '@plat-dev/lib/next-turn';
import { heldWorkTime } from '@plat-dev/lib/slices.testing';
import { expect, test } from 'vitest';
import { Files } from '../shell/files.ts';
import { runFor } from './command.ts';
import type { CommandStreams } from './streams.ts';

heldWorkTime();

/** Runs a script for a client that sends some chunks; answers with what it prints. */
async function printed(script: string, chunks: readonly string[]): Promise<string> {
  let out = '';
  const streams: CommandStreams = {
    signal: new AbortController().signal,
    onInput: (listener) => {
      for (const chunk of chunks) listener(Buffer.from(chunk));
      listener(undefined);
    },
    hold: () => {},
    write: (_to, bytes) => {
      out += bytes;
      return Promise.resolve();
    },
    finish: () => {},
  };
  const environment = { variables: new Map(), files: new Files(new Map()), hostname: 'h', now: () => 0, random: () => 0 };
  await runFor(streams, ['sh', '-c', script], environment, { clock: new FakeClock(0), tty: false });
  return out;
}

test('input is read by the line, wherever its chunks end, and its last line need not end', async () => {
  expect(await printed('while read l; do echo "<$l>"; done', ['a\n\nb', 'c', '\nd\n'])).toBe('<a>\n<>\n<bc>\n<d>\n');
  expect(await printed('wc -l', ['\n'.repeat(100_000)])).toBe('100000\n');
  expect(await printed('cat', ['a\n', 'b'])).toBe('a\nb');
});

test('a client whose input is not read waits, and goes on when it is', async () => {
  let send: (chunk: Buffer | undefined) => void = () => {};
  const held: boolean[] = [];
  let out = 0;
  const streams: CommandStreams = {
    signal: new AbortController().signal,
    onInput: (listener) => {
      send = listener;
    },
    hold: (on) => void held.push(on),
    write: (_to, bytes) => {
      out += bytes.length;
      return Promise.resolve();
    },
    finish: () => {},
  };
  const clock = new FakeClock(0);
  const environment = { variables: new Map(), files: new Files(new Map()), hostname: 'h', now: () => 0, random: () => 0 };
  const ended = runFor(streams, ['sh', '-c', 'sleep 5; cat'], environment, { clock, tty: false });
  for (let i = 0; i < 20; i++) send(Buffer.from(`${'x'.repeat(65_535)}\n`));
  expect(held).toEqual([true]);
  send(undefined);
  // The command may be between two slices of its work, and begin to sleep later.
  let isOver = false;
  void ended.finally(() => {
    isOver = true;
  });
  while (!isOver) await Promise.all([clock.advance(5000), nextTurn()]);
  expect(await ended).toBe(0);
  expect([held, out]).toEqual([[true, false], 20 * 65_536]);
});

test('what is printed at once is sent together, up to a limit, in the order of both outputs and before the command waits', async () => {
  const messages: string[] = [];
  const streams: CommandStreams = {
    signal: new AbortController().signal,
    onInput: () => {},
    hold: () => {},
    write: (to, bytes) => {
      messages.push(bytes.length > 100 ? `${to} ${bytes.length}` : `${to} ${bytes}`);
      return Promise.resolve();
    },
    finish: () => {},
  };
  const clock = new FakeClock(0);
  const environment = { variables: new Map(), files: new Files(new Map()), hostname: 'h', now: () => 0, random: () => 0 };
  const script = 'echo a; echo b; echo c >&2; echo d; sleep 1; for i in $(seq 1 1000); do echo 1234567890123456789; done; none';
  const ended = runFor(streams, ['sh', '-c', script], environment, { clock, tty: false });
  await nextTurn();
  expect(messages).toEqual(['out a\nb\n', 'err c\n', 'out d\n']);
  await clock.advance(1000);
  expect(await ended).toBe(127);
  const long = messages.slice(3).filter((message) => message.startsWith('out '));
  expect(long).toEqual(['out 16400', 'out 3600']);
  expect(messages.at(-1)).toContain('none');
});
