/** All authenticators, in the order in which they run. */
import { type Authenticator, type TokenAuthenticator, union } from '../types.ts';
import { bearer, forServerAudiences, tokenUnion } from './bearer.ts';

/** The enabled authenticators. Each is made by the function of the same name, from its own options. */
export interface AuthenticationMethods {
  readonly requestHeader?: Authenticator | undefined;
  readonly clientCertificate?: Authenticator | undefined;
  readonly staticTokens?: TokenAuthenticator | undefined;
  readonly serviceAccountTokens?: TokenAuthenticator | undefined;
  readonly bootstrapTokens?: TokenAuthenticator | undefined;
  readonly oidcTokens?: TokenAuthenticator | undefined;
  readonly tokenWebhook?: TokenAuthenticator | undefined;
  /** For requests without credentials; absent: there are no such. */
  readonly anonymous?: Authenticator | undefined;
  /** Audiences of this server, one of which a token must have. */
  readonly audiences: readonly string[];
}

export interface Authentication {
  readonly authenticator: Authenticator;
  /** The token authenticators, for token reviews. */
  readonly tokens: TokenAuthenticator;
}

const present = <T>(values: readonly (T | undefined)[]): T[] => values.filter((value): value is T => value !== undefined);

export function authentication(methods: AuthenticationMethods): Authentication {
  const { audiences } = methods;
  // Authenticators without audiences stand for those of the server.
  const agnostic = (kind: TokenAuthenticator | undefined) => kind && forServerAudiences(kind, audiences);
  const tokens = tokenUnion(
    present([
      agnostic(methods.staticTokens),
      methods.serviceAccountTokens,
      agnostic(methods.bootstrapTokens),
      agnostic(methods.oidcTokens),
      methods.tokenWebhook,
    ]),
  );
  const order = present([methods.requestHeader, methods.clientCertificate, bearer(tokens, audiences)]);
  return { tokens, authenticator: union(order, methods.anonymous) };
}
