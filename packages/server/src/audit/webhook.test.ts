import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { FakeClock, systemClock } from '@plat-dev/lib/clock';
import { kubernetes } from '@plat-dev/meta/identity';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Outbound } from '../http-client/outbound.ts';
import type { AuditEvent } from './event.ts';
import { AuditWebhook, type AuditWebhookOptions } from './webhook.ts';

let server: http.Server;
let batches: { kind: string; apiVersion: string; items: { n: number }[] }[];
let answer: (res: http.ServerResponse) => void;
let clock: FakeClock;
let lost: { events: number; why: string }[];
beforeEach(async () => {
  batches = [];
  lost = [];
  clock = new FakeClock();
  answer = (res) => void res.end('{}');
  server = http.createServer(async (req, res) => {
    let text = '';
    for await (const chunk of req) text += chunk;
    batches.push(JSON.parse(text));
    answer(res);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const open = (changes: Partial<AuditWebhookOptions> = {}): AuditWebhook =>
  new AuditWebhook({
    identity: kubernetes,
    remote: new Outbound({ server: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events` }, systemClock),
    mode: 'batch',
    bufferSize: 1000,
    batchSize: 3,
    batchWaitMs: 30_000,
    initialBackoffMs: 10_000,
    clock,
    random: () => 0,
    dropped: (events, why) => lost.push({ events, why }),
    ...changes,
  });
const put = (webhook: AuditWebhook, ...numbers: number[]) =>
  numbers.map((n) => webhook.put({ json: `{"n":${n}}`, event: {} as AuditEvent }));
const numbers = (): number[][] => batches.map(({ items }) => items.map(({ n }) => n));
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

test('a full batch goes at once, the rest when its time has come', async () => {
  const webhook = open();
  expect(put(webhook, 1, 2, 3, 4)).toEqual([undefined, undefined, undefined, undefined]);
  await until(() => batches.length === 1);
  expect(batches[0]).toMatchObject({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1', items: [{ n: 1 }, { n: 2 }, { n: 3 }] });
  await clock.advance(29_999);
  expect(batches).toHaveLength(1);
  await clock.advance(1);
  await until(() => batches.length === 2);
  expect(numbers()[1]).toEqual([4]);
  await webhook.close();
  expect(lost).toEqual([]);
});

test('the queue is bounded: what does not fit is dropped and counted', async () => {
  answer = () => {};
  const webhook = open({ bufferSize: 4, batchSize: 1 });
  // Four are being sent, four wait.
  put(webhook, ...Array.from({ length: 10 }, (_, i) => i));
  expect(lost).toEqual([
    { events: 1, why: 'the queue is full' },
    { events: 1, why: 'the queue is full' },
  ]);
  await until(() => batches.length === 4);
  server.closeAllConnections();
  answer = (res) => void res.end();
  await webhook.close();
});

test('a failure is tried again after longer and longer waits', async () => {
  let failures = 2;
  answer = (res) => void res.writeHead(failures-- > 0 ? 500 : 200).end();
  const webhook = open({ batchSize: 1 });
  put(webhook, 1);
  await until(() => batches.length === 1 && clock.pending === 1);
  await clock.advance(9_999);
  expect(batches).toHaveLength(1);
  await clock.advance(1);
  await until(() => batches.length === 2 && clock.pending === 1);
  await clock.advance(15_000);
  await until(() => batches.length === 3);
  expect(numbers()).toEqual([[1], [1], [1]]);
  await webhook.close();
  expect(lost).toEqual([]);
});

test('what the service will not have is not offered again', async () => {
  answer = (res) => void res.writeHead(413).end();
  const webhook = open({ batchSize: 2 });
  put(webhook, 1, 2);
  await until(() => lost.length === 1);
  expect(lost).toEqual([{ events: 2, why: 'it answered 413' }]);
  await webhook.close();
});

test('closing sends what is left, in order, and does not wait for better times', async () => {
  const webhook = open({ batchSize: 2 });
  put(webhook, 1, 2, 3, 4, 5);
  await webhook.close();
  expect(lost).toEqual([]);
  expect(numbers().flat().sort()).toEqual([1, 2, 3, 4, 5]);
  expect(lost).toEqual([]);
  answer = (res) => void res.writeHead(503).end();
  const unlucky = open();
  put(unlucky, 6);
  await unlucky.close();
  expect(lost).toEqual([{ events: 1, why: 'it answered 503' }]);
});

test('closing gives up a service that does not answer', async () => {
  answer = () => {};
  const webhook = open();
  put(webhook, 1);
  const closed = webhook.close();
  await until(() => batches.length === 1);
  await clock.advance(10_000);
  await closed;
});

test('blocking: the request waits; strict: it learns of the failure', async () => {
  const blocking = open({ mode: 'blocking' });
  expect(await put(blocking, 1)[0]).toBe(true);
  expect(numbers()).toEqual([[1]]);
  answer = (res) => void res.writeHead(400).end();
  expect(await put(blocking, 2)[0]).toBe(true);
  const strict = open({ mode: 'blocking-strict' });
  expect(await put(strict, 3)[0]).toBe(false);
  expect(lost).toHaveLength(2);
  await blocking.close();
  await strict.close();
});
