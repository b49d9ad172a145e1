/**
 * One call on one stream of HTTP/2, from its request to its status:
 *
 *   headers (:status, content-type) → messages → trailers (grpc-status)       the usual response
 *   headers (:status, content-type, grpc-status)                              a response without messages
 */
import type { Http2Connection } from './http2/connection.ts';
import type { ResponseHeaders, Stream, StreamReceiver } from './http2/stream.ts';
import { MessageReader } from './messages.ts';
import { codeOfHttpStatus, errorOfStatus, GrpcError } from './status.ts';

export abstract class Call implements StreamReceiver {
  readonly #reader: MessageReader;
  protected readonly connection: Http2Connection;
  /** Set when the call begins. */
  protected stream: Stream | undefined;
  /** The session ends the call at this time of its monotonic clock, so many milliseconds after its beginning. */
  deadline = Number.POSITIVE_INFINITY;
  timeoutMs = Number.POSITIVE_INFINITY;
  #responded = false;
  #ended = false;

  constructor(connection: Http2Connection, mostBytes: number) {
    this.connection = connection;
    this.#reader = new MessageReader(mostBytes, (message) => this.message(message));
  }

  /** Takes a message of the response. */
  protected abstract message(message: Buffer): void;
  /** Called once, at the end of the call. */
  protected abstract finish(error: GrpcError | undefined): void;

  get ended(): boolean {
    return this.#ended;
  }

  /** Sends the request, if it has one message, and its header. Throws GrpcError `refused`. */
  begin(stream: Stream, header?: Buffer, request?: Buffer): void {
    this.stream = stream;
    this.connection.begin(stream, header, request);
  }

  /** Ends the call with an error. The server is notified, if it has the request. */
  fail(error: GrpcError): void {
    if (this.#ended) return;
    if (this.stream !== undefined) this.connection.reset(this.stream);
    this.#end(error);
  }

  headers({ status, type, grpcStatus, grpcMessage }: ResponseHeaders, last: boolean): void {
    if (this.#ended) return;
    const first = !this.#responded;
    this.#responded = true;
    if (grpcStatus !== undefined && last) {
      this.#conclude(grpcStatus, grpcMessage);
      return;
    }
    if (first && !(status === '200' && type?.startsWith('application/grpc') === true)) {
      const what = status === '200' ? `content-type ${JSON.stringify(type ?? '').slice(0, 64)}` : `HTTP status ${status}`;
      const code = codeOfHttpStatus(Number(status));
      this.fail(new GrpcError('invalid', code, `the server does not respond as a gRPC server does: ${what}`));
    } else if (last) this.#endWithoutStatus();
  }

  data(chunk: Buffer, last: boolean): void {
    if (this.#ended) return;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      this.fail(failureOf(error));
    }
    if (last && !this.#ended) this.#endWithoutStatus();
  }

  broken(error: GrpcError): void {
    if (!this.#ended) this.#end(error);
  }

  #endWithoutStatus(): void {
    this.#end(new GrpcError('lost', 'UNAVAILABLE', 'the server ended the response without a status'));
  }

  #conclude(status: string, message: string | undefined): void {
    const error = errorOfStatus(status, message);
    const incomplete = error === undefined && this.#reader.incomplete;
    this.#end(incomplete ? new GrpcError('invalid', 'INTERNAL', 'the response ends in the middle of a message') : error);
  }

  #end(error: GrpcError | undefined): void {
    this.#ended = true;
    this.finish(error);
  }
}

/** Why a message could not be taken. */
export function failureOf(error: unknown): GrpcError {
  return error instanceof GrpcError ? error : new GrpcError('invalid', 'INTERNAL', (error as Error).message, { cause: error });
}
