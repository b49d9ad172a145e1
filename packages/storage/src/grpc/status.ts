/** Status codes of gRPC, and why a call failed. */

const CODES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;
export type Code = (typeof CODES)[number];

/**
 * What ended a call:
 *
 *   status               the server sent this status
 *   unreachable          there is no connection: the request was not sent
 *   refused              the server did not process the request (a refused stream, a connection that it is closing)
 *   request-too-large    the request is larger than this client sends: it was not sent
 *   answer-too-large     the response is larger than this client reads
 *   deadline             no response in time
 *   cancelled            the caller cancelled it, or closed the channel
 *   lost                 the connection or the stream broke before the response was complete
 *   invalid              the response is not one of gRPC
 *
 * After `unreachable`, `refused` and `request-too-large` the server has certainly not processed the request; after a status it
 * depends on the status; after all others it may have.
 */
export type FailureKind =
  | 'status'
  | 'unreachable'
  | 'refused'
  | 'request-too-large'
  | 'answer-too-large'
  | 'deadline'
  | 'cancelled'
  | 'lost'
  | 'invalid';

export class GrpcError extends Error {
  readonly kind: FailureKind;
  readonly code: Code;

  constructor(kind: FailureKind, code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'GrpcError';
    this.kind = kind;
    this.code = code;
  }
}

/** Maximum length of a message of the server that is kept. */
const LONGEST_MESSAGE = 4_096;

/** The error of a status of the server; undefined for OK. `message` is percent-encoded UTF-8. */
export function errorOfStatus(status: string, message: string | undefined): GrpcError | undefined {
  if (status === '0') return undefined;
  const code = /^\d{1,2}$/.test(status) ? CODES[Number(status)] : undefined;
  const text = decodedMessage(message ?? '').slice(0, LONGEST_MESSAGE);
  if (code === undefined) return new GrpcError('invalid', 'UNKNOWN', `unknown grpc-status ${JSON.stringify(status.slice(0, 32))}: ${text}`);
  return new GrpcError('status', code, text);
}

/** A message that is not encoded correctly is kept as it is. */
function decodedMessage(message: string): string {
  if (!message.includes('%')) return message;
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}

/** The code for a response of something that is not a gRPC server, a proxy for instance. */
export function codeOfHttpStatus(status: number): Code {
  if (status === 400) return 'INTERNAL';
  if (status === 401) return 'UNAUTHENTICATED';
  if (status === 403) return 'PERMISSION_DENIED';
  if (status === 404) return 'UNIMPLEMENTED';
  if (status === 429 || status === 502 || status === 503 || status === 504) return 'UNAVAILABLE';
  return 'UNKNOWN';
}
