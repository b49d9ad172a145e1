import type { ApiError } from '@plat-dev/meta/errors';
import { expect, test } from 'vitest';
import type { User } from '../auth/types.ts';
import type { Context } from '../context.ts';
import { requestInfo } from '../request/request-info.ts';
import { InFlight } from './in-flight.ts';

const alice: User = { name: 'alice', groups: ['system:authenticated'] };
const root: User = { name: 'root', groups: ['system:masters', 'system:authenticated'] };

function request(method: string, path: string, user: User = alice): Context {
  const [plain = '', search = ''] = path.split('?');
  const query = new URLSearchParams(search);
  return {
    info: requestInfo(method, plain, (name) => query.get(name) ?? undefined),
    user,
    longRunning: false,
    res: { destroyed: false },
  } as Context;
}
const pods = '/api/v1/namespaces/a/pods';
const finish = (ctx: Context): void => {
  for (const end of ctx.onFinished ?? []) end(ctx);
};
function refusal(work: () => unknown): ApiError {
  try {
    work();
  } catch (error) {
    return error as ApiError;
  }
  throw new Error('the request was let through');
}

test('reads and changes have limits of their own, and room comes back when a request ends', () => {
  const inFlight = new InFlight({ reading: 2, mutating: 1 });
  const first = request('GET', pods);
  inFlight.step(first);
  inFlight.step(request('GET', `${pods}/one`));
  const refused = refusal(() => inFlight.step(request('GET', pods)));
  expect(refused.status()).toMatchObject({ code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 1 } });
  inFlight.step(request('POST', pods));
  expect(refusal(() => inFlight.step(request('DELETE', `${pods}/one`))).code).toBe(429);
  finish(first);
  inFlight.step(request('GET', pods));
  expect([inFlight.reading, inFlight.mutating, inFlight.droppedReading, inFlight.droppedMutating]).toEqual([2, 1, 1, 1]);
});

test('super-users are never turned away', () => {
  const inFlight = new InFlight({ reading: 1, mutating: 1 });
  inFlight.step(request('GET', pods));
  inFlight.step(request('GET', pods, root));
  expect(inFlight.reading).toBe(2);
});

test('what lasts takes no room', () => {
  const inFlight = new InFlight({ reading: 1, mutating: 1 });
  const lasting = [
    `GET ${pods}?watch=1`,
    `GET /api/v1/watch/pods`,
    `GET ${pods}/one/log?follow=true`,
    `POST ${pods}/one/exec`,
    `GET ${pods}/one/proxy`,
  ];
  for (const line of lasting) {
    const [method = '', path = ''] = line.split(' ');
    const ctx = request(method, path);
    inFlight.step(ctx);
    expect([line, ctx.longRunning]).toEqual([line, true]);
  }
  expect([inFlight.longRunning, inFlight.reading]).toEqual([lasting.length, 0]);
});

test('a client that is gone already takes no room', () => {
  const inFlight = new InFlight({ reading: 1, mutating: 1 });
  const ctx = request('GET', pods);
  Object.assign(ctx.res, { destroyed: true });
  inFlight.step(ctx);
  expect([inFlight.reading, ctx.onFinished]).toEqual([0, undefined]);
});

test('zero is no limit', () => {
  const inFlight = new InFlight({ reading: 0, mutating: 0 });
  for (let i = 0; i < 1000; i++) inFlight.step(request(i % 2 === 0 ? 'GET' : 'POST', pods));
  expect(inFlight.reading + inFlight.mutating).toBe(1000);
});
