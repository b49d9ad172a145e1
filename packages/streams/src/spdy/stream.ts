/** A stream of a SPDY connection. */
import { Duplex } from 'node:stream';
import { controlFrame, dataFrame, FIN, FrameType, numbers } from './frames.ts';
import type { Headers } from './headers.ts';

/** Largest data frame that is sent. */
const CHUNK = 32 * 1024;
export const REFUSED_STREAM = 3;
/** What a frame that waits for its reader costs in memory, however short it is. */
const FRAME_COST = 256;

/** The connection of a stream. */
export interface StreamOwner {
  send(frame: Buffer, done?: (error?: Error) => void): void;
  /** Counts what waits for a reader. */
  hold(cost: number): void;
  /** The reader has taken it, or never will. */
  release(cost: number): void;
  forget(stream: SpdyStream): void;
}

export class SpdyStream extends Duplex {
  readonly id: number;
  readonly headers: Headers;
  private readonly connection: StreamOwner;
  /** Payloads that the reader has not read yet. */
  private waitingPayloads: Buffer[] = [];
  /** What the waiting payloads cost, and what those do that the reader was given last. */
  private waitingCost = 0;
  private givenCost = 0;
  private isAsked = false;
  private remoteEnded = false;

  constructor(connection: StreamOwner, id: number, headers: Headers) {
    super({ allowHalfOpen: true, readableHighWaterMark: 1 });
    this.connection = connection;
    this.id = id;
    this.headers = headers;
    this.on('error', () => {});
  }
  /** Refuses or breaks off the stream. */
  reset(status = REFUSED_STREAM): void {
    this.connection.send(controlFrame(FrameType.reset, numbers(this.id, status)));
    this.destroy();
  }
  /** Takes what the client sends. */
  receive(payload: Buffer, ends: boolean): void {
    if (this.remoteEnded || this.destroyed) return;
    this.remoteEnded = ends;
    if (payload.length > 0) {
      const cost = payload.length + FRAME_COST;
      this.waitingPayloads.push(payload);
      this.waitingCost += cost;
      this.connection.hold(cost);
    }
    if (this.isAsked || this.waitingPayloads.length === 0) this.give();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    for (let at = 0; at < chunk.length - CHUNK; at += CHUNK) this.connection.send(dataFrame(this.id, chunk.subarray(at, at + CHUNK)));
    const tail = chunk.length === 0 ? 0 : Math.floor((chunk.length - 1) / CHUNK) * CHUNK;
    this.connection.send(dataFrame(this.id, chunk.subarray(tail)), done);
  }
  override _final(done: (error?: Error) => void): void {
    this.connection.send(dataFrame(this.id, Buffer.alloc(0), FIN), done);
  }
  override _read(): void {
    this.isAsked = true;
    this.release();
    if (this.waitingPayloads.length > 0) this.give();
  }
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.givenCost += this.waitingCost;
    this.waitingPayloads = [];
    this.release();
    this.connection.forget(this);
    done(error);
  }
  /** Gives the reader all that waits, in one piece, and the end behind it. */
  private give(): void {
    const payloads = this.waitingPayloads;
    this.waitingPayloads = [];
    this.givenCost += this.waitingCost;
    this.waitingCost = 0;
    if (payloads.length > 0) {
      this.isAsked = false;
      this.push(payloads.length === 1 ? payloads[0] : Buffer.concat(payloads));
    }
    if (this.remoteEnded) this.push(null);
  }
  private release(): void {
    const cost = this.givenCost;
    this.givenCost = 0;
    if (cost > 0) this.connection.release(cost);
  }
}
