/** `Authorization: Bearer <token>`: the token authenticators run in order; a token that none of them knows is refused. */
import { isPending, type MaybePromise, whenReady } from '@plat-dev/lib/when-ready';
import { unauthorized } from '@plat-dev/meta/errors';
import { secretKey } from '../secret.ts';
import {
  type Authenticator,
  type AuthRequest,
  type BearerToken,
  type TokenAuthenticator,
  TokenRejected,
  type TokenResult,
  type User,
} from '../types.ts';
import { authenticated } from './users.ts';

/** Maximum length of a token; longer ones are refused. A token with thousands of groups has a few kilobytes. */
const maxTokenLength = 64 * 1024;

/** Longer headers are not remembered for the next request: an idle connection takes little memory. */
const keptCharacters = 4096;

export const bearerToken = (value: string): BearerToken => ({ value, key: secretKey(value) });

/**
 * The token of an Authorization header; '' where there is none. What follows a second space is ignored.
 *
 *   'Bearer abc' → 'abc'    'bearer abc def' → 'abc'    'Bearer  abc' → ''    'Basic abc' → ''
 */
export function tokenOf(header: string): string {
  const text = header.trim();
  if (text.length < 8 || text.charCodeAt(6) !== 32 || text.slice(0, 6).toLowerCase() !== 'bearer') return '';
  const end = text.indexOf(' ', 7);
  return end === -1 ? text.slice(7) : text.slice(7, end);
}

/** A second Authorization header may be the one that a proxy in front checked: the request is refused. */
function repeated(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 13 && name.toLowerCase() === 'authorization') count++;
  }
  return count > 1;
}

/**
 * Runs each token authenticator in order. Undefined if none knows the token; throws the first error if one knew it and
 * did not accept it.
 */
export function tokenUnion(kinds: readonly TokenAuthenticator[]): TokenAuthenticator {
  type Answer = MaybePromise<TokenResult | undefined>;
  const from = (token: BearerToken, audiences: readonly string[], start: number, earlier: unknown): Answer => {
    let failure = earlier;
    for (let i = start; i < kinds.length; i++) {
      try {
        const answer = (kinds[i] as TokenAuthenticator).authenticateToken(token, audiences);
        if (isPending(answer)) {
          return answer.then(
            (result) => result ?? from(token, audiences, i + 1, failure),
            (error) => from(token, audiences, i + 1, failure ?? error ?? unauthorized()),
          );
        }
        if (answer !== undefined) return answer;
      } catch (error) {
        failure ??= error ?? unauthorized();
      }
    }
    if (failure !== undefined) throw failure;
    return undefined;
  };
  return { name: 'tokens', authenticateToken: (token, audiences) => from(token, audiences, 0, undefined) };
}

/** Gives a token authenticator without audiences those of the server itself. */
export function forServerAudiences(kind: TokenAuthenticator, serverAudiences: readonly string[]): TokenAuthenticator {
  // Requests use the server's own audiences every time; their results are made once.
  const own = new WeakMap<TokenResult, TokenResult>();
  const withOwn = (result: TokenResult | undefined): TokenResult | undefined => {
    if (result === undefined) return undefined;
    let ownResult = own.get(result);
    if (ownResult === undefined) {
      ownResult = { ...result, audiences: serverAudiences };
      own.set(result, ownResult);
    }
    return ownResult;
  };
  return {
    name: kind.name,
    authenticateToken(token, audiences) {
      if (audiences === serverAudiences || audiences.length === 0) {
        return whenReady(kind.authenticateToken(token, audiences), withOwn);
      }
      const good = audiences.filter((audience) => serverAudiences.includes(audience));
      if (good.length === 0) return undefined;
      const add = (result: TokenResult | undefined): TokenResult | undefined => result && { ...result, audiences: good };
      return whenReady(kind.authenticateToken(token, audiences), add);
    },
  };
}

/** The last token of a connection, and what its authenticator said of it. */
interface TokenSighting {
  /** Of the last request: that of the next one is often the same list. */
  rawHeaders: readonly string[];
  readonly header: string;
  readonly token: BearerToken;
  result: TokenResult | undefined;
  user: User | undefined;
}

function isShort(rawHeaders: readonly string[]): boolean {
  let size = 0;
  for (let i = 0; i < rawHeaders.length; i++) size += (rawHeaders[i] as string).length;
  return size <= keptCharacters;
}

function noted(request: AuthRequest, result: TokenResult | undefined): void {
  if (result?.notes !== undefined) request.noteToken?.(result.notes);
}

function refuse(error: unknown): never {
  const refusal = unauthorized(error instanceof TokenRejected && error.isShown ? error.message : undefined);
  refusal.cause = error;
  throw refusal;
}

/** `audiences` are those of this server; a token for others only is refused. */
export function bearer(tokens: TokenAuthenticator, audiences: readonly string[]): Authenticator {
  // The user of a result is the same object as long as the token's authenticator remembers it.
  const users = new WeakMap<User, User>();
  // A client sends the same header repeatedly over its connection: its hash is computed once.
  const lastSeen = new WeakMap<object, TokenSighting>();

  const userOf = (result: TokenResult | undefined): User => {
    if (result === undefined) throw unauthorized();
    if (result.audiences !== undefined && audiences.length > 0 && !result.audiences.some((one) => audiences.includes(one))) {
      throw unauthorized();
    }
    let user = users.get(result.user);
    if (user === undefined) {
      user = authenticated(result.user);
      users.set(result.user, user);
    }
    return user;
  };
  /** The token of a request, as the last one of the connection where it is the same; undefined where there is none. */
  const seenIn = ({ headers, rawHeaders, socketKey }: AuthRequest): TokenSighting | undefined => {
    const previousSighting = socketKey === undefined ? undefined : lastSeen.get(socketKey);
    if (previousSighting !== undefined && previousSighting.rawHeaders === rawHeaders) return previousSighting;
    const header = headers.authorization;
    if (typeof header !== 'string') return undefined;
    if (repeated(rawHeaders)) throw unauthorized();
    if (previousSighting !== undefined && previousSighting.header === header) {
      if (isShort(rawHeaders)) previousSighting.rawHeaders = rawHeaders;
      return previousSighting;
    }
    const value = tokenOf(header);
    if (value === '') return undefined;
    if (value.length > maxTokenLength) throw unauthorized();
    const newSighting: TokenSighting = { rawHeaders, header, token: bearerToken(value), result: undefined, user: undefined };
    if (socketKey !== undefined) {
      if (isShort(rawHeaders)) lastSeen.set(socketKey, newSighting);
      else lastSeen.delete(socketKey);
    }
    return newSighting;
  };
  return {
    name: 'bearer',
    authenticate(request) {
      const sighting = seenIn(request);
      if (sighting === undefined) return undefined;
      let answer: MaybePromise<TokenResult | undefined>;
      try {
        answer = tokens.authenticateToken(sighting.token, audiences);
      } catch (error) {
        return refuse(error);
      }
      if (isPending(answer))
        return answer.then((result) => {
          noted(request, result);
          return userOf(result);
        }, refuse);
      noted(request, answer);
      // The same result as before has the same user.
      if (answer === undefined || answer !== sighting.result) {
        sighting.user = userOf(answer);
        sighting.result = answer;
      }
      return sighting.user;
    },
  };
}
