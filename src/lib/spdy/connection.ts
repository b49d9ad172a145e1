/**
 * The server side of a SPDY/3.1 connection, as clients use it for exec, attach and port-forward: the client opens streams, data
 * flows both ways, either side ends its half. Clients and agents of this protocol send no window updates, so neither does this:
 * a reader that does not read stops the whole connection.
 */
import { Duplex } from 'node:stream';
import { controlFrame, dataFrame, FIN, type Frame, FrameType, numbers, parseFrame } from './frames.ts';
import { HeaderReader, type Headers, HeaderWriter } from './headers.ts';

/** Streams of a connection at a time; further ones are refused. */
const STREAM_LIMIT = 256;
/** Largest data frame that is sent. */
const CHUNK = 32 * 1024;
const REFUSED_STREAM = 3;

export class SpdyStream extends Duplex {
  readonly id: number;
  readonly headers: Headers;
  private readonly connection: SpdyConnection;
  /** Whether the client closed its half. */
  remoteEnded = false;

  constructor(connection: SpdyConnection, id: number, headers: Headers) {
    super({ allowHalfOpen: true });
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

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    for (let at = 0; at < chunk.length - CHUNK; at += CHUNK) this.connection.send(dataFrame(this.id, chunk.subarray(at, at + CHUNK)));
    const tail = chunk.length === 0 ? 0 : Math.floor((chunk.length - 1) / CHUNK) * CHUNK;
    this.connection.send(dataFrame(this.id, chunk.subarray(tail)), done);
  }
  override _final(done: (error?: Error) => void): void {
    this.connection.send(dataFrame(this.id, Buffer.alloc(0), FIN), done);
  }
  override _read(): void {
    this.connection.resume(this);
  }
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.connection.forget(this);
    done(error);
  }
  /** Returns false if nothing more should be read for now. */
  receive(payload: Buffer, ends: boolean): boolean {
    if (this.remoteEnded || this.destroyed) return true;
    const more = payload.length === 0 || this.push(payload);
    if (ends) {
      this.remoteEnded = true;
      this.push(null);
    }
    return more;
  }
}

export interface ConnectionEvents {
  /** The client opened a stream; it has its reply already. */
  stream(stream: SpdyStream): void;
  /** Called once. */
  close(): void;
}

export class SpdyConnection {
  private readonly socket: Duplex;
  private readonly events: ConnectionEvents;
  private readonly reader = new HeaderReader();
  private readonly writer = new HeaderWriter();
  private readonly streams = new Map<number, SpdyStream>();
  /** Streams whose reader does not read. */
  private readonly full = new Set<SpdyStream>();
  private rest: Buffer;
  private last = 0;
  private working = false;
  private closed = false;

  constructor(socket: Duplex, head: Buffer, events: ConnectionEvents) {
    this.socket = socket;
    this.events = events;
    this.rest = head;
    socket.on('data', (chunk: Buffer) => {
      this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
      void this.work();
    });
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
  resume(stream: SpdyStream): void {
    if (this.full.delete(stream) && this.full.size === 0) {
      this.socket.resume();
      void this.work();
    }
  }
  forget(stream: SpdyStream): void {
    this.streams.delete(stream.id);
    this.resume(stream);
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
    this.events.close();
  }

  /** Frames are handled one after another: headers of one must be read before the next. */
  private async work(): Promise<void> {
    if (this.working) return;
    this.working = true;
    this.socket.pause();
    try {
      while (!this.closed && this.full.size === 0) {
        const read = parseFrame(this.rest);
        if (read === undefined) break;
        this.rest = this.rest.subarray(read.size);
        await this.handle(read.frame);
      }
    } catch {
      this.end();
    } finally {
      this.working = false;
    }
    if (this.full.size === 0 && !this.closed) this.socket.resume();
  }
  private handle(frame: Frame): Promise<void> | void {
    if (frame.kind === 'data') {
      const stream = this.streams.get(frame.stream);
      if (stream !== undefined && !stream.receive(frame.payload, (frame.flags & FIN) !== 0)) this.full.add(stream);
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
        if (payload.length >= 4 && payload.readUInt32BE(0) % 2 === 1) this.send(controlFrame(FrameType.ping, payload.subarray(0, 4)));
        return;
      default:
        return;
    }
  }
  private async open(payload: Buffer, ends: boolean): Promise<void> {
    if (payload.length < 10) throw new Error('a frame is too short');
    const id = payload.readUInt32BE(0) & 0x7fffffff;
    // The block belongs to the compressed stream, whether this stream is accepted or not.
    const headers = await this.reader.read(payload.subarray(10));
    if (id <= this.last || id % 2 === 0) throw new Error('a stream has a wrong number');
    this.last = id;
    if (this.streams.size >= STREAM_LIMIT) {
      this.send(controlFrame(FrameType.reset, numbers(id, REFUSED_STREAM)));
      return;
    }
    const stream = new SpdyStream(this, id, headers);
    this.streams.set(id, stream);
    this.send(controlFrame(FrameType.synReply, Buffer.concat([numbers(id), this.writer.write(new Map())])));
    this.events.stream(stream);
    if (ends) stream.receive(Buffer.alloc(0), true);
  }
  private async moreHeaders(payload: Buffer, ends: boolean): Promise<void> {
    if (payload.length < 4) throw new Error('a frame is too short');
    await this.reader.read(payload.subarray(4));
    if (ends) this.streams.get(payload.readUInt32BE(0) & 0x7fffffff)?.receive(Buffer.alloc(0), true);
  }
}
