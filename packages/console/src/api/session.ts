/** Who is logged in, and the ways to log in. */
import { type Signal, signal } from '@preact/signals';
import { answered, errorOf, OWN_HEADER } from './api.ts';

export type Way = 'code' | 'token' | 'certificate' | 'oidc' | 'proxy';

export interface SessionDetails {
  readonly user: { readonly name: string; readonly groups: readonly string[] };
  readonly way: Way;
  readonly expires: string;
  readonly identity: 'plat' | 'kubernetes';
  readonly server: { readonly version: string; readonly release: string };
  readonly ways: readonly Way[];
}
export type Credentials = { readonly code: string } | { readonly token: string } | { readonly certificate: true };

export type SessionState =
  | { readonly phase: 'unknown' }
  | { readonly phase: 'in'; readonly details: SessionDetails }
  /** What the page has under way ends before the session does. */
  | { readonly phase: 'leaving'; readonly details: SessionDetails }
  | { readonly phase: 'out'; readonly ways: readonly Way[] };

const PATH = '/console/session';
/** What to offer where the gateway has not said it. */
const usualWays: readonly Way[] = ['token'];

export class Session {
  readonly state: Signal<SessionState> = signal<SessionState>({ phase: 'unknown' });
  readonly #fetch: typeof fetch;
  readonly #onOtherUser: () => void;
  #ended = new AbortController();

  /** `onOtherUser`: another page of the browser logged in as somebody else, who must not see what this page has. */
  constructor(fetchFunction: typeof fetch, onOtherUser: () => void) {
    this.#fetch = fetchFunction;
    this.#onOtherUser = onOtherUser;
  }

  /** The user who is logged in. */
  get details(): SessionDetails | undefined {
    return this.state.value.phase === 'in' ? this.state.value.details : undefined;
  }

  /** Aborts the requests of the session when it ends. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Asks the gateway. Throws ApiError where it cannot be reached. */
  async load(): Promise<void> {
    const response = await this.#request('GET');
    if (response.ok) this.#enter((await response.json()) as SessionDetails);
    else if (response.status === 401) this.#leave(await waysOf(response));
    else throw await errorOf(response);
  }

  /** Throws ApiError where the credentials are refused. */
  async logIn(credentials: Credentials): Promise<void> {
    const response = await this.#request('POST', credentials);
    if (!response.ok) throw await errorOf(response);
    this.#enter((await response.json()) as SessionDetails);
  }

  /** The browser would report requests and connections that the gateway breaks off as errors. Throws ApiError where it fails. */
  async logOut(): Promise<void> {
    const before = this.state.peek();
    if (before.phase !== 'in') return;
    this.state.value = { phase: 'leaving', details: before.details };
    this.#ended.abort();
    try {
      const response = await this.#request('DELETE');
      if (!response.ok && response.status !== 401) throw await errorOf(response);
      this.leave();
    } catch (error) {
      this.#enter(before.details);
      throw error;
    }
  }

  /** A request was answered with 401. */
  expire(): void {
    if (this.state.peek().phase === 'in') this.leave();
  }

  /** Shows the ways to log in. */
  leave(): void {
    this.#leave([]);
  }

  #enter(details: SessionDetails): void {
    const before = this.state.peek();
    if (before.phase === 'in' && before.details.user.name !== details.user.name) {
      this.leave();
      this.#onOtherUser();
      return;
    }
    if (this.#ended.signal.aborted) this.#ended = new AbortController();
    this.state.value = { phase: 'in', details };
  }

  #leave(ways: readonly Way[]): void {
    const before = this.state.peek();
    const lastWays = before.phase === 'out' ? before.ways : before.phase === 'unknown' ? usualWays : before.details.ways;
    this.#ended.abort();
    this.state.value = { phase: 'out', ways: ways.length > 0 ? ways : lastWays };
  }

  #request(method: string, body?: unknown): Promise<Response> {
    return answered(
      this.#fetch(PATH, {
        method,
        headers: { accept: 'application/json', 'content-type': 'application/json', [OWN_HEADER]: '1' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        credentials: 'same-origin',
        cache: 'no-store',
      }),
    );
  }
}

async function waysOf(response: Response): Promise<readonly Way[]> {
  const body = (await response.json().catch(() => ({}))) as { readonly ways?: readonly Way[] };
  return body.ways ?? [];
}
