import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { Context } from './context.ts';
import type { Incoming, Outgoing } from './exchange.ts';
import { inProcess, presetUser, takesFrames, takesMetadata } from './in-process.ts';
import type { Step } from './pipeline.ts';
import { readBody } from './request/body.ts';
import { openBody } from './response/body-stream.ts';
import { head, send } from './response/respond.ts';

const user = { name: 'somebody', groups: ['some'] };
const asError = (status: number, body: Buffer): Error => new Error(`${status} ${body}`);
/** The inner way to a handler. */
const way = (serve: Step) =>
  inProcess(
    (req: Incoming, res: Outgoing) => {
      const ctx = new Context(req, res, 0);
      presetUser(ctx);
      void serve(ctx);
    },
    user,
    asError,
  );

test('a request arrives as it was sent, from the user that was vouched for', async () => {
  const inner = way(async (ctx) => {
    const body = await readBody(ctx);
    send(ctx, 201, 'text/plain', `${ctx.method} ${ctx.path} ${ctx.param('a')} ${ctx.header('x-word')} ${body} ${ctx.user.name}`);
  });
  const answer = await inner.request({ method: 'PUT', path: '/there?a=b', headers: { 'x-word': 'w' }, body: 'bödy' });
  expect([answer.status, answer.body.toString()]).toEqual([201, 'PUT /there b w bödy somebody']);
});

test('a request without a body ends at once', async () => {
  const inner = way(async (ctx) => send(ctx, 200, 'text/plain', String((await readBody(ctx)).length)));
  expect((await inner.request({ path: '/' })).body.toString()).toBe('0');
});

test('an answer that is broken off is an error', async () => {
  const inner = way((ctx) => void ctx.res.destroy());
  await expect(inner.request({ path: '/' })).rejects.toThrow('the server aborted the response');
});

test('the end of a request is reported, for those who count requests', async () => {
  let ended = 0;
  const inner = way((ctx) => {
    ctx.res.once('close', () => ended++);
    send(ctx, 200, 'text/plain', 'x');
  });
  await inner.request({ path: '/' });
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended).toBe(1);
});

test('a stream is handed on as it is written, until either side ends it', async () => {
  const seen: string[] = [];
  let out: NodeJS.WritableStream & { destroyed?: boolean } = process.stdout;
  const inner = way((ctx) => {
    out = ctx.res as unknown as NodeJS.WritableStream;
    head(ctx, 200, ['Content-Type', 'text/plain']);
    out.write('one');
  });
  const sink = {
    data: (chunk: Buffer) => void seen.push(chunk.toString()),
    end: (error?: Error) => void seen.push(error?.message ?? 'end'),
  };
  await inner.stream({ path: '/' }, sink);
  out.write('two');
  out.end();
  await new Promise((resolve) => setImmediate(resolve));
  expect(seen).toEqual(['one', 'two', 'end']);

  seen.length = 0;
  const stream = await inner.stream({ path: '/' }, sink);
  stream.close();
  await new Promise((resolve) => setImmediate(resolve));
  expect(out.destroyed).toBe(true);
  expect(seen).toEqual(['one']);
});

test('a stream that is refused is the error of the refusal', async () => {
  const inner = way((ctx) => send(ctx, 410, 'text/plain', 'gone'));
  await expect(inner.stream({ path: '/' }, { data() {}, end() {} })).rejects.toThrow('410 gone');
});

test('a stream that breaks tells so', async () => {
  let server: Context | undefined;
  const inner = way((ctx) => {
    server = ctx;
    head(ctx, 200, []);
  });
  const end = new Promise<Error | undefined>((resolve) => void inner.stream({ path: '/' }, { data() {}, end: resolve }));
  server?.res.destroy(new Error('out of order'));
  expect((await end)?.message).toBe('out of order');
});

test('nobody from outside takes the inner way', () => {
  const outside = { method: 'GET', url: '/', headers: {}, httpVersionMajor: 1 } as unknown as Incoming;
  expect(() => presetUser(new Context(outside, {} as Outgoing, 0))).toThrow('a request from outside took the inner way');
});

