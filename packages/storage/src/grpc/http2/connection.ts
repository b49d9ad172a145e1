/**
 * A connection of HTTP/2 to a gRPC server, written for short calls in great number: a call is one write of headers and body, calls
 * of one turn of the event loop share a write, and nothing is made for a call but its stream. The objects that `node:http2` makes
 * for a request cost four times as much as all of this.
 *
 *   opening (SETTINGS of the server are awaited) → open → draining (GOAWAY: no new streams) → closed
 */
import type { Socket } from 'node:net';
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { inNextTurn } from '@plat-dev/lib/next-turn';
import { GrpcError } from '../status.ts';
import {
  ACK,
  CANCEL,
  COMPRESSION_ERROR,
  CONTINUATION,
  DATA,
  ENABLE_PUSH,
  END_HEADERS,
  END_STREAM,
  ENHANCE_YOUR_CALM,
  FLOW_CONTROL_ERROR,
  FRAME_HEAD_BYTES,
  FRAME_SIZE_ERROR,
  FrameReader,
  frame,
  GOAWAY,
  HEADER_TABLE_SIZE,
  HEADERS,
  INITIAL_WINDOW_SIZE,
  LARGEST_FRAME,
  MAX_CONCURRENT_STREAMS,
  NO_ERROR,
  numberFrame,
  PING,
  PREFACE,
  PRIORITY,
  ProtocolFault,
  PUSH_PROMISE,
  REFUSED_STREAM,
  RST_STREAM,
  SETTINGS,
  settingsFrame,
  unpadded,
  WINDOW_UPDATE,
  writeFrameHead,
} from './frames.ts';
import { HeaderDecoder } from './header-decoder.ts';
import { HeaderEncoder } from './header-encoder.ts';
import { Outgoing } from './outgoing.ts';
import type { ResponseHeaders, Stream } from './stream.ts';

export interface ConnectionEvents {
  /** The settings of the server have come. */
  open(): void;
  /** No new streams are possible; those in progress go on. */
  draining(): void;
  /** Called once; with the reason, unless the server closed the connection without one. */
  closed(error: Error | undefined): void;
}

/** Windows before anything else is agreed on. */
const DEFAULT_WINDOW = 65_535;
const LARGEST_WINDOW = 2 ** 31 - 1;
/** Unconfirmed bytes of all streams: a stream that is not read must not stop the others. Confirmed as they come. */
const CONNECTION_WINDOW = 64 * 1024 * 1024;
/** Maximum headers of a response. */
const LARGEST_HEADERS = 64 * 1024;
/** Maximum unsent bytes at which frames of the server are still answered: one that asks and does not read is cut off. */
export const MOST_UNSENT_BYTES = 1024 * 1024;
/**
 * A ping of the server is answered after this time. Servers in Go measure the connection with pings, one at a time, whenever data
 * comes: answered at once, each request that comes alone would cost another frame, and a turn, in both directions.
 */
export const PING_ANSWER_MS = 100;
/** Unanswered pings; when there are more, they are answered at once. */
export const MOST_PINGS = 8;
/** Stream numbers end here; a new connection begins with 1 again. */
const LAST_STREAM = 2 ** 31 - 3;

export class Http2Connection {
  readonly #socket: Socket;
  readonly #events: ConnectionEvents;
  readonly #windowBytes: number;
  readonly #streams = new Map<number, Stream>();
  /** Streams that the server does not allow yet. Bounded by the callers, who limit their calls. */
  #waiting: Stream[] = [];
  readonly #encoder = new HeaderEncoder();
  readonly #decoder = new HeaderDecoder();
  readonly #reader = new FrameReader((type, flags, stream, payload) => this.#take(type, flags, stream, payload));
  #state: 'opening' | 'open' | 'draining' | 'closed' = 'opening';
  #nextId = 1;
  #mostStreams = Number.POSITIVE_INFINITY;
  #streamWindow = DEFAULT_WINDOW;
  /** Bytes of bodies that the server accepts on the whole connection. */
  #window = DEFAULT_WINDOW;
  #unconfirmed = 0;
  readonly #out = new Outgoing();
  #flushing = false;
  /** A header block whose end has not come. */
  #headerBlock: { readonly stream: number; readonly flags: number; readonly parts: Buffer[]; bytes: number } | undefined;
  #pinged: (() => void) | undefined;
  /** Payloads of pings that are not answered yet. */
  #pings: Buffer[] = [];
  #cancelPings: Cancel = () => {};
  readonly #clock: Clock;

