/**
 * Authentication and authorization. Authenticators turn a request into a user; authorizers turn a user and the attributes of
 * a request into a decision. Both answer synchronously if they can: a promise is only for those that call out, so that the
 * request path awaits nothing when nothing is remote.
 */

import { isPending, type MaybePromise } from '@plat-dev/lib/when-ready';
import { unauthorized } from '@plat-dev/meta/errors';
import type { User } from '@plat-dev/meta/user';
import type { ClientCertificate } from '../connections/client-certificates.ts';
import type { Selectors } from './selectors.ts';

export type { User };

/** Groups and users with built-in names. */
export const wellKnown = {
  masters: 'system:masters',
  authenticated: 'system:authenticated',
  unauthenticated: 'system:unauthenticated',
  anonymous: 'system:anonymous',
  nodes: 'system:nodes',
  nodePrefix: 'system:node:',
  serviceAccounts: 'system:serviceaccounts',
  serviceAccountPrefix: 'system:serviceaccount:',
  bootstrappers: 'system:bootstrappers',
  bootstrapPrefix: 'system:bootstrap:',
} as const;

/** The parts of a request that an authenticator may use. */
export interface AuthRequest {
  /** Header names in lower case, as `node:http` gives them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Of the URL, without the query. */
  readonly path?: string;
  /** Alternating names and values, as received: the only place where repeated headers can be distinguished from commas. */
  readonly rawHeaders: readonly string[];
  /** The certificate of the client, the same object for all requests of a connection. Absent on plain connections, and without one. */
  readonly clientCertificate?: ClientCertificate | undefined;
  /** Gets what there is to say of the token of the request. */
  noteToken?(notes: TokenNotes): void;
  /** The same object for all requests of a connection: a key for what is computed once per connection. */
  readonly socketKey?: object;
}

/**
 * One authentication method.
 *
 *   undefined      the request carries no credential of this kind: the next method runs
 *   a user         authenticated
 *   throws         the request carries such a credential and it is not valid: another method may still authenticate
 *                  the caller, but the caller will not be anonymous
 */
export interface Authenticator {
  readonly name: string;
  authenticate(request: AuthRequest): MaybePromise<User | undefined>;
}

/** What a token proves. `audiences` are those requested audiences that it is valid for; absent: it has no audiences. */
export interface TokenResult {
  readonly user: User;
  readonly audiences?: readonly string[];
  /** What clients are warned of, and what the audit trail is told of the token. */
  readonly notes?: TokenNotes | undefined;
}
export interface TokenNotes {
  readonly warning?: string;
  /** Key and value. */
  readonly annotation: readonly [string, string];
}

/** A bearer token and the salted hash by which it is looked up and cached. */
export interface BearerToken {
  readonly value: string;
  readonly key: string;
}

/**
 * Why a token is not accepted. The text is for token reviews; the client that sent the token gets it only if it is
 * `isShown`, because it was written for that client.
 */
export class TokenRejected extends Error {
  readonly isShown: boolean;

  constructor(message: string, isShown = false) {
    super(message);
    this.name = 'TokenRejected';
    this.isShown = isShown;
  }
}

/** The token may be valid: the authenticator could not find out. */
export class TokenUnchecked extends TokenRejected {}

/**
 * One kind of bearer token; the rules of `Authenticator` apply. `audiences` are the requested audiences;
 * empty means any.
 */
export interface TokenAuthenticator {
  readonly name: string;
  authenticateToken(token: BearerToken, audiences: readonly string[]): MaybePromise<TokenResult | undefined>;
}

/** The attributes of a request, in the terms of policy rules. `group` is the full group name. */
export interface Attributes {
  readonly user: User;
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  readonly namespace: string;
  /** The path of a request that is not for a resource. */
  readonly path: string;
  readonly resourceRequest: boolean;
  /** What a list, a watch or the deletion of a collection is limited to. Absent: nothing. */
  readonly selectors?: Selectors | undefined;
}

/**
 * `allow` and `deny` are final; `none` leaves it to the next authorizer. `error` reports rules that could not be evaluated.
 */
export interface Decision {
  readonly decision: 'allow' | 'deny' | 'none';
  readonly reason: string;
  readonly error?: string;
}

