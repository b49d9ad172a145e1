/**
 * The only file that builds a Status. Code that fails throws an ApiError made here; one place renders it.
 */
import { cut } from '@plat-dev/lib/message-values';
import type { FieldError } from './field.ts';

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}
export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  status?: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}

/** Maximum characters of a Status's message, of one cause, and of all causes together; and the number of causes. */
const MAX_MESSAGE = 32 * 1024;
const MAX_CAUSE = 8 * 1024;
const MAX_CAUSES_LENGTH = 128 * 1024;
export const MAX_CAUSES = 300;

/** Details that are too long are truncated, and excess causes dropped. Messages may come from other servers, too. */
function boundedDetails(unboundedDetails: StatusDetails): StatusDetails {
  const { causes, name } = unboundedDetails;
  if (causes === undefined && (name ?? '').length <= MAX_CAUSE) return unboundedDetails;
  const bounded: StatusDetails = { ...unboundedDetails };
  if (name !== undefined) bounded.name = cut(name, MAX_CAUSE);
  if (causes === undefined) return bounded;
  bounded.causes = [];
  let room = MAX_CAUSES_LENGTH;
  for (const { reason, message, field } of causes) {
    if (bounded.causes.length >= MAX_CAUSES || room < 0) {
      bounded.causes.push({ message: `${causes.length - bounded.causes.length} more causes are not listed` });
      break;
    }
    const cause: StatusCause = {};
    if (reason !== undefined) cause.reason = cut(reason, MAX_CAUSE);
    if (message !== undefined) cause.message = cut(message, MAX_CAUSE);
    if (field !== undefined) cause.field = cut(field, MAX_CAUSE);
    room -= (cause.message?.length ?? 0) + (cause.field?.length ?? 0);
    bounded.causes.push(cause);
  }
  return bounded;
}

export class ApiError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;
  /** Extra response headers, such as `Allow` or `WWW-Authenticate`. */
  headers: Record<string, string> | undefined;
  /** List metadata of the response: an expired continue token carries a fresh one. */
  listMeta: Status['metadata'] | undefined;

  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    // The message says what the client did wrong; to record where in the code it was found takes longer than the rest of the answer.
    const { stackTraceLimit } = Error;
    if (code < 500) Error.stackTraceLimit = 0;
    super(cut(message, MAX_MESSAGE));
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'ApiError';
    this.code = code;
    this.reason = reason;
    this.details = details === undefined ? undefined : boundedDetails(details);
  }

  status(): Status {
    const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: this.listMeta ?? {}, status: 'Failure', message: this.message };
    if (this.reason !== '') status.reason = this.reason;
    if (this.details !== undefined) status.details = this.details;
    status.code = this.code;
    return status;
  }
}

/** The reasons of failures, their codes, and what they mean to a caller. The reference of errors is made from this. */
export const failureReasons = {
  BadRequest: {
    code: 400,
    meaning: 'The request itself cannot be understood: a parameter, a body or a patch that cannot be read. Sent again it fails again.',
  },
  Unauthorized: {
    code: 401,
    meaning: 'The credentials are missing, unknown or expired. Log in anew; `plat auth whoami` shows as whom you ask.',
  },
  Forbidden: {
    code: 403,
    meaning:
      'The user is known and may not do this, or an admission plug-in, a policy or a webhook refused it. `plat why denied` names the rule that is missing.',
  },
  NotFound: { code: 404, meaning: 'There is no such object, kind or path; the message says which where it is known.' },
  MethodNotAllowed: { code: 405, meaning: 'The path exists, but not with this method, or not for now.' },
  NotAcceptable: { code: 406, meaning: 'None of the forms that `Accept` asks for is served here; the message lists those that are.' },
  AlreadyExists: { code: 409, meaning: 'An object of that name exists, perhaps one that is being deleted.' },
  Conflict: {
    code: 409,
    meaning:
      'The object has changed since it was read, a precondition does not hold, or another manager owns the field. Read it again and repeat; `plat why conflict` shows the owners.',
  },
  Expired: { code: 410, meaning: 'The version or the `continue` token is older than what is kept. List again from the beginning.' },
  RequestEntityTooLarge: { code: 413, meaning: 'The body, the object or the patch is larger than the limit.' },
  UnsupportedMediaType: { code: 415, meaning: 'The `Content-Type` of the body is not served here; the message lists those that are.' },
  Invalid: { code: 422, meaning: 'The object was read and breaks its rules. Each cause names a field, a reason and what is wrong.' },
  TooManyRequests: { code: 429, meaning: 'The server, or a disruption budget, asks for a pause. `Retry-After` says how long.' },
  InternalError: {
    code: 500,
    meaning: 'A fault of the server, or of a webhook or store behind it. The log of the server has more, by the audit id of the answer.',
  },
  ServiceUnavailable: { code: 503, meaning: 'What the request needs does not answer: the store, an aggregated API, a disk that is full.' },
  Timeout: {
    code: 504,
    meaning:
      'It took too long. The write may have happened: read the object before you repeat it. With 408 it was the client that took too long to send.',
  },
} as const;