  /** `socket` is connected, or connecting. `windowBytes`: unconfirmed bytes of one stream. */
  constructor(socket: Socket, windowBytes: number, clock: Clock, events: ConnectionEvents) {
    this.#socket = socket;
    this.#clock = clock;
    this.#windowBytes = windowBytes;
    this.#events = events;
    socket.on('data', (chunk: Buffer) => this.#received(chunk));
    socket.on('error', (error) => this.#end(error));
    socket.on('close', () => this.#end(undefined));
    const settings = settingsFrame([
      [ENABLE_PUSH, 0],
      [INITIAL_WINDOW_SIZE, windowBytes],
    ]);
    const window = numberFrame(WINDOW_UPDATE, 0, CONNECTION_WINDOW - DEFAULT_WINDOW);
    this.#out.append(Buffer.concat([PREFACE, settings, window]));
    this.#flush();
  }

  get streams(): number {
    return this.#streams.size + this.#waiting.length;
  }

  /**
   * Sends a request: its whole body, or none yet. A body comes in two parts, which are copied: its header need not be joined with it.
   * Throws GrpcError `refused`.
   */
  begin(stream: Stream, head?: Buffer, body?: Buffer): void {
    if (this.#state !== 'open') throw new GrpcError('refused', 'UNAVAILABLE', 'the connection takes no more calls');
    const allowed = this.#streams.size < this.#mostStreams;
    if (head === undefined || body === undefined) {
      if (allowed) this.#start(stream);
    } else {
      stream.ending = true;
      if (allowed && head.length + body.length <= Math.min(LARGEST_FRAME, this.#streamWindow, this.#window)) {
        this.#startWhole(stream, head, body);
        return;
      }
      stream.pending.push(Buffer.concat([head, body]));
      if (allowed) this.#start(stream);
    }
    if (!allowed) this.#waiting.push(stream);
  }

  /** More of a request. Without effect when the stream is over. */
  write(stream: Stream, body: Buffer): void {
    if (this.#state === 'closed') return;
    stream.pending.push(body);
    if (this.#streams.has(stream.id)) this.#pump(stream);
  }

  /** Ends a stream that is not over; its receiver gets nothing more. */
  reset(stream: Stream): void {
    const at = this.#waiting.indexOf(stream);
    if (at >= 0) this.#waiting.splice(at, 1);
    if (!this.#streams.has(stream.id)) return;
    stream.sent = false;
    this.#finish(stream);
  }

  pause(stream: Stream): void {
    stream.paused = true;
  }
  resume(stream: Stream): void {
    stream.paused = false;
    this.#confirm(stream);
  }

  /** Calls when the server has answered; a new ping replaces one that was not answered. */
  ping(onAnswer: () => void): void {
    this.#pinged = onAnswer;
    this.#send(frame(PING, 0, 0, Buffer.alloc(8)));
  }

  /** Ends the connection and every stream on it. */
  close(error?: Error): void {
    if (this.#state === 'closed') return;
    const code = error instanceof ProtocolFault ? error.code : NO_ERROR;
    const last = Buffer.alloc(8);
    last.writeUInt32BE(code, 4);
    this.#out.append(frame(GOAWAY, 0, 0, last));
    this.#flush();
    this.#end(error);
  }

  #start(stream: Stream): void {
    const block = this.#open(stream);
    if (block === undefined) return;
    this.#send(frame(HEADERS, END_HEADERS, stream.id, block));
    this.#pump(stream);
  }

  /** The usual case: headers and body are sent together. */
  #startWhole(stream: Stream, head: Buffer, body: Buffer): void {
    const block = this.#open(stream);
    if (block === undefined) return;
    const size = head.length + body.length;
    const out = this.#out;
    let at = out.reserve(2 * FRAME_HEAD_BYTES + block.length + size);
    at = writeFrameHead(out.bytes, at, block.length, HEADERS, END_HEADERS, stream.id);
    at += block.copy(out.bytes, at);
    at = writeFrameHead(out.bytes, at, size, DATA, END_STREAM, stream.id);
    at += head.copy(out.bytes, at);
    body.copy(out.bytes, at);
    this.#window -= size;
    stream.sent = true;
    this.#flushSoon();
  }

  /** Gives a stream its number; returns its headers. Undefined: there are no numbers left, and the stream is over. */
  #open(stream: Stream): Buffer | undefined {
    if (this.#nextId > LAST_STREAM) {
      stream.receiver.broken(new GrpcError('refused', 'UNAVAILABLE', 'the connection has used up its stream numbers'));
      this.#drain();
      return undefined;
    }
    stream.id = this.#nextId;
    this.#nextId += 2;
    stream.window = this.#streamWindow;
    this.#streams.set(stream.id, stream);
    return this.#encoder.encode(stream.headers, stream.ownHeaders);
  }

  /** Sends as much of a body as the windows allow. */
  #pump(stream: Stream): void {
    while (stream.pending.length > 0) {
      const body = stream.pending[0] as Buffer;
      const room = Math.min(LARGEST_FRAME, stream.window, this.#window);
      if (room <= 0 && body.length > 0) return;
      const part = body.length > room ? body.subarray(0, room) : body;
      if (part === body) stream.pending.shift();
      else stream.pending[0] = body.subarray(room);
      stream.window -= part.length;
      this.#window -= part.length;
      stream.sent = stream.ending && stream.pending.length === 0;
      this.#send(frame(DATA, stream.sent ? END_STREAM : 0, stream.id, part));
    }
  }
  #pumpAll(): void {
    for (const stream of this.#streams.values()) if (stream.pending.length > 0) this.#pump(stream);
  }

  #received(chunk: Buffer): void {
    if (this.#state !== 'closed') this.#orClose(() => this.#reader.push(chunk));
  }
  /** A fault of the server ends the connection. */
  #orClose(run: () => void): void {
    try {
      run();
    } catch (error) {
      if (!(error instanceof ProtocolFault)) throw error;
      this.close(error);
    }
  }

  #take(type: number, flags: number, id: number, payload: Buffer): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'opening' && type !== SETTINGS) throw new ProtocolFault('the server does not speak HTTP/2');
    if (this.#headerBlock !== undefined && type !== CONTINUATION) throw new ProtocolFault('headers are interrupted by another frame');
    if (type === DATA) this.#takeData(flags, id, payload);
    else if (type === HEADERS) this.#takeHeaders(flags, id, unpadded(flags, payload, (flags & PRIORITY) !== 0));
    else if (type === CONTINUATION) this.#continueHeaders(flags, id, payload);
    else if (type === WINDOW_UPDATE) this.#takeWindow(id, payload);
    else if (type === RST_STREAM) this.#takeReset(id, payload);
    else if (type === SETTINGS) this.#takeSettings(flags, id, payload);
    else if (type === PING) this.#takePing(flags, payload);
    else if (type === GOAWAY) this.#takeGoaway(payload);
    else if (type === PUSH_PROMISE) throw new ProtocolFault('the server pushes, which was switched off');
  }

  /** Undefined for a stream that is over; a stream that never was is a fault. */
  #streamOf(id: number): Stream | undefined {
    const stream = this.#streams.get(id);
    if (stream === undefined && (id === 0 || id % 2 === 0 || id >= this.#nextId)) throw new ProtocolFault(`a frame names the stream ${id}`);
    return stream;
  }

  #takeData(flags: number, id: number, payload: Buffer): void {
    const stream = this.#streamOf(id);
    this.#unconfirmed += payload.length;
    if (this.#unconfirmed >= CONNECTION_WINDOW / 2) {
      this.#send(numberFrame(WINDOW_UPDATE, 0, this.#unconfirmed));
      this.#unconfirmed = 0;
    }
    if (stream === undefined) return;
    stream.unconfirmed += payload.length;
    if (stream.unconfirmed > this.#windowBytes) throw new ProtocolFault('the server sends more than its window allows', FLOW_CONTROL_ERROR);
    if (!stream.responded) throw new ProtocolFault('a body comes before its headers');
    const last = (flags & END_STREAM) !== 0;
    if (last) this.#finish(stream);
    const chunk = unpadded(flags, payload, false);
    stream.receiver.data(chunk, last);
    if (!last) this.#confirm(stream);
  }
  #confirm(stream: Stream): void {
    if (stream.paused || stream.unconfirmed < this.#windowBytes / 2 || !this.#streams.has(stream.id)) return;
    this.#send(numberFrame(WINDOW_UPDATE, stream.id, stream.unconfirmed));
    stream.unconfirmed = 0;
  }

  #takeHeaders(flags: number, id: number, block: Buffer): void {
    if ((flags & END_HEADERS) !== 0) {
      this.#takeBlock(flags, id, block);
      return;
    }
    this.#headerBlock = { stream: id, flags, parts: [block], bytes: block.length };
  }
  #continueHeaders(flags: number, id: number, part: Buffer): void {
    const open = this.#headerBlock;
    if (open?.stream !== id) throw new ProtocolFault('headers are continued that did not begin');
    open.parts.push(part);
    open.bytes += part.length;
    if (open.bytes > LARGEST_HEADERS) throw new ProtocolFault(`headers of a response are larger than ${LARGEST_HEADERS} bytes`);
    if ((flags & END_HEADERS) === 0) return;
    this.#headerBlock = undefined;
    this.#takeBlock(open.flags, id, Buffer.concat(open.parts));
  }
  #takeBlock(flags: number, id: number, block: Buffer): void {
    const stream = this.#streamOf(id);
    const headers: ResponseHeaders = { status: undefined, type: undefined, grpcStatus: undefined, grpcMessage: undefined };
    try {
      // Blocks of streams that are over count as well: they change the table.
      this.#decoder.decode(block, (name, value) => {
        if (name === ':status') headers.status = value;
        else if (name === 'content-type') headers.type = value;
        else if (name === 'grpc-status') headers.grpcStatus = value;
        else if (name === 'grpc-message') headers.grpcMessage = value;
      });
    } catch (error) {
      throw new ProtocolFault((error as Error).message, COMPRESSION_ERROR);
    }
    if (stream === undefined) return;
    // An interim response, 100 to 199, is followed by the one that counts.
    if (!stream.responded && headers.status?.startsWith('1') === true) return;
    stream.responded = true;
    const last = (flags & END_STREAM) !== 0;
    if (last) this.#finish(stream);
    stream.receiver.headers(headers, last);
  }

  #takeReset(id: number, payload: Buffer): void {
    if (payload.length !== 4) throw new ProtocolFault('a RST_STREAM frame has another length than 4', FRAME_SIZE_ERROR);
    const stream = this.#streamOf(id);
    if (stream === undefined) return;
    stream.sent = true;
    this.#finish(stream);
    const code = payload.readUInt32BE(0);
    if (code === REFUSED_STREAM && !stream.responded)
      stream.receiver.broken(new GrpcError('refused', 'UNAVAILABLE', 'the server refused the stream'));
    else
      stream.receiver.broken(
        new GrpcError('lost', code === CANCEL ? 'CANCELLED' : 'INTERNAL', `the server reset the stream with code ${code}`),
      );
  }

