import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { Files } from '../shell/files.ts';
import { runFor } from './command.ts';
import type { CommandStreams } from './streams.ts';

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
  await clock.advance(5000);
  expect(await ended).toBe(0);
  expect([held, out]).toEqual([[true, false], 20 * 65_536]);
});