const failure = (reason: keyof typeof failureReasons, message: string, details?: StatusDetails): ApiError =>
  new ApiError(failureReasons[reason].code, reason, message, details);

/** A resource as errors name it: full group name and plural, for example `{ group: 'apps', resource: 'deployments' }`. */
export interface ResourceName {
  readonly group: string;
  readonly resource: string;
}
const qualified = (r: ResourceName): string => (r.group === '' ? r.resource : `${r.resource}.${r.group}`);
function details({ group, resource }: ResourceName, name: string, more?: Partial<StatusDetails>): StatusDetails {
  const nameDetails: StatusDetails = {};
  if (name !== '') nameDetails.name = name;
  if (group !== '') nameDetails.group = group;
  if (resource !== '') nameDetails.kind = resource;
  return { ...nameDetails, ...more };
}

export const badRequest = (message: string): ApiError => failure('BadRequest', message);
export const unauthorized = (message = 'Unauthorized'): ApiError => failure('Unauthorized', message);
export const forbidden = (r: ResourceName, name: string, why: string): ApiError =>
  failure(
    'Forbidden',
    r.resource === ''
      ? `forbidden: ${why}`
      : name === ''
        ? `${qualified(r)} is forbidden: ${why}`
        : `${qualified(r)} "${name}" is forbidden: ${why}`,
    details(r, name),
  );
/** A policy denies a request, with a reason of its own. */
export const policyDenied = (r: ResourceName, name: string, why: string, reason: keyof typeof policyCodes): ApiError =>
  new ApiError(policyCodes[reason], reason, forbidden(r, name, why).message, details(r, name, { causes: [{ message: why }] }));
/** Mutating policies deny a request: the first message counts, and all are causes. Their code is always the same. */
export const mutationDenied = (r: ResourceName, name: string, messages: readonly string[], reason: 'Invalid' | 'Forbidden'): ApiError =>
  new ApiError(403, reason, messages[0] ?? '', details(r, name, { causes: messages.map((message) => ({ message })) }));
const policyCodes = { Invalid: 422, Forbidden: 403, RequestEntityTooLarge: 413 } as const;
export const notFound = (r: ResourceName, name: string): ApiError =>
  failure('NotFound', `${qualified(r)} "${name}" not found`, details(r, name));
/** The path is not found; `hint` says why, if known. */
export const pathNotFound = (hint?: string): ApiError =>
  failure('NotFound', `the server could not find the requested resource${hint === undefined ? '' : `: ${hint}`}`, {});
export const methodNotAllowed = (r: ResourceName, verb: string): ApiError =>
  failure('MethodNotAllowed', `${verb} is not supported on resources of kind "${qualified(r)}"`, details(r, ''));
