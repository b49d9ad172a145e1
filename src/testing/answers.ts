/** What a test sends and what it gets back. */

/** Who asks, and with what. */
export interface RequestChoice {
  /** The user's name. Neither a user nor an `authorization` header: the administrator. */
  readonly user?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Text and bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** An answer that has been read whole. */
export interface TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** What the body holds where it is JSON, else its text. */
  readonly body: unknown;
  readonly text: string;
}

export interface TestFetchInit extends RequestInit {
  readonly user?: string | undefined;
  readonly groups?: readonly string[] | undefined;
}
