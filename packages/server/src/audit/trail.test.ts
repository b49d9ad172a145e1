import { FakeClock } from '@plat-dev/lib/clock';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { Context } from '../context.ts';
import { requestInfo } from '../request/request-info.ts';
import { Level } from './policy.ts';
import type { WrittenEvent } from './sink.ts';
import { MAX_CLOSING_TURNS, Trail, type TrailOptions } from './trail.ts';

function newTrail() {
  const done: string[] = [];
  const counter = { inc: () => {} };
  const trail = new Trail({
    identity: kubernetes,
    policy: { decide: () => ({ level: Level.Metadata, omitStages: new Set(['RequestReceived']), omitManagedFields: false }) },
    sinks: [
      {
        name: 'test',
        put: ({ event }: WrittenEvent) => void done.push(`${event.stage} ${event.requestURI}`),
        close: async () => void done.push('closed'),
      },
    ],
    clock: new FakeClock(),
    metrics: { events: counter, levels: { with: () => counter }, rejected: counter },
  } as unknown as TrailOptions);
  /** Begins a request; the result ends it. */
  const begin = (url: string, destroyed = false): (() => void) => {
    const ctx = new Context({ url, method: 'GET', httpVersionMajor: 1, headers: {} } as never, { destroyed } as never, 0);
    ctx.info = requestInfo(ctx.method, ctx.path, () => undefined);
    ctx.user = { name: 'alice', groups: [] };
    trail.around(() => undefined)(ctx);
    return () => {
      for (const end of ctx.onFinished ?? []) end(ctx);
    };
  };
  return { trail, done, begin };
}

/** Calls in a turn of the event loop that is so many turns away, before all that is scheduled later for that turn. */
function inTurn(turn: number, call: () => void): Promise<void> {
  return new Promise((resolve) => {
    const next = (left: number): void => {
      setImmediate(() => {
        if (left > 1) return next(left - 1);
        call();
        resolve();
      });
    };
    next(turn);
  });
}

test.each([
  [1, true],
  [MAX_CLOSING_TURNS, true],
  [MAX_CLOSING_TURNS + 1, false],
])('a request that ends %d turns after the trail is closed: it waits for it: %s', async (turn, waits) => {
  const { trail, done, begin } = newTrail();
  const end = begin('/api/v1/pods');
  const ended = inTurn(turn, end);
  await Promise.all([trail.close(), ended]);
  const event = 'ResponseComplete /api/v1/pods';
  expect(done).toEqual(waits ? [event, 'closed'] : ['closed', event]);
});

test('a trail without open requests is closed in the same turn', async () => {
  const { trail, done, begin } = newTrail();
  begin('/version')();
  const later = inTurn(1, () => void done.push('next turn'));
  await trail.close();
  await later;
  expect(done).toEqual(['ResponseComplete /version', 'closed', 'next turn']);
});

test('it waits for all requests, those of clients that have disconnected and events that are being made', async () => {
  const { trail, done, begin } = newTrail();
  const first = begin('/first');
  const second = begin('/second');
  begin('/gone', true);
  let stored: (value: boolean) => void = () => {};
  trail.pending(
    new Promise<boolean>((resolve) => {
      stored = resolve;
    }),
  );
  const closing = trail.close();
  await inTurn(3, first);
  await inTurn(3, second);
  await inTurn(3, () => done.push('stored'));
  stored(true);
  await closing;
  expect(done).toEqual(['ResponseComplete /gone', 'ResponseComplete /first', 'ResponseComplete /second', 'stored', 'closed']);
});
