/** The checks as functions that throw an AssertionError, for node:test and any other runner. */
import { AssertionError } from 'node:assert';
import type { Check } from './check.ts';
import {
  checkEventually,
  checkGone,
  type EventuallyOptions,
  type ObjectPattern,
  type ObjectReference,
  type WatchableServer,
} from './eventually.ts';
import type { SeeingServer } from './matchers.ts';
import { type AnyObject, checkCondition, checkOwner, type OwnerChoice } from './objects.ts';
import { checkRequests, type RequestPattern } from './request-checks.ts';

function hold({ pass, message, actual, expected }: Check): void {
  if (!pass) throw new AssertionError({ message: message(), actual, expected });
}

/** The server has answered such a request. */
export const assertSeen = (server: Pick<SeeingServer, 'requests'>, pattern: RequestPattern): void =>
  hold(checkRequests(server.requests, pattern));
/** The server has answered exactly so many such requests; 0: none. */
export const assertSeenTimes = (server: Pick<SeeingServer, 'requests'>, pattern: RequestPattern, times: number): void =>
  hold(checkRequests(server.requests, pattern, times));
/** The object has a condition of this type, with this status (default `True`) and reason. */
export const assertCondition = (object: unknown, type: string, status?: string, reason?: string): void =>
  hold(checkCondition(object, type, status, reason));
/** The object names this owner: an object, or some of apiVersion, kind, name, uid and controller. */
export const assertOwnedBy = (object: unknown, owner: AnyObject | OwnerChoice): void => hold(checkOwner(object, owner));
/** An object of the server matches a part or a function, now or before the timeout. */
export const assertEventually = async (
  server: WatchableServer,
  object: ObjectReference | AnyObject,
  pattern: ObjectPattern,
  options?: EventuallyOptions,
): Promise<void> => hold(await checkEventually(server, object, pattern, options));
/** An object of the server does not exist, or is deleted before the timeout. */
export const assertEventuallyGone = async (
  server: WatchableServer,
  object: ObjectReference | AnyObject,
  options?: EventuallyOptions,
): Promise<void> => hold(await checkGone(server, object, options));
