import type { ApiObject } from '@plat-dev/kinds/kind';
import { FakeClock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { turnsOf } from '@plat-dev/lib/slices.testing';
import { ApiError } from '@plat-dev/meta/errors';
import { expect, test } from 'vitest';
import { Client } from './dynamic.ts';
import type { Http, StreamEvent, StreamSink } from './http.ts';
import { Following } from './watch.ts';

/** An event as a server of the same process hands it over, and how often its text was asked for. */
function event(type: string, name: string): { event: StreamEvent; asked: () => number } {
  let asked = 0;
  const source = Buffer.from(jsonText({ metadata: { name, resourceVersion: '7' }, data: {} }));
  return {
    asked: () => asked,
    event: {
      type,
      source,
      get bytes() {
        asked++;
        return Buffer.from(`{"type":"${type}","object":{"metadata":{"name":"${name}","resourceVersion":"7"}}}\n`);
      },
    },
  };
}

test('events arrive with or without a text, and those that are not wanted are never made into one', async () => {
  let sink: StreamSink | undefined;
  const http: Http = {
    request: async () => ({ status: 200, body: Buffer.from('{"metadata":{"resourceVersion":"5"},"items":[]}') }),
    stream: async (_request, given) => {
      sink = given;
      return { close() {} };
    },
  };
  const seen: string[] = [];
  const following = new Following<ApiObject>(
    {
      client: new Client(http, { userAgent: 'test', metadataGroup: 'meta' }),
      resource: { group: '', version: 'v1', name: 'configmaps', namespaced: true },
      clock: new FakeClock(),
      spread: () => 0,
      report: (error) => void seen.push(String(error)),
    },
    {
      begin() {},
      listed() {},
      complete() {},
      changed: (type, object) => void seen.push(`${type} ${object.metadata.name}`),
      wants: (type, source) => type === 'DELETED' || source.includes('good'),
    },
  );
  following.start();
  while (sink === undefined) await new Promise((resolve) => setImmediate(resolve));
  const events = [event('ADDED', 'good'), event('ADDED', 'bad'), event('DELETED', 'bad'), event('BOOKMARK', 'bad')];
  for (const { event } of events) sink.event?.(event);
  expect(events.map(({ asked }) => asked())).toEqual([1, 0, 1, 1]);
  for (const { event } of events) sink.data(event.bytes);
  expect(seen).toEqual(['ADDED good', 'DELETED bad', 'ADDED good', 'DELETED bad']);
  following.stop();
});

test('a collection that expires again and again is reported as an answer of the server, not as a fault of this program', async () => {
  const expired = '{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}\n';
  const http: Http = {
    request: async () => ({ status: 200, body: Buffer.from('{"metadata":{"resourceVersion":"5"},"items":[]}') }),
    stream: async (_request, sink) => {
      setImmediate(() => sink.data(Buffer.from(expired)));
      return { close() {} };
    },
  };
  const reported = await new Promise<unknown>((resolve) => {
    const following = new Following<ApiObject>(
      {
        client: new Client(http, { userAgent: 'test', metadataGroup: 'meta' }),
        resource: { group: '', version: 'v1', name: 'configmaps', namespaced: true },
        clock: new FakeClock(),
        spread: () => 0,
        report(error) {
          following.stop();
          resolve(error);
        },
      },
      { begin() {}, listed() {}, complete() {}, changed() {} },
    );
    following.start();
  });
  expect(reported).toMatchObject({ code: 410, message: 'too old' });
  expect(reported).toBeInstanceOf(ApiError);
});

/** Followers of the same objects within the process of a server, and the events of both in order. */
async function sharing(): Promise<{ send(event: StreamEvent): void; seen: unknown[]; stop(): void }> {
  const sinks: StreamSink[] = [];
  const http: Http = {
    request: async () => ({ status: 200, body: Buffer.from('{"metadata":{"resourceVersion":"5"},"items":[]}') }),
    stream: async (_request, sink) => {
      sinks.push(sink);
      return { close() {} };
    },
  };
  const seen: unknown[] = [];
  const options = {
    client: new Client(http, { userAgent: 'test', metadataGroup: 'meta' }),
    resource: { group: '', version: 'v1', name: 'configmaps', namespaced: true },
    clock: new FakeClock(),
    spread: () => 0,
    shared: true,
    report: (error: unknown) => void seen.push((error as Error).message),
  };
  const follower = { begin() {}, listed() {}, complete() {}, changed: (_type: string, object: ApiObject) => void seen.push(object) };
  const followings = [new Following<ApiObject>(options, follower), new Following<ApiObject>(options, follower)];
  for (const following of followings) following.start();
  while (sinks.length < 2) await new Promise((resolve) => setImmediate(resolve));
  return {
    send: (event) => {
      for (const sink of sinks) sink.event?.(event);
    },
    seen,
    stop: () => {
      for (const following of followings) following.stop();
    },
  };
}
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
};
const largeEvent = (text: string): StreamEvent => ({ type: 'ADDED', source: Buffer.alloc(1 << 20), bytes: Buffer.from(text) });

test('a large event that followers share is parsed once, in many turns', async () => {
  const { send, seen, stop } = await sharing();
  const env = Array.from({ length: 20_000 }, (_, i) => ({ name: `N${i}`, value: 'v' }));
  const object = { metadata: { name: 'a', resourceVersion: '7', managedFields: [] }, env };
  const turns = await turnsOf(async () => {
    send(largeEvent(jsonText({ type: 'ADDED', object })));
    await until(() => seen.length === 2);
  });
  expect(turns).toBeGreaterThan(15);
  expect(seen[0]).toEqual({ metadata: { name: 'a', resourceVersion: '7' }, env });
  expect(seen[1]).toBe(seen[0]);
  stop();
});

test('a large event that cannot be read is an error of every watch that has it', async () => {
  const { send, seen, stop } = await sharing();
  send(largeEvent(`{"type":"ADDED","object":{"a":"${'x'.repeat(100_000)}"`));
  await until(() => seen.length === 2);
  stop();
  expect(seen).toEqual([expect.stringContaining('JSON'), 'an event of the stream cannot be read']);
});
