/**
 * Sessions of browsers. The cookie holds a random id, of which only the hash is kept here; a restart ends all of them.
 *
 *   open    → ended    by log-out, 12 hours after log-in, an hour after the last use, or when there are too many
 *
 * A page that is open uses its session: its connection for watches counts.
 */
import { createHash } from 'node:crypto';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import type { Random } from '@plat-dev/lib/random';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import { unauthorized } from '@plat-dev/meta/errors';
import type { User } from '@plat-dev/meta/user';

/** At the bound the least recently used session ends. */
export const MAX_SESSIONS = 1000;
/** Sessions of one user, who cannot end those of others by many log-ins; the least recently used of the user ends. */
export const MAX_USER_SESSIONS = 50;
const SESSION_MS = 12 * 3600_000;
const IDLE_MS = 3600_000;
const ID_BYTES = 32;

export type Way = 'code' | 'token' | 'certificate' | 'oidc' | 'proxy';

/** Who makes a request: asked for each one, so that a credential that is revoked proves nothing any more. Throws then. */
export type Caller = () => MaybePromise<User>;

/** Who logged in, and from where. */
export interface SessionOrigin {
  readonly user: string;
  /** Browsers send the cookies of this machine to all of its ports: whoever gets one there must not use it from elsewhere. */
  readonly isLoopback: boolean;
}

export class Session {
  readonly way: Way;
  /** Milliseconds since 1970. */
  readonly expires: number;
  readonly caller: Caller;
  readonly origin: SessionOrigin;
  lastUse: number;
  isEnded = false;
  private readonly open = new Set<() => void>();

  constructor(way: Way, proof: Caller, origin: SessionOrigin, now: number) {
    this.way = way;
    this.origin = origin;
    this.expires = now + SESSION_MS;
    this.lastUse = now;
    this.caller = () => {
      if (this.isEnded) throw unauthorized('the session has ended: log in again');
      return proof();
    };
  }
  get isInUse(): boolean {
    return this.open.size > 0;
  }
  /** Calls when the session ends; what is returned is to be called when there is nothing left to end. */
  onEnd(end: () => void): () => void {
    if (this.isEnded) end();
    else this.open.add(end);
    return () => this.open.delete(end);
  }
  end(): void {
    this.isEnded = true;
    for (const end of [...this.open]) end();
    this.open.clear();
  }
}

const hashOf = (id: string): string => createHash('sha256').update(id).digest('base64');

export class Sessions {
  private readonly clock: Clock;
  private readonly random: Random;
  /** By the hash of their id, the most recently used last. */
  private readonly sessions = new BoundedCache<string, { readonly session: Session; readonly cancelEnd: Cancel }>(MAX_SESSIONS);

  constructor(clock: Clock, random: Random) {
    this.clock = clock;
    this.random = random;
  }

  get size(): number {
    return this.sessions.size;
  }
  /** A new session and its id. */
  begin(way: Way, proof: Caller, origin: SessionOrigin): { readonly id: string; readonly session: Session } {
    const id = this.random.bytes(ID_BYTES).toString('base64url');
    const session = new Session(way, proof, origin, this.clock.now());
    const key = hashOf(id);
    this.removeOldest(
      [...this.sessions].filter(([, { session: other }]) => other.origin.user === origin.user),
      MAX_USER_SESSIONS,
    );
    this.removeOldest([...this.sessions], MAX_SESSIONS);
    this.sessions.set(key, { session, cancelEnd: this.clock.after(SESSION_MS, () => this.remove(key)) });
    return { id, session };
  }
  /** The session of an id, which is used by that; undefined: there is none, no longer, or not for those who ask from elsewhere. */
  use(id: string, isLoopback: boolean): Session | undefined {
    const key = hashOf(id);
    const entry = this.sessions.use(key);
    if (entry === undefined || (entry.session.origin.isLoopback && !isLoopback)) return undefined;
    const { session } = entry;
    const now = this.clock.now();
    if (now >= session.expires || (!session.isInUse && now - session.lastUse >= IDLE_MS)) {
      this.remove(key);
      return undefined;
    }
    session.lastUse = now;
    return session;
  }
  end(id: string): void {
    this.remove(hashOf(id));
  }
  close(): void {
    for (const key of [...this.sessions.keys()]) this.remove(key);
  }
  /** Makes room for one more. What the sessions have open ends with them. */
  private removeOldest(entries: readonly (readonly [key: string, unknown])[], maximum: number): void {
    for (const [key] of entries.slice(0, Math.max(0, entries.length + 1 - maximum))) this.remove(key);
  }
  private remove(key: string): void {
    const entry = this.sessions.get(key);
    if (entry === undefined) return;
    this.sessions.delete(key);
    entry.cancelEnd();
    entry.session.end();
  }
}