  #takeWindow(id: number, payload: Buffer): void {
    if (payload.length !== 4) throw new ProtocolFault('a WINDOW_UPDATE frame has another length than 4', FRAME_SIZE_ERROR);
    const more = payload.readUInt32BE(0) & LARGEST_WINDOW;
    if (more === 0) throw new ProtocolFault('a window grows by 0');
    if (id === 0) {
      this.#window += more;
      if (this.#window > LARGEST_WINDOW) throw new ProtocolFault('a window is too large', FLOW_CONTROL_ERROR);
      this.#pumpAll();
      return;
    }
    const stream = this.#streamOf(id);
    if (stream === undefined) return;
    stream.window += more;
    if (stream.window > LARGEST_WINDOW) throw new ProtocolFault('a window is too large', FLOW_CONTROL_ERROR);
    this.#pump(stream);
  }

  #takeSettings(flags: number, id: number, payload: Buffer): void {
    if (id !== 0 || payload.length % 6 !== 0) throw new ProtocolFault('a SETTINGS frame is not valid', FRAME_SIZE_ERROR);
    if ((flags & ACK) !== 0) return;
    for (let at = 0; at < payload.length; at += 6) this.#set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
    this.#answer(frame(SETTINGS, ACK, 0));
    if (this.#state === 'opening') {
      this.#state = 'open';
      this.#events.open();
    }
    this.#pumpAll();
    this.#startWaiting();
  }
  #set(id: number, value: number): void {
    if (id === HEADER_TABLE_SIZE) this.#encoder.limit(value);
    else if (id === MAX_CONCURRENT_STREAMS) this.#mostStreams = value;
    else if (id === INITIAL_WINDOW_SIZE) {
      if (value > LARGEST_WINDOW) throw new ProtocolFault('a window is too large', FLOW_CONTROL_ERROR);
      // Windows of streams in progress change too, and may become negative.
      for (const stream of this.#streams.values()) stream.window += value - this.#streamWindow;
      this.#streamWindow = value;
    }
  }

  #takePing(flags: number, payload: Buffer): void {
    if (payload.length !== 8) throw new ProtocolFault('a PING frame has another length than 8', FRAME_SIZE_ERROR);
    if ((flags & ACK) === 0) {
      // The payload is a part of what was read, and is kept longer.
      this.#pings.push(Buffer.from(payload));
      if (this.#pings.length > MOST_PINGS) this.#answerPings();
      else if (this.#pings.length === 1)
        this.#cancelPings = this.#clock.after(PING_ANSWER_MS, () => this.#orClose(() => this.#answerPings()));
      return;
    }
    const onAnswer = this.#pinged;
    this.#pinged = undefined;
    onAnswer?.();
  }

  #answerPings(): void {
    this.#cancelPings();
    const pings = this.#pings;
    this.#pings = [];
    for (const payload of pings) this.#answer(frame(PING, ACK, 0, payload));
  }

  #takeGoaway(payload: Buffer): void {
    if (payload.length < 8) throw new ProtocolFault('a GOAWAY frame is too short', FRAME_SIZE_ERROR);
    const last = payload.readUInt32BE(0) & LARGEST_WINDOW;
    const code = payload.readUInt32BE(4);
    const refused = [...this.#waiting.splice(0), ...[...this.#streams.values()].filter(({ id }) => id > last)];
    this.#drain();
    for (const stream of refused) {
      stream.sent = true;
      this.#finish(stream);
      stream.receiver.broken(new GrpcError('refused', 'UNAVAILABLE', 'the server is closing the connection'));
    }
    if (code !== NO_ERROR)
      this.close(new Error(`the server closed the connection with code ${code} ${payload.toString('latin1', 8, 72)}`.trimEnd()));
    else this.#closeIfDone();
  }

  #drain(): void {
    if (this.#state !== 'open') return;
    this.#state = 'draining';
    this.#events.draining();
  }
  #closeIfDone(): void {
    if (this.#state === 'draining' && this.#streams.size === 0) this.close();
  }

  /** A stream is over. What was not sent of its request is dropped. */
  #finish(stream: Stream): void {
    if (!this.#streams.delete(stream.id)) return;
    if (!stream.sent) this.#send(numberFrame(RST_STREAM, stream.id, CANCEL));
    stream.pending = [];
    if (this.#waiting.length > 0) this.#startWaiting();
    this.#closeIfDone();
  }
  #startWaiting(): void {
    while (this.#waiting.length > 0 && this.#streams.size < this.#mostStreams) this.#start(this.#waiting.shift() as Stream);
  }

  #answer(bytes: Buffer): void {
    if (this.#socket.writableLength > MOST_UNSENT_BYTES)
      throw new ProtocolFault('the server does not read what it asks for', ENHANCE_YOUR_CALM);
    this.#send(bytes);
  }
  #send(bytes: Buffer): void {
    this.#out.append(bytes);
    this.#flushSoon();
  }
  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    inNextTurn(this.#flushNow);
  }
  readonly #flushNow = (): void => {
    this.#flushing = false;
    this.#flush();
  };
  #flush(): void {
    if (this.#out.length === 0 || this.#socket.destroyed || this.#state === 'closed') return;
    this.#socket.write(this.#out.take());
  }

  #end(error: Error | undefined): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#cancelPings();
    this.#socket.destroy();
    const streams = [...this.#streams.values()];
    const waiting = this.#waiting.splice(0);
    this.#streams.clear();
    const why = error === undefined ? '' : `: ${textOf(error)}`;
    for (const { receiver } of waiting) receiver.broken(new GrpcError('refused', 'UNAVAILABLE', `the connection was lost${why}`));
    for (const { receiver } of streams)
      receiver.broken(new GrpcError('lost', 'UNAVAILABLE', `the connection was lost${why}`, { cause: error }));
    this.#events.closed(error);
  }
}

/** A host with several addresses, none of which responds, fails with an error for each and no text of its own. */
export function textOf(error: Error): string {
  return error instanceof AggregateError && error.message === '' ? String((error.errors[0] as Error | undefined)?.message) : error.message;
}
