/**
 * One of the watches of a page: its events go out in batches, as the bytes that came.
 *
 *   opening → open → ended
 */
import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { type ApiError, notAcceptable, requestTooLarge, serviceUnavailable } from '@plat-dev/meta/errors';
import type { WatchAnswer } from './backend.ts';

/** A batch is sent after this time, or when it has so many bytes. */
export const BATCH_MS = 50;
export const BATCH_BYTES = 64 * 1024;
/** Bytes of a message to the page; a single event may have more. */
export const MESSAGE_BYTES = 256 * 1024;
/** Bytes of one event; a watch with a larger one ends. */
export const EVENT_BYTES = 64 * 1024 * 1024;
/** Bytes of the error of a watch that is refused. */
const REFUSAL_BYTES = 1024 * 1024;
const LINE_END = 0x0a;

export interface WatchOutlet {
  readonly id: number;
  readonly clock: Clock;
  /** Sends parts of one message. */
  send(parts: readonly (Buffer | string)[]): void;
  /** The watch has ended. */
  ended(): void;
}

export class OpenWatch {
  private readonly outlet: WatchOutlet;
  private readonly aborter = new AbortController();
  private body: Readable | undefined;
  private isPaused = false;
  private isEnded = false;
  /** Pieces of a line whose end has not come. */
  private line: Buffer[] = [];
  private lineBytes = 0;
  private batch: (Buffer | string)[] = [];
  private batchBytes = 0;
  private cancelFlush: Cancel | undefined;

  constructor(outlet: WatchOutlet) {
    this.outlet = outlet;
  }
  get signal(): AbortSignal {
    return this.aborter.signal;
  }
  /** Sends what the API answers. */
  async follow({ status, contentType, body }: WatchAnswer): Promise<void> {
    // What is broken off is reported as the end of the stream.
    body.on('error', () => {});
    if (this.isEnded) {
      body.destroy();
      return;
    }
    this.body = body;
    if (this.isPaused) body.pause();
    if (status !== 200) return this.refuse(status, await textOf(body));
    if (!contentType.startsWith('application/json')) return this.fail(notAcceptable(['application/json']));
    this.outlet.send([`{"id":${this.outlet.id},"status":200}`]);
    body.on('data', (chunk: Buffer) => this.take(chunk));
    body.once('close', () => this.end('null'));
  }
  /** The API is not read while the page does not read. */
  pause(): void {
    this.isPaused = true;
    this.body?.pause();
  }
  resume(): void {
    this.isPaused = false;
    this.body?.resume();
  }
  fail(error: ApiError): void {
    this.refuse(error.code, JSON.stringify(error.status()));
  }
  /** The page needs it no longer, or is gone: it is told nothing. */
  close(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.cancelFlush?.();
    this.aborter.abort();
    this.body?.destroy();
    this.outlet.ended();
  }

  private refuse(status: number, text: string): void {
    if (this.isEnded) return;
    this.outlet.send([`{"id":${this.outlet.id},"status":${status}}`]);
    this.end(isJson(text) ? text : 'null');
  }
  private end(reason: string): void {
    if (this.isEnded) return;
    this.flush();
    this.outlet.send([`{"id":${this.outlet.id},"end":${reason.trim()}}`]);
    this.close();
  }
  private take(chunk: Buffer): void {
    let start = 0;
    for (let at = chunk.indexOf(LINE_END); at >= 0 && !this.isEnded; at = chunk.indexOf(LINE_END, start)) {
      this.line.push(chunk.subarray(start, at));
      this.add(Buffer.concat(this.line));
      this.line = [];
      this.lineBytes = 0;
      start = at + 1;
    }
    if (start === chunk.length || this.isEnded) return;
    this.line.push(chunk.subarray(start));
    this.lineBytes += chunk.length - start;
    if (this.lineBytes > EVENT_BYTES) this.end(JSON.stringify(requestTooLarge(`an event has more than ${EVENT_BYTES} bytes`).status()));
  }
  private add(event: Buffer): void {
    if (event.length === 0) return;
    // Aggregated servers send events, too: one that is no JSON could end its message and speak for other watches.
    if (!isUtf8(event) || !isJson(String(event))) {
      this.end(JSON.stringify(serviceUnavailable('the API sent an event that is not JSON').status()));
      return;
    }
    if (this.batchBytes + event.length > MESSAGE_BYTES) this.flush();
    this.batch.push(this.batch.length === 0 ? `{"id":${this.outlet.id},"events":[` : ',', event);
    this.batchBytes += event.length;
    if (this.batchBytes >= BATCH_BYTES) this.flush();
    else this.cancelFlush ??= this.outlet.clock.after(BATCH_MS, () => this.flush());
  }
  private flush(): void {
    this.cancelFlush?.();
    this.cancelFlush = undefined;
    if (this.batch.length === 0) return;
    this.batch.push(']}');
    this.outlet.send(this.batch);
    this.batch = [];
    this.batchBytes = 0;
  }
}

async function textOf(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > REFUSAL_BYTES) return '';
      chunks.push(chunk);
    }
  } catch {
    return '';
  }
  return Buffer.concat(chunks).toString('utf8');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