export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}
export interface NonResourceRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs: readonly string[];
}
/** The permissions of a user in a namespace, as far as the authorizers can list them. */
export interface RuleSet {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** The list is incomplete, for example because an authorizer is a remote service. */
  readonly incomplete: boolean;
  readonly error?: string;
}

export interface Authorizer {
  readonly name: string;
  authorize(attributes: Attributes): MaybePromise<Decision>;
  /**
   * Reads a count that differs after every change that may make the answer to any question of this user another one. Undefined where
   * the answer may be another one at any time; absent: so for every user.
   */
  changes?(user: User): (() => number) | undefined;
  rulesFor(user: User, namespace: string): Promise<RuleSet>;
}

export const noOpinion: Decision = { decision: 'none', reason: '' };

/**
 * Runs the methods in order; the first that authenticates a user wins. If none does and one was given an invalid
 * credential, the request is refused; only a request without any such credential reaches `fallback` (anonymous).
 */
export function union(authenticators: readonly Authenticator[], fallback?: Authenticator): Authenticator {
  const last = (request: AuthRequest, failure: unknown) => {
    if (failure !== undefined) throw failure;
    return fallback?.authenticate(request);
  };
  const from = (request: AuthRequest, start: number, earlier: unknown): MaybePromise<User | undefined> => {
    let failure = earlier;
    for (let i = start; i < authenticators.length; i++) {
      try {
        const answer = (authenticators[i] as Authenticator).authenticate(request);
        if (isPending(answer)) {
          return answer.then(
            (user) => user ?? from(request, i + 1, failure),
            (error) => from(request, i + 1, failure ?? error ?? unauthorized()),
          );
        }
        if (answer !== undefined) return answer;
      } catch (error) {
        failure ??= error ?? unauthorized();
      }
    }
    return last(request, failure);
  };
  return { name: 'union', authenticate: (request) => from(request, 0, undefined) };
}

const joined = (reasons: readonly string[]): string => reasons.filter((reason) => reason !== '').join('\n');

/** The answers never change. */
export const noChanges = (): number => 0;
function sumOf(counts: readonly ((() => number) | undefined)[]): (() => number) | undefined {
  const some: (() => number)[] = [];
  for (const count of counts) {
    if (count === undefined) return undefined;
    if (count !== noChanges) some.push(count);
  }
  // Counts only grow, so that their sum is another one when any of them is.
  return some.length <= 1 ? (some[0] ?? noChanges) : () => some.reduce((sum, count) => sum + count(), 0);
}

/** Runs the authorizers in order until one allows or denies; if none does, the reasons of all are returned. */
export function unionAuthorizer(authorizers: readonly Authorizer[]): Authorizer {
  const from = (attributes: Attributes, start: number, earlier: readonly Decision[]): MaybePromise<Decision> => {
    let open = earlier;
    for (let i = start; i < authorizers.length; i++) {
      const answer = (authorizers[i] as Authorizer).authorize(attributes);
      if (isPending(answer)) {
        const previousDecisions = open;
        return answer.then((decision) =>
          decision.decision === 'none' ? from(attributes, i + 1, [...previousDecisions, decision]) : decision,
        );
      }
      if (answer.decision !== 'none') return answer;
      if (answer.reason !== '' || answer.error !== undefined) open = [...open, answer];
    }
    if (open.length === 0) return noOpinion;
    const error = joined(open.map((decision) => decision.error ?? ''));
    return { decision: 'none', reason: joined(open.map((decision) => decision.reason)), ...(error !== '' && { error }) };
  };
  return {
    name: 'union',
    authorize: (attributes) => from(attributes, 0, []),
    changes: (user) => sumOf(authorizers.map((authorizer) => authorizer.changes?.(user))),
    async rulesFor(user, namespace) {
      const sets = await Promise.all(authorizers.map((authorizer) => authorizer.rulesFor(user, namespace)));
      const error = sets
        .map((set) => set.error ?? '')
        .filter((text) => text !== '')
        .join(', ');
      return {
        resourceRules: sets.flatMap((set) => set.resourceRules),
        nonResourceRules: sets.flatMap((set) => set.nonResourceRules),
        incomplete: sets.some((set) => set.incomplete),
        ...(error !== '' && { error }),
      };
    },
  };
}
