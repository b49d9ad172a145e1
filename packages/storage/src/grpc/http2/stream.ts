/** One request on a connection, and what comes back. */
import type { GrpcError } from '../status.ts';

/** Headers of a response that matter to gRPC. */
export interface ResponseHeaders {
  status: string | undefined;
  type: string | undefined;
  grpcStatus: string | undefined;
  grpcMessage: string | undefined;
}

/** Gets what comes back on a stream. */
export interface StreamReceiver {
  /** Headers first, then trailers. `last`: nothing comes after them. */
  headers(headers: ResponseHeaders, last: boolean): void;
  data(chunk: Buffer, last: boolean): void;
  /** The stream or its connection is broken. */
  broken(error: GrpcError): void;
}

type Headers = readonly (readonly [name: string, value: string])[];

export class Stream {
  readonly receiver: StreamReceiver;
  /** Headers of the request that all calls of its method have, and those of this one. */
  readonly headers: Headers;
  readonly ownHeaders: Headers;
  /** 0 before it is sent. */
  id = 0;
  /** Body that the window of the server does not allow to be sent yet. */
  pending: Buffer[] = [];
  /** Whether the request ends after what is pending, and whether that was sent. */
  ending = false;
  sent = false;
  responded = false;
  /** Bytes that the server accepts. */
  window = 0;
  /** Bytes that were received and not yet confirmed. */
  unconfirmed = 0;
  /** Received bytes are not confirmed while the receiver is behind. */
  paused = false;

  constructor(receiver: StreamReceiver, headers: Headers, ownHeaders: Headers = []) {
    this.receiver = receiver;
    this.headers = headers;
    this.ownHeaders = ownHeaders;
  }
}
