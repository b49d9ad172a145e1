/**
 * Errors of calls to etcd. A failure has a reason and, most important for a write, whether it may have
 * been executed.
 */

import { StoreFull, StoreUnavailable, WriteTooLarge } from '../../engine.ts';
import type { GrpcError } from '../../grpc/status.ts';

export type Reason =
  | 'compacted'
  | 'future'
  /** No connection: the request was not sent. */
  | 'unreachable'
  /** The member has no leader or may not respond: it did nothing. */
  | 'no-leader'
  | 'lease-not-found'
  | 'request-too-large'
  | 'too-many-operations'
  | 'answer-too-large'
  | 'no-space'
  | 'closed'
  /** Etcd does not know who asks: there is no token, or it has expired. Nothing was done. */
  | 'unauthenticated'
  /** Etcd refused the request. */
  | 'refused'
  /** Connection lost, timeout, leader changed: the outcome is unknown. */
  | 'unavailable';

/** A failed call. The engine turns it into an error of its contract before a caller sees it. */
export class CallFailure extends Error {
  readonly reason: Reason;
  /** Whether a write may have been executed. */
  readonly mayHaveHappened: boolean;

  constructor(reason: Reason, message: string, mayHaveHappened: boolean, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CallFailure';
    this.reason = reason;
    this.mayHaveHappened = mayHaveHappened;
  }
}

interface KnownFailure {
  readonly says: RegExp;
  readonly reason: Reason;
  readonly message?: string;
  readonly mayHaveHappened?: boolean;
}

const TOO_LARGE = 'the write is larger than etcd takes (--max-request-bytes)';

/** Messages of etcd's server; the first match counts. */
const KNOWN: readonly KnownFailure[] = [
  { says: /required revision has been compacted/, reason: 'compacted' },
  { says: /required revision is a future revision/, reason: 'future' },
  { says: /requested lease not found/, reason: 'lease-not-found' },
  { says: /^etcdserver: no leader|not supported for learner/, reason: 'no-leader' },
  {
    says: /database space exceeded/,
    reason: 'no-space',
    message: 'etcd has used up its space and takes no writes: compact and defragment it, raise --quota-backend-bytes, disarm the alarm',
    // The write that crosses the limit is executed and yet reported as this error.
    mayHaveHappened: true,
  },
  { says: /request is too large|larger than max/, reason: 'request-too-large', message: TOO_LARGE },
  {
    says: /too many operations in txn/,
    reason: 'too-many-operations',
    message: 'one commit has more operations than etcd takes (--max-txn-ops)',
  },
  { says: /too many requests/, reason: 'refused', message: 'etcd has too many requests to serve' },
  // Refused before the request reached the store, so that a retry is harmless.
  { says: /^etcdserver: (invalid auth token|revision of auth store is old)/, reason: 'unauthenticated' },
  {
    says: /^etcdserver: user name is empty/,
    reason: 'unauthenticated',
    message:
      'etcd asks for a user: name one with --etcd-username and --etcd-password-file, or by the common name of the client certificate',
  },
  { says: /^etcdserver: (permission denied|authentication)/, reason: 'refused' },
];

export function failureOf(error: GrpcError): CallFailure {
  const { kind, code, message } = error;
  if (kind === 'status') return failureOfStatus(error);
  if (kind === 'unreachable' || kind === 'refused') return new CallFailure('unreachable', message, false, { cause: error });
  if (kind === 'request-too-large') return new CallFailure('request-too-large', TOO_LARGE, false, { cause: error });
  if (kind === 'answer-too-large') return new CallFailure('answer-too-large', message, true, { cause: error });
  return new CallFailure('unavailable', message || code, true, { cause: error });
}

function failureOfStatus(error: GrpcError): CallFailure {
  const { code, message } = error;
  const knownFailure = KNOWN.find(({ says }) => says.test(message));
  if (knownFailure !== undefined)
    return new CallFailure(knownFailure.reason, knownFailure.message ?? message, knownFailure.mayHaveHappened === true);
  const unknown = code === 'UNAVAILABLE' || code === 'DEADLINE_EXCEEDED' || code === 'CANCELLED';
  const silent = unknown || code === 'INTERNAL' || code === 'UNKNOWN';
  return new CallFailure(silent ? 'unavailable' : 'refused', message || code, silent);
}

/** The error of the contract for a failure that is neither a conflict nor about a revision. */
export function unavailable(failure: CallFailure, write: boolean): StoreUnavailable {
  if (failure.reason === 'request-too-large') return new WriteTooLarge(failure.message, { cause: failure });
  const inDoubt = write && failure.mayHaveHappened;
  const message = inDoubt ? `${failure.message}; whether the write happened is not known` : failure.message;
  const Fault = failure.reason === 'no-space' ? StoreFull : StoreUnavailable;
  return new Fault(message, { cause: failure, inDoubt });
}

export const CLOSED = 'the store is closed';
