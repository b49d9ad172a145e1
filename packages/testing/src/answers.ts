/** Requests of a test and their responses. */

/** The user, headers and body of a request. */
export interface RequestChoice {
  /** The user's name. Default, without an `authorization` header: the administrator. */
  readonly user?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Text and bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** A response with its whole body. */
export interface TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body if it is JSON, else its text. */
  readonly body: unknown;
  readonly text: string;
}

export interface TestFetchInit extends RequestInit {
  readonly user?: string | undefined;
  readonly groups?: readonly string[] | undefined;
}
