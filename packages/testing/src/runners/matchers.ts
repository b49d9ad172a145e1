/** The checks as matchers for `expect.extend` of vitest and Jest. */
import type { Check } from './check.ts';
import {
  checkEventually,
  checkGone,
  type EventuallyOptions,
  type ObjectPattern,
  type ObjectReference,
  type WatchableServer,
} from './eventually.ts';
import { type AnyObject, checkCondition, checkOwner, type OwnerChoice } from './objects.ts';
import { checkRequests, type RequestPattern, type SeenRequest } from './request-checks.ts';

/** A server as the matchers read it. */
export interface SeeingServer extends WatchableServer {
  readonly requests: Iterable<SeenRequest>;
}

/** Checks that the value is a test server. */
function serverOf(value: unknown, matcher: string): SeeingServer {
  if (typeof (value as Partial<SeeingServer> | null | undefined)?.fetch === 'function') return value as SeeingServer;
  throw new TypeError(`${matcher} needs a test server: expect(server).${matcher}(…)`);
}

export const matchers = {
  toHaveSeen: (server: unknown, pattern: RequestPattern): Check => checkRequests(serverOf(server, 'toHaveSeen').requests, pattern),
  toHaveSeenTimes: (server: unknown, pattern: RequestPattern, times: number): Check =>
    checkRequests(serverOf(server, 'toHaveSeenTimes').requests, pattern, times),
  toHaveCondition: (object: unknown, type: string, status?: string, reason?: string): Check => checkCondition(object, type, status, reason),
  toBeOwnedBy: (object: unknown, owner: AnyObject | OwnerChoice): Check => checkOwner(object, owner),
  toEventuallyHave: (
    server: unknown,
    object: ObjectReference | AnyObject,
    pattern: ObjectPattern,
    options?: EventuallyOptions,
  ): Promise<Check> => checkEventually(serverOf(server, 'toEventuallyHave'), object, pattern, options),
  toEventuallyBeGone: (server: unknown, object: ObjectReference | AnyObject, options?: EventuallyOptions): Promise<Check> =>
    checkGone(serverOf(server, 'toEventuallyBeGone'), object, options),
};

/** What the matchers add to `expect(…)`; `R` is what an assertion returns. */
export interface ServerMatchers<R = void> {
  /** The server has answered such a request. */
  toHaveSeen(pattern: RequestPattern): R;
  /** The server has answered exactly so many such requests. */
  toHaveSeenTimes(pattern: RequestPattern, times: number): R;
  /** The object has a condition of this type, with this status (default `True`) and reason. */
  toHaveCondition(type: string, status?: string, reason?: string): R;
  /** The object names this owner: an object, or some of apiVersion, kind, name, uid and controller. */
  toBeOwnedBy(owner: AnyObject | OwnerChoice): R;
  /** An object of the server matches a part or a function, now or before the timeout. */
  toEventuallyHave(object: ObjectReference | AnyObject, pattern: ObjectPattern, options?: EventuallyOptions): Promise<R>;
  /** An object of the server does not exist, or is deleted before the timeout. */
  toEventuallyBeGone(object: ObjectReference | AnyObject, options?: EventuallyOptions): Promise<R>;
}
