/** Authenticators and authorizers of a server, as its options ask for them. */
import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { anonymous } from '../auth/authn/anonymous.ts';
import { bearer, forServerAudiences, tokenUnion } from '../auth/authn/bearer.ts';
import { bootstrapTokens } from '../auth/authn/bootstrap-token.ts';
import { clientCertificate } from '../auth/authn/client-certificate.ts';
import { requestHeader } from '../auth/authn/request-header.ts';
import { staticTokens } from '../auth/authn/static-tokens.ts';
import { NodeAuthorizer } from '../auth/authz/node.ts';
import { RoleBasedAccess } from '../auth/authz/rbac.ts';
import { alwaysAllow, alwaysDeny, superuser } from '../auth/authz/simple.ts';
import { serviceAccountTokens } from '../auth/service-account/authenticator.ts';
import type { TokenIssuer } from '../auth/service-account/token-request.ts';
import {
  type Authenticator,
  type Authorizer,
  noOpinion,
  type TokenAuthenticator,
  union,
  unionAuthorizer,
  wellKnown,
} from '../auth/types.ts';
import type { Credentials } from '../credentials.ts';
import type { ServerOptions } from '../flags.ts';
import type { Identity } from '../identity.ts';
import type { LiveSource } from '../kinds/live.ts';
import { readBundle, readPublicKeys } from '../lib/pki.ts';

export interface Auth {
  readonly authenticator: Authenticator;
  /** Bearer tokens of all kinds, for TokenReview. */
  readonly tokens: TokenAuthenticator;
  readonly authorizer: Authorizer;
  readonly rbac: RoleBasedAccess;
  readonly audiences: readonly string[];
  readonly issuer: TokenIssuer;
  /** Keys that verify service account tokens. */
  readonly publicKeys: readonly KeyObject[];
  close(): void;
}

export async function composeAuth(options: ServerOptions, identity: Identity, credentials: Credentials, live: LiveSource): Promise<Auth> {
  const now = (): number => Date.now();
  const issuers = options.serviceAccountIssuer.length > 0 ? options.serviceAccountIssuer : [`https://${identity.serviceName}.default.svc`];
  const audiences = options.apiAudiences.length > 0 ? options.apiAudiences : issuers;
  const signingKey = await credentials.signingKey();
  const publicKeys = [
    ...readPublicKeys(signingKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
    ...options.serviceAccountKeyFile.flatMap((file) => readPublicKeys(readFileSync(file, 'utf8'))),
  ];
  const kinds: TokenAuthenticator[] = [];
  const closers: (() => void)[] = [];
  if (options.tokenAuthFile !== undefined)
    kinds.push(forServerAudiences(staticTokens(readFileSync(options.tokenAuthFile, 'utf8')), audiences));
  kinds.push(serviceAccountTokens({ identity, issuers, keys: () => publicKeys, audiences, live, now }));
  if (options.enableBootstrapTokenAuth) kinds.push(forServerAudiences(bootstrapTokens(identity, live, now), audiences));
  if (options.oidcIssuerUrl !== '') {
    const { oidc, close } = await openidTokens(options);
    kinds.push(forServerAudiences(oidc, audiences));
    closers.push(close);
  }
  const tokens = tokenUnion(kinds);
  const clientRoots = credentials.clientCAs.flatMap((pem) => readBundle(pem));
  const methods = [...proxyMethods(options, now), clientCertificate(() => clientRoots, now), bearer(tokens, audiences)];
  const rbac = new RoleBasedAccess(live, identity);
  const authorizers = options.authorizationMode.flatMap((mode) => authorizerFor(mode, rbac, live, identity));
  return {
    authenticator: union(methods, options.anonymousAuth ? anonymous : undefined),
    tokens,
    authorizer: unionAuthorizer([superuser, ...authorizers]),
    rbac,
    audiences,
    issuer: {
      identity,
      issuer: issuers[0] as string,
      key: signingKey,
      audiences,
      live,
      now,
      extend: options.serviceAccountExtendTokenExpiration,
      ...(options.serviceAccountMaxTokenExpiration > 0 && { maxSeconds: options.serviceAccountMaxTokenExpiration / 1000 }),
    },
    publicKeys,
    close: () => {
      for (const close of closers) close();
    },
  };
}

async function openidTokens(options: ServerOptions): Promise<{ oidc: TokenAuthenticator; close: () => void }> {
  const { checkOidcOptions, oidcTokens } = await import('../auth/oidc/authenticator.ts');
  const settings = {
    issuerURL: options.oidcIssuerUrl,
    clientID: options.oidcClientId,
    usernameClaim: options.oidcUsernameClaim,
    usernamePrefix: options.oidcUsernamePrefix,
    groupsClaim: options.oidcGroupsClaim,
    groupsPrefix: options.oidcGroupsPrefix,
    requiredClaims: Object.fromEntries(options.oidcRequiredClaim),
    signingAlgs: options.oidcSigningAlgs,
    ...(options.oidcCaFile !== undefined && { ca: readFileSync(options.oidcCaFile, 'utf8') }),
    now: () => Date.now(),
  };
  const wrong = checkOidcOptions(settings);
  if (wrong !== undefined) throw new Error(`--${wrong}`);
  const oidc = oidcTokens(settings);
  // The provider may come up later than this server; a token that needs its keys asks again.
  oidc.start().catch(() => {});
  return { oidc, close: () => oidc.close() };
}

function proxyMethods(options: ServerOptions, now: () => number): Authenticator[] {
  if (options.requestheaderClientCaFile === undefined) return [];
  const roots = readBundle(readFileSync(options.requestheaderClientCaFile, 'utf8'));
  return [
    requestHeader({
      usernameHeaders: options.requestheaderUsernameHeaders,
      groupHeaders: options.requestheaderGroupHeaders,
      extraHeaderPrefixes: options.requestheaderExtraHeadersPrefix,
      allowedNames: options.requestheaderAllowedNames,
      roots: () => roots,
      now,
    }),
  ];
}

function authorizerFor(mode: string, rbac: RoleBasedAccess, live: LiveSource, identity: Identity): Authorizer[] {
  if (mode === 'RBAC') return [rbac];
  if (mode === 'Node') return [whenNeeded(() => new NodeAuthorizer(live, identity))];
  if (mode === 'AlwaysAllow') return [alwaysAllow];
  if (mode === 'AlwaysDeny') return [alwaysDeny];
  return [];
}

/** The node authorizer follows every pod; a server without node agents does not pay for that. */
function whenNeeded(make: () => Authorizer): Authorizer {
  let made: Authorizer | undefined;
  const isNode = (groups: readonly string[]): boolean => groups.includes(wellKnown.nodes);
  const authorizer = (): Authorizer => {
    made ??= make();
    return made;
  };
  return {
    name: 'Node',
    authorize: (asked) => (isNode(asked.user.groups) ? authorizer().authorize(asked) : noOpinion),
    rulesFor: (user, namespace) =>
      isNode(user.groups) ? authorizer().rulesFor(user, namespace) : { resourceRules: [], nonResourceRules: [], incomplete: false },
  };
}
