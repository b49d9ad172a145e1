/**
 * Requests to targets of tunnels: one connection each by default, timeouts of the connection and of the head of
 * the response, errors in plain words.
 */
import type { Readable } from 'node:stream';
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { timeout } from '@plat-dev/meta/errors';
import { HttpClient } from '../http-client/client.ts';
import { callFault } from '../http-client/errors.ts';
import type { Exchange } from '../http-client/exchange.ts';
import { tlsSettings } from '../http-client/tls.ts';
import { checkHost, guardedLookup, guardFault } from './guard.ts';
import type { Target } from './target.ts';

/** Timeout of an upgrade response. */
export const UPGRADE_MS = 30_000;

export interface DialOptions {
  readonly method: string;
  /** Including its query. */
  readonly path: string;
  /** Alternating names and values, without those of the connection. */
  readonly headers: readonly string[];
  readonly body?: Readable | undefined;
  /** The protocol to switch to. */
  readonly upgrade?: string | undefined;
  readonly clock: Clock;
  /** Timeout from the last bytes that the target read of the request to the head of its response. */
  readonly answerMs: number;
}

/** Timeouts of targets. */
export interface AnswerLimits {
  readonly clock: Clock;
  /** Until the head of a response, without an upgrade. */
  readonly answerMs: number;
}

/** The target has the request, or does not read it, and does not respond. */
class NoAnswer extends Error {
  constructor(millis: number) {
    super(`the target did not answer within ${millis / 1000} seconds`);
    this.name = 'NoAnswer';
  }
}

/** The error of a request whose target is unreachable: the reason in plain words, and the system error. */
export type Unreachable = (why: string, cause?: Error) => Error;

/** The client's error for a failed request to a target. */
export function faultOf(target: Target, error: Error, unreachable: Unreachable): Error {
  if (error instanceof NoAnswer) return timeout(error.message);
  return guardFault(error) ?? unreachable(callFault(error, target), error);
}

/** Begins a request. Rejects if the address is not allowed. */
export async function dial(target: Target, { method, path, headers, body, upgrade, clock, answerMs }: DialOptions): Promise<Exchange> {
  if (target.connect === undefined) checkHost(target.guard, target.host);
  const client = target.client ?? singleUse(target, clock);
  const exchange = await client.open({ host: target.host, port: target.port }, { method, path, headers, body, upgrade });
  limitTime(exchange, clock, answerMs, body);
  return exchange;
}

/** Its connection is closed after the request. */
function singleUse({ tls, guard, connect }: Target, clock: Clock): HttpClient {
  const client = new HttpClient({
    clock,
    lookup: guardedLookup(guard),
    connectLocally: connect,
    ...(tls !== undefined && connect === undefined && { tls: tlsSettings({ ...tls, insecure: !tls.verify, isOwn: guard.refused }) }),
    maxConnections: 1,
    maxCalls: 0,
  });
  client.retire();
  return client;
}

/** Ends a request whose response does not begin in time. */
function limitTime(exchange: Exchange, clock: Clock, answerMs: number, body: Readable | undefined): void {
  let cancel: Cancel = () => {};
  let isOver = false;
  let sentBefore = 0;
  const onTimeout = (): void => {
    // A long body that the target keeps reading resets the timeout.
    if (body?.readableEnded === false && exchange.bytesSent > sentBefore) awaitAnswer();
    else exchange.destroy(new NoAnswer(answerMs));
  };
  const awaitAnswer = (): void => {
    cancel();
    if (isOver) return;
    sentBefore = exchange.bytesSent;
    cancel = clock.after(answerMs, onTimeout);
  };
  const over = (): void => {
    isOver = true;
    cancel();
  };
  exchange.head.then(over, over);
  exchange.whenSent(() => {
    awaitAnswer();
    body?.once('end', awaitAnswer);
  });
}
