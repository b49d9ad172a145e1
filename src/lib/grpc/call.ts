/**
 * One call on one stream of HTTP/2, from its request to its status:
 *
 *   headers (:status, content-type) → messages → trailers (grpc-status)       the usual response
 *   headers (:status, content-type, grpc-status)                              a response without messages
 *
 * Listeners are shared by all calls and find theirs on the stream, since a call is made for every write of a store.
 */
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2';
import type { Cancel } from '../clock.ts';
import { MessageReader } from './messages.ts';
import { codeOfHttpStatus, errorOfStatus, GrpcError } from './status.ts';

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants;
const CALL = Symbol('call');
type CallStream = ClientHttp2Stream & { [CALL]?: Call };
type Headers = IncomingHttpHeaders & IncomingHttpStatusHeader;

export abstract class Call {
  readonly #reader: MessageReader;
  #stream: ClientHttp2Stream | undefined;
  #cancelTimer: Cancel | undefined;
  #responded = false;
  /** A fault of the response, until its end: headers that come later may explain it. */
  #fault: GrpcError | undefined;
  #ended = false;

  constructor(mostBytes: number) {
    this.#reader = new MessageReader(mostBytes, (message) => this.message(message));
  }

  /** Takes a message of the response. */
  protected abstract message(message: Buffer): void;
  /** Called once, at the end of the call. */
  protected abstract finish(error: GrpcError | undefined): void;

  get stream(): ClientHttp2Stream | undefined {
    return this.#stream;
  }
  get ended(): boolean {
    return this.#ended;
  }

  /** Follows a stream. `cancelTimer` ends the timer of its deadline. */
  follow(stream: ClientHttp2Stream, cancelTimer?: Cancel): void {
    this.#stream = stream;
    this.#cancelTimer = cancelTimer;
    (stream as CallStream)[CALL] = this;
    stream.on('response', onResponse);
    stream.on('data', onData);
    stream.on('trailers', onTrailers);
    stream.on('error', onError);
    stream.on('close', onClose);
  }

  /** Ends the call with an error. The server is notified, if it has the request. */
  fail(error: GrpcError): void {
    if (this.#ended) return;
    this.#end(error);
    const stream = this.#stream;
    if (stream !== undefined && !stream.destroyed) stream.close(NGHTTP2_CANCEL);
  }

  responded(headers: Headers): void {
    if (this.#ended) return;
    this.#responded = true;
    const status = headers[':status'];
    const type = headers['content-type'];
    const grpcStatus = headers['grpc-status'] as string | undefined;
    if (grpcStatus !== undefined) {
      this.#conclude(grpcStatus, headers['grpc-message'] as string | undefined);
      return;
    }
    if (status === 200 && type?.startsWith('application/grpc') === true) return;
    const what = status === 200 ? `content-type ${JSON.stringify(type ?? '').slice(0, 64)}` : `HTTP status ${status}`;
    this.fail(new GrpcError('invalid', codeOfHttpStatus(status ?? 0), `the server does not respond as a gRPC server does: ${what}`));
  }

  received(chunk: Buffer): void {
    if (this.#ended || this.#fault !== undefined) return;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      const fault = error instanceof GrpcError ? error : new GrpcError('invalid', 'INTERNAL', (error as Error).message, { cause: error });
      // Data may be read before the headers are, which may say that this is no response of gRPC.
      if (this.#responded) this.fail(fault);
      else this.#fault = fault;
    }
  }

  trailed(headers: IncomingHttpHeaders): void {
    if (this.#ended) return;
    const status = headers['grpc-status'] as string | undefined;
    if (status === undefined) return;
    const conclude = (): void => this.#conclude(status, headers['grpc-message'] as string | undefined);
    // Trailers are reported at once, also while messages before them wait in a paused stream.
    if ((this.#stream?.readableLength ?? 0) > 0) this.#stream?.once('end', conclude);
    else conclude();
  }

  /** The stream is closed; without a status this is a failure. */
  closed(stream: ClientHttp2Stream, error?: Error): void {
    if (this.#ended) return;
    this.#end(this.#fault ?? brokenStream(stream, error, this.#responded));
  }

  #conclude(status: string, message: string | undefined): void {
    if (this.#ended) return;
    const error = errorOfStatus(status, message) ?? this.#fault;
    const incomplete = error === undefined && this.#reader.incomplete;
    this.#end(incomplete ? new GrpcError('invalid', 'INTERNAL', 'the response ends in the middle of a message') : error);
    const stream = this.#stream;
    // The server needs nothing more of the request.
    if (stream !== undefined && !stream.closed && (!stream.writableEnded || stream.writableLength > 0)) stream.close(NGHTTP2_CANCEL);
  }

  #end(error: GrpcError | undefined): void {
    this.#ended = true;
    this.#cancelTimer?.();
    this.finish(error);
  }
}

function onResponse(this: CallStream, headers: Headers): void {
  this[CALL]?.responded(headers);
}
function onData(this: CallStream, chunk: Buffer): void {
  this[CALL]?.received(chunk);
}
function onTrailers(this: CallStream, headers: IncomingHttpHeaders): void {
  this[CALL]?.trailed(headers);
}
function onError(this: CallStream, error: Error): void {
  this[CALL]?.closed(this, error);
}
function onClose(this: CallStream): void {
  this[CALL]?.closed(this);
}

function brokenStream(stream: ClientHttp2Stream, error: Error | undefined, responded: boolean): GrpcError {
  const { rstCode = NGHTTP2_NO_ERROR, session } = stream;
  // nghttp2 also ends streams with this code that are above the last one of a GOAWAY frame.
  if (rstCode === NGHTTP2_REFUSED_STREAM && !responded)
    return new GrpcError('refused', 'UNAVAILABLE', 'the server refused the stream', { cause: error });
  if (session === undefined || session.destroyed || rstCode === NGHTTP2_NO_ERROR)
    return new GrpcError('lost', 'UNAVAILABLE', `the connection was lost${error === undefined ? '' : `: ${error.message}`}`, {
      cause: error,
    });
  const code = rstCode === NGHTTP2_CANCEL ? 'CANCELLED' : 'INTERNAL';
  return new GrpcError('lost', code, `the server reset the stream with code ${rstCode}`, { cause: error });
}
