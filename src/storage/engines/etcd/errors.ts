/**
 * Errors of calls to etcd. A failure has a reason and, most important for a write, whether it may have
 * been executed.
 */
import { type StatusObject, status } from '@grpc/grpc-js';
import { StoreUnavailable } from '../../engine.ts';

export type Reason =
  | 'compacted'
  | 'future'
  /** No connection: the request was not sent. */
  | 'unreachable'
  /** The member has no leader or may not respond: it did nothing. */
  | 'no-leader'
  | 'lease-not-found'
  | 'request-too-large'
  | 'answer-too-large'
  | 'no-space'
  | 'closed'
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

interface Known {
  readonly says: RegExp;
  readonly reason: Reason;
  readonly message?: string;
  readonly mayHaveHappened?: boolean;
}

/** Messages of etcd's server and of the gRPC library; the first match counts. */
const KNOWN: readonly Known[] = [
  { says: /required revision has been compacted/, reason: 'compacted' },
  { says: /required revision is a future revision/, reason: 'future' },
  { says: /requested lease not found/, reason: 'lease-not-found' },
  { says: /^etcdserver: no leader|not supported for learner/, reason: 'no-leader' },
  { says: /No connection established|Name resolution failed/, reason: 'unreachable' },
  {
    says: /database space exceeded/,
    reason: 'no-space',
    message: 'etcd has used up its space and takes no writes: compact and defragment it, raise --quota-backend-bytes, disarm the alarm',
    // The write that crosses the limit is executed and yet reported as this error.
    mayHaveHappened: true,
  },
  { says: /^Received message larger than max/, reason: 'answer-too-large' },
  {
    says: /request is too large|larger than (max|\d)/,
    reason: 'request-too-large',
    message: 'the write is larger than etcd takes (--max-request-bytes)',
  },
  {
    says: /too many operations in txn/,
    reason: 'refused',
    message: 'one commit has more operations than etcd takes (--max-txn-ops)',
  },
  { says: /too many requests/, reason: 'refused', message: 'etcd has too many requests to serve' },
  // Refused before the request reached the store, so that a retry is harmless.
  { says: /^etcdserver: (permission denied|user name is empty|authentication|invalid auth token)/, reason: 'refused' },
];

export function failureOf({ code, details }: Pick<StatusObject, 'code' | 'details'>): CallFailure {
  const known = KNOWN.find(({ says }) => says.test(details));
  if (known !== undefined) {
    return new CallFailure(known.reason, known.message ?? details, known.mayHaveHappened === true);
  }
  const unknown = code === status.UNAVAILABLE || code === status.DEADLINE_EXCEEDED || code === status.CANCELLED;
  const silent = unknown || code === status.INTERNAL || code === status.UNKNOWN;
  return new CallFailure(silent ? 'unavailable' : 'refused', details, silent);
}

/** The error of the contract for a failure that is neither a conflict nor about a revision. */
export function unavailable(failure: CallFailure, write: boolean): StoreUnavailable {
  const doubt = write && failure.mayHaveHappened ? '; whether the write happened is not known' : '';
  return new StoreUnavailable(`${failure.message}${doubt}`, { cause: failure });
}

export const CLOSED = 'the store is closed';
