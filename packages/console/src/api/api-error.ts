/** Errors of requests, in the words of the server where it answered with a Status. */

/** The parts of a Status that the page shows. */
export interface Status {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly Cause[];
  };
}
export interface Cause {
  readonly reason?: string;
  readonly message?: string;
  /** `spec.containers[0].image` */
  readonly field?: string;
}

export class ApiError extends Error {
  /** 0: there was no answer. */
  readonly code: number;
  readonly reason: string;
  readonly causes: readonly Cause[];
  readonly status: Status;

  constructor(status: Status, code = status.code ?? 0) {
    super(status.message || plainMessage(code));
    this.name = 'ApiError';
    this.code = code;
    this.reason = status.reason ?? '';
    this.causes = status.details?.causes ?? [];
    this.status = status;
  }
}

/** What to say of an answer that says nothing itself. */
function plainMessage(code: number): string {
  if (code === 0) return 'The server cannot be reached.';
  if (code === 401) return 'You are not logged in.';
  if (code === 403) return 'You may not do this.';
  if (code === 404) return 'The server does not have this.';
  return `The server answered with code ${code}.`;
}

export const isAborted = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError';

/** Any value that was thrown, as an error that can be shown. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError({ message: error instanceof Error ? error.message : String(error) });
}
