/**
 * The server side of a SPDY/3.1 connection, as clients use it for exec, attach and port-forward: the client opens streams, data
 * flows both ways, either side ends its half. Clients and agents of this protocol send no window updates, so neither does this:
 * readers that do not read stop the whole connection.
 */
import type { Duplex } from 'node:stream';
import { nextTurn } from '@plat-dev/lib/next-turn';
import { controlFrame, FIN, type Frame, FrameReader, FrameType, numbers } from './frames.ts';
import { HeaderReader, HeaderWriter } from './headers.ts';
import { REFUSED_STREAM, SpdyStream, type StreamOwner } from './stream.ts';

/** Streams of a connection at a time; further ones are refused. */
const STREAM_LIMIT = 256;
/** What may wait for the readers of all streams; more is not read from the connection. */
const WINDOW_BYTES = 256 * 1024;
/** Frames that are handled in one turn of the loop. */
const FRAMES_PER_TURN = 256;

export interface ConnectionEvents {
  /** The client opened a stream; it has its reply already. */
  stream(stream: SpdyStream): void;
  /** Called once. */
  close(): void;
}

export class SpdyConnection implements StreamOwner {
  private readonly socket: Duplex;
  private readonly events: ConnectionEvents;
  private readonly frames = new FrameReader();
  private readonly reader = new HeaderReader();
  private readonly writer = new HeaderWriter();
  private readonly streams = new Map<number, SpdyStream>();
  /** What waits for the readers of all streams. */
  private unread = 0;
  private last = 0;
  private working = false;
  private closed = false;
  /** Continues where answers wait for the client to read. */
  private drained: (() => void) | undefined;

  constructor(socket: Duplex, head: Buffer, events: ConnectionEvents) {
    this.socket = socket;
    this.events = events;
    this.frames.add(head);
    socket.on('data', (chunk: Buffer) => {
      this.frames.add(chunk);
      void this.work();
    });
    socket.on('drain', () => this.drained?.());
    socket.on('error', () => this.end());
    socket.on('end', () => this.end());
    socket.on('close', () => this.end());
    if (head.length > 0) void this.work();
  }

  send(frame: Buffer, done?: (error?: Error) => void): void {
    if (this.closed) done?.(new Error('the connection is closed'));
    else this.socket.write(frame, (error) => done?.(error ?? undefined));
  }
  /** Announces the end, and closes when everything is written. */
  close(): void {
    if (this.closed) return;
    this.send(controlFrame(FrameType.goAway, numbers(this.last, 0)));
    this.closed = true;
    this.socket.end();
    this.finish();
  }
  hold(cost: number): void {
    this.unread += cost;
  }
  release(cost: number): void {
    const isFull = this.unread > WINDOW_BYTES;
    this.unread -= cost;
    if (isFull && this.unread <= WINDOW_BYTES) void this.work();
  }
  forget(stream: SpdyStream): void {
    this.streams.delete(stream.id);
  }

  private end(): void {
    if (this.closed) return;
    this.closed = true;
    this.socket.destroy();
    this.finish();
  }
  private finish(): void {
    this.reader.close();
    for (const stream of [...this.streams.values()]) stream.destroy();
    this.drained?.();
    this.events.close();
  }

  /** Frames are handled one after another: headers of one must be read before the next. Meanwhile nothing more is read. */
  private async work(): Promise<void> {
    if (this.working) return;
    this.working = true;
    this.socket.pause();
    try {
      for (let count = 1; !this.closed && this.unread <= WINDOW_BYTES; count++) {
        const frame = this.frames.next();
        if (frame === undefined) break;
        await this.handle(frame);
        if (count % FRAMES_PER_TURN === 0) await nextTurn(this);
      }
    } catch {
      this.end();
    } finally {
      this.working = false;
    }
    if (this.unread <= WINDOW_BYTES && !this.closed) this.socket.resume();
  }
  private handle(frame: Frame): Promise<void> | void {
    if (frame.kind === 'data') {
      this.streams.get(frame.stream)?.receive(frame.payload, (frame.flags & FIN) !== 0);
      return;
    }
    const { type, payload } = frame;
    switch (type) {
      case FrameType.synStream:
        return this.open(payload, (frame.flags & FIN) !== 0);
      case FrameType.headers:
        return this.moreHeaders(payload, (frame.flags & FIN) !== 0);
      case FrameType.reset:
        this.streams.get(payload.length < 4 ? 0 : payload.readUInt32BE(0))?.destroy();
        return;
      case FrameType.ping:
        // Those of a client have odd numbers; others are answers.
        if (payload.length >= 4 && payload.readUInt32BE(0) % 2 === 1)
          return this.answer(controlFrame(FrameType.ping, payload.subarray(0, 4)));
        return;
      default:
        return;
    }
  }
  /** Answers do not pile up for a client that does not read: nothing more of it is read until it does. */
  private async answer(frame: Buffer): Promise<void> {
    this.send(frame);
    if (!this.socket.writableNeedDrain || this.closed) return;
    await new Promise<void>((resolve) => {
      this.drained = resolve;
    });
    this.drained = undefined;
  }
  private async open(payload: Buffer, ends: boolean): Promise<void> {
    if (payload.length < 10) throw new Error('a frame is too short');
    const id = payload.readUInt32BE(0) & 0x7fffffff;
    // The block belongs to the compressed stream, whether this stream is accepted or not.
    const headers = await this.reader.read(payload.subarray(10));
    if (id <= this.last || id % 2 === 0) throw new Error('a stream has a wrong number');
    this.last = id;
    if (this.streams.size >= STREAM_LIMIT) return this.answer(controlFrame(FrameType.reset, numbers(id, REFUSED_STREAM)));
    const stream = new SpdyStream(this, id, headers);
    this.streams.set(id, stream);
    await this.answer(controlFrame(FrameType.synReply, Buffer.concat([numbers(id), this.writer.write(new Map())])));
    if (this.closed) return;
    this.events.stream(stream);
    if (ends) stream.receive(Buffer.alloc(0), true);
  }
  private async moreHeaders(payload: Buffer, ends: boolean): Promise<void> {
    if (payload.length < 4) throw new Error('a frame is too short');
    await this.reader.read(payload.subarray(4));
    if (ends) this.streams.get(payload.readUInt32BE(0) & 0x7fffffff)?.receive(Buffer.alloc(0), true);
  }
}