test('events of a watch are handed over as they are to who takes them, and written for who does not', async () => {
  const event = { type: 'ADDED', source: Buffer.from('{}'), bytes: Buffer.from('line\n') };
  let hand: () => void = () => {};
  const inner = way((ctx) => {
    const { res } = ctx;
    head(ctx, 200, []);
    if (takesFrames(res)) hand = () => res.takeFrames([event, event]);
  });
  const seen: unknown[] = [];
  const sink = { data: (chunk: Buffer) => void seen.push(chunk.toString()), end() {} };
  await inner.stream({ path: '/' }, sink);
  hand();
  expect(seen).toEqual(['line\n', 'line\n']);

  seen.length = 0;
  const stream = await inner.stream({ path: '/' }, { ...sink, event: (one) => void seen.push(one) });
  hand();
  expect(seen).toEqual([event, event]);
  stream.close();
  hand();
  expect(seen.length).toBe(2);
});

test('bytes that were handed over stay as they are, though the server would use their memory again', async () => {
  const inner = way(async (ctx) => {
    const body = openBody(ctx, 'text/plain');
    const slice = Buffer.from('first ');
    await body.put(slice, () => slice.fill('x'));
    body.end(Buffer.from('last'));
  });
  expect((await inner.request({ path: '/' })).body.toString()).toBe('first last');
});

const sink = { data: (): void => {}, end: (): void => {} };

test('a request whose signal is aborted already is not made, and rejects with the reason', async () => {
  let served = 0;
  const inner = way((ctx) => {
    served++;
    send(ctx, 200, 'text/plain', 'x');
  });
  const signal = AbortSignal.abort(new Error('no longer needed'));
  await expect(inner.request({ path: '/', signal })).rejects.toThrow('no longer needed');
  await expect(inner.stream({ path: '/', signal }, sink)).rejects.toThrow('no longer needed');
  expect(served).toBe(0);
});

test('a request that is aborted rejects with the reason', async () => {
  const inner = way(() => {});
  const ending = new AbortController();
  const [request, stream] = [inner.request({ path: '/', signal: ending.signal }), inner.stream({ path: '/', signal: ending.signal }, sink)];
  ending.abort(new Error('no longer needed'));
  await expect(request).rejects.toThrow('no longer needed');
  await expect(stream).rejects.toThrow('no longer needed');
});

test('a signal has no listeners of answers that are over', async () => {
  const inner = way((ctx) => send(ctx, 200, 'text/plain', 'x'));
  const { signal } = new AbortController();
  await inner.request({ path: '/', signal });
  await new Promise<void>((resolve) => void inner.stream({ path: '/', signal }, { ...sink, end: () => resolve() }));
  await new Promise((resolve) => setImmediate(resolve));
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

test('metadata goes to those who asked for no more, without text', async () => {
  const inner = way((ctx) => {
    if (takesMetadata(ctx.res)) ctx.res.metadata = () => ({ uid: 'u' });
    send(ctx, 200, 'application/json', takesMetadata(ctx.res) ? '' : '{}');
  });
  const brief = await inner.request({ path: '/', brief: true });
  expect([brief.body.length, brief.metadata?.()]).toEqual([0, { uid: 'u' }]);
  const whole = await inner.request({ path: '/' });
  expect([whole.body.toString(), whole.metadata]).toEqual(['{}', undefined]);
});

test('a body over the limit is refused, also one that is here already', async () => {
  const inner = way(async (ctx) => {
    const refusal = await Promise.resolve()
      .then(() => readBody(ctx, 3))
      .catch((error: Error) => error.message);
    send(ctx, 200, 'text/plain', String(refusal));
  });
  expect((await inner.request({ method: 'POST', path: '/', body: 'four' })).body.toString()).toContain('limit is 3');
  expect((await inner.request({ method: 'POST', path: '/', body: 'not' })).body.toString()).toBe('not');
});