/** The method exists, and is refused for now. */
export const methodRefusedFor = (r: ResourceName, why: string): ApiError => failure('MethodNotAllowed', why, details(r, ''));
/** The path exists, the method does not. */
export const methodRefused = (): ApiError =>
  failure('MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
export const notAcceptable = (accepted: readonly string[]): ApiError =>
  failure('NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`);
/** `deleting`: the existing one is terminating. */
export const alreadyExists = (r: ResourceName, name: string, deleting = false): ApiError =>
  failure('AlreadyExists', `${deleting ? 'object is being deleted: ' : ''}${qualified(r)} "${name}" already exists`, details(r, name));
export const conflict = (r: ResourceName, name: string, why: string): ApiError =>
  failure('Conflict', `Operation cannot be fulfilled on ${qualified(r)} "${name}": ${why}`, details(r, name));
export const applyConflict = (causes: StatusCause[], message: string): ApiError => failure('Conflict', message, { causes });
/** A version or continue token that has expired. */
export const expired = (message: string): ApiError => failure('Expired', message);
export const requestTooLarge = (message: string): ApiError => failure('RequestEntityTooLarge', message);
export const unsupportedMediaType = (accepted: readonly string[]): ApiError =>
  failure(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );
/** Content inside of a protobuf envelope that cannot be decoded: `contentEncoding "gzip"`. */
export const unsupportedContent = (contentProblem: string, accepted: readonly string[]): ApiError =>
  failure('UnsupportedMediaType', `the ${contentProblem} of the binary envelope is not supported; accepted are: ${accepted.join(', ')}`);
/** `kind` is the group kind: `{ group: 'apps', resource: 'Deployment' }`. */
export const invalid = (kind: ResourceName, name: string, errors: readonly FieldError[]): ApiError => {
  const texts = [...new Set(errors.map((e) => `${e.field}: ${e.message}`))];
  const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return failure(
    'Invalid',
    `${qualified(kind)} "${name}" is invalid: ${text}`,
    details(kind, name, { causes: errors.map((e) => ({ reason: e.reason, message: e.message, field: e.field })) }),
  );
};
/** The same for a review, which has no name. Its kind is in the message alone: stock servers have none in the details. */
export const invalidReview = (kind: ResourceName, errors: readonly FieldError[]): ApiError => {
  const { code, reason, message, details: all } = invalid(kind, '', errors);
  const { kind: _kind, ...rest } = all ?? {};
  return new ApiError(code, reason, message, rest);
};
/** A valid request that cannot be executed, such as a JSON patch that does not apply. */
export const unprocessable = (message = 'the server rejected our request due to an error in our request'): ApiError =>
  failure('Invalid', message, {});
export const tooManyRequests = (message: string, retryAfterSeconds: number): ApiError =>
  failure('TooManyRequests', message, { retryAfterSeconds });
/** A pod may not be evicted now. `retryAfterSeconds`: when to retry, if known. */
export const evictionRefused = (why: string, retryAfterSeconds = 0): ApiError =>
  failure('TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message: why }],
    ...(retryAfterSeconds > 0 && { retryAfterSeconds }),
  });
export const internalError = (message: string): ApiError =>
  failure('InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
/** A stored object that cannot be read. `where` is its namespace, or empty; `why` contains nothing of the object. */
export const unreadable = (r: ResourceName, where: string, name: string, revision: number, why: string): ApiError => {
  const message = `${qualified(r)} ${JSON.stringify(where === '' ? name : `${where}/${name}`)} of revision ${revision} cannot be read from the store: ${why}; where that cannot be repaired, restore it from a backup or delete it`;
  return failure('InternalError', `Internal error occurred: ${message}`, details(r, name, { causes: [{ message }] }));
};
/** An internal error that the stock server reports without a reason. */
export const plainError = (message: string, code = 500): ApiError => new ApiError(code, '', message);
export const serviceUnavailable = (message: string): ApiError => failure('ServiceUnavailable', message);
/** The store has no room, and a retry succeeds when there is. `inDoubt`: the write may have happened, so that no client retries by itself. */
export const storeFull = (message: string, inDoubt: boolean): ApiError =>
  failure('ServiceUnavailable', message, {
    causes: [{ reason: 'StoreFull', message }],
    ...(!inDoubt && { retryAfterSeconds: STORE_FULL_RETRY_SECONDS }),
  });
const STORE_FULL_RETRY_SECONDS = 10;
/**
 * The store does not respond; why stands in the log, since it names addresses. Without `Retry-After`, at which clients repeat a
 * request by themselves: a create that happened would be answered with AlreadyExists.
 */
export const storeUnavailable = (inDoubt: boolean): ApiError =>
  serviceUnavailable(
    inDoubt
      ? 'the store does not respond, and whether the write happened is not known; read the object before you try again'
      : 'the store does not respond; try again',
  );
export const timeout = (message: string, retryAfterSeconds?: number): ApiError =>
  failure('Timeout', message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
/** The client took too long to send its request. */
export const requestTimedOut = (message: string): ApiError => new ApiError(408, 'Timeout', message, {});
/** `retry`: the request has waited, and may be retried after a second. */
export const tooLargeResourceVersion = (requestedVersion: string, current: number, retry: boolean): ApiError =>
  failure('Timeout', `Timeout: Too large resource version: ${requestedVersion}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    ...(retry && { retryAfterSeconds: 1 }),
  });

const remoteReasons: Readonly<Record<number, readonly [reason: string, message: string]>> = {
  401: ['Unauthorized', 'the server has asked for the client to provide credentials'],
  403: ['Forbidden', ''],
  404: ['NotFound', 'the server could not find the requested resource'],
  405: ['MethodNotAllowed', 'the server does not allow this method on the requested resource'],
  429: ['TooManyRequests', 'the server has received too many requests and has asked us to try again later'],
  503: ['ServiceUnavailable', ''],
  504: ['Timeout', 'the server was unable to return a response in the time allotted, but may still be processing the request'],
};
/** An aggregated API server failed: its code is passed on, and its message if that is more specific. */
export const remoteFailure = (code: number, r: ResourceName, name: string, problem: string): ApiError => {
  const [reason, message] = remoteReasons[code] ?? [code >= 500 ? 'InternalError' : '', ''];
  const text = message || problem || `the server responded with the status code ${code} but did not return more information`;
  return new ApiError(code >= 400 ? code : 500, reason, `${text} ( ${qualified(r)} ${name})`, details(r, name));
};

/** The error of another server or of a webhook, with its message; a success code becomes a failure. */
export function fromStatus(
  status: Pick<Partial<Status>, 'code' | 'reason' | 'details' | 'metadata'>,
  message: string,
  least: number,
): ApiError {
  const error = new ApiError(Math.max(status.code ?? 0, least), status.reason ?? '', message, status.details);
  if (status.metadata !== undefined && Object.keys(status.metadata).length > 0) error.listMeta = status.metadata;
  return error;
}

/** How a command in a container ended: what a node sends at the end of its streams. */
export function commandStatus(exitCode: number): Status {
  const base = { kind: 'Status', apiVersion: 'v1', metadata: {} } as const;
  if (exitCode === 0) return { ...base, status: 'Success' };
  return {
    ...base,
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}
