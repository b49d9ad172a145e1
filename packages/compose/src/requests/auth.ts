/** Authenticators and authorizers of a server, by its options. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { LiveSource } from '@plat-dev/kinds/live-view';
import type { Clock } from '@plat-dev/lib/clock';
import type { FileReloader, Followed } from '@plat-dev/lib/files/reload';
import { cut } from '@plat-dev/lib/message-values';
import { isAtLeast } from '@plat-dev/lib/version';
import { domainName } from '@plat-dev/meta/identity';
import { anonymous } from '@plat-dev/server/auth/authn/anonymous';
import { bootstrapTokens } from '@plat-dev/server/auth/authn/bootstrap-token';
import { type CertificateTrust, clientCertificate } from '@plat-dev/server/auth/authn/client-certificate';
import { authentication } from '@plat-dev/server/auth/authn/index';
import { requestHeader } from '@plat-dev/server/auth/authn/request-header';
import { staticTokens } from '@plat-dev/server/auth/authn/static-tokens';
import type { EscalationCheck } from '@plat-dev/server/auth/authz/escalation';
import { authorization } from '@plat-dev/server/auth/authz/index';
import { serviceAccountTokens } from '@plat-dev/server/auth/service-account/authenticator';
import type { LegacyTokenUse } from '@plat-dev/server/auth/service-account/legacy-token-use';
import { tokenFeatures } from '@plat-dev/server/auth/service-account/token-features';
import type { TokenIssuer } from '@plat-dev/server/auth/service-account/token-request';
import type { Authenticator, Authorizer, TokenAuthenticator } from '@plat-dev/server/auth/types';
import type { Base } from '../base.ts';
import type { ServerOptions } from '../config/server-options.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { Bundle, Trust } from '../credentials/trust.ts';
import { configuredAuthentication, configuredAuthorization } from './access-files.ts';
import { remoteOf } from './remote-of.ts';

export interface Auth {
  readonly authenticator: Authenticator;
  /** Bearer tokens of all kinds, for TokenReview. */
  readonly tokens: TokenAuthenticator;
  readonly authorizer: Authorizer;
  /** Those that it asks, in their order. */
  readonly authorizers: readonly Authorizer[];
  readonly escalation: EscalationCheck;
  readonly audiences: readonly string[];
  /** The issuer and the keys of service account tokens: both are there as soon as the server has its own key. */
  readonly issuerName: string;
  readonly issuer: () => Promise<TokenIssuer>;
  readonly publicKeys: () => Promise<readonly KeyObject[]>;
}

export async function composeAuth(
  base: Base,
  credentials: Credentials,
  live: LiveSource,
  trust: Trust,
  files: FileReloader,
  tokenUse: LegacyTokenUse,
): Promise<Auth> {
  const { options, identity, clock, random, parts } = base;
  const now = (): number => clock.now();
  const closing = <T extends { close(): void } | undefined>(name: string, method: T): T => {
    if (method !== undefined) parts.add(name, () => method.close());
    return method;
  };
  const issuers = options.serviceAccountIssuer.length > 0 ? options.serviceAccountIssuer : [`https://${identity.serviceName}.default.svc`];
  const audiences = options.apiAudiences.length > 0 ? options.apiAudiences : issuers;
  const issuerName = issuers[0] as string;
  const publicKeys = async () => [createPublicKey(await credentials.signingKey()), ...trust.tokenKeys.current];
  const features = tokenFeatures(options.apiRelease, (gate) => options.features.isOn(gate));
  const configured = closing('authentication configuration', await configuredAuthentication(base, files, issuers));
  const { authenticator, tokens } = authentication({
    requestHeader: proxy(base, trust),
    clientCertificate: clientCertificate(certificatesOf(base, trust, trust.clientCAs, 'client-ca-file'), {
      ...(isAtLeast(options.apiRelease, '1.32') && { credentialKey: domainName(identity, 'credential-id', 'authentication') }),
      uids: options.features.isOn('AllowParsingUserUIDFromCertAuth'),
    }),
    staticTokens: options.tokenAuthFile === undefined ? undefined : staticTokens(readFileSync(options.tokenAuthFile, 'utf8')),
    serviceAccountTokens: withKeys(publicKeys, trust, (keys) =>
      serviceAccountTokens({ identity, issuers, keys, audiences, live, features, now, secretUsed: (secret) => tokenUse.note(secret) }),
    ),
    bootstrapTokens: options.enableBootstrapTokenAuth ? bootstrapTokens(identity, live, now) : undefined,
    oidcTokens: configured?.tokens ?? closing('openid', await openid(options, clock)),
    tokenWebhook: closing('token webhook', await tokenService(base, audiences, trust)),
    anonymous: configured === undefined ? (options.anonymousAuth ? anonymous : undefined) : configured.anonymous,
    audiences,
  });
  const chain = closing(
    'authorization configuration',
    await configuredAuthorization(base, files, trust, () => configured?.saysAnonymous() === true),
  );
  const webhook = closing('authorization webhook', await accessService(base, trust));
  const { authorizer, authorizers, escalation, replace } = authorization({
    chain: chain?.chain ?? options.authorizationMode.map((type) => ({ type, webhook })),
    live,
    identity,
    choice: { release: options.apiRelease, feature: (gate) => options.features.isOn(gate) },
  });
  chain?.onChange(replace);
  const maxSeconds = options.serviceAccountMaxTokenExpiration / 1000;
  return {
    authenticator,
    tokens,
    authorizer: base.wrapAuthorizer === undefined ? authorizer : askedAlways(base.wrapAuthorizer(authorizer)),
    authorizers,
    escalation,
    audiences,
    issuerName,
    issuer: async () => ({
      identity,
      issuer: issuerName,
      key: await credentials.signingKey(),
      audiences,
      live,
      now,
      extend: options.serviceAccountExtendTokenExpiration,
      features,
      newId: () => random.uuid(),
      ...(maxSeconds > 0 && { maxSeconds }),
    }),
    publicKeys,
  };
}

/** Verifies tokens at once if the keys are loaded, else as soon as they are. */
function withKeys(
  coming: () => Promise<readonly KeyObject[]>,
  trust: Trust,
  make: (keys: () => readonly KeyObject[]) => TokenAuthenticator,
): TokenAuthenticator {
  let keys: readonly KeyObject[] | undefined;
  trust.tokenKeys.onChange(() => {
    keys = undefined;
  });
  const tokens = make(() => keys ?? []);
  const later: TokenAuthenticator['authenticateToken'] = async (token, audiences) => {
    keys ??= await coming();
    return tokens.authenticateToken(token, audiences);
  };
  return {
    name: tokens.name,
    authenticateToken: (token, audiences) => (keys === undefined ? later(token, audiences) : tokens.authenticateToken(token, audiences)),
  };
}

async function openid(options: ServerOptions, clock: Clock) {
  if (options.oidcIssuerUrl === '') return undefined;
  const { checkOidcOptions, oidcTokens } = await import('@plat-dev/server/auth/oidc/authenticator');
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
    clock,
  };
  const wrong = checkOidcOptions(settings);
  if (wrong !== undefined) throw new Error(`--${wrong}`);
  const oidc = oidcTokens(settings);
  // The provider may start later than this server; a token that needs its keys triggers a reload.
  oidc.start().catch(() => {});
  return oidc;
}

async function tokenService({ options, identity, clock, random }: Base, audiences: readonly string[], trust: Trust) {
  const file = options.authenticationTokenWebhookConfigFile;
  if (file === undefined) return undefined;
  const { tokenWebhook } = await import('@plat-dev/server/auth/webhook/token');
  return tokenWebhook({
    identity,
    remote: await remoteOf('authentication-token-webhook-config-file', file, trust, clock),
    version: options.authenticationTokenWebhookVersion,
    cacheMillis: options.authenticationTokenWebhookCacheTtl,
    audiences,
    clock,
    random,
  });
}

async function accessService({ options, identity, clock, random }: Base, trust: Trust) {
  const file = options.authorizationWebhookConfigFile;
  if (file === undefined) return undefined;
  const { webhookAuthorizer } = await import('@plat-dev/server/auth/webhook/authorizer');
  return webhookAuthorizer({
    identity,
    remote: await remoteOf('authorization-webhook-config-file', file, trust, clock),
    version: options.authorizationWebhookVersion,
    allowedMillis: options.authorizationWebhookCacheAuthorizedTtl,
    refusedMillis: options.authorizationWebhookCacheUnauthorizedTtl,
    selectors: options.features.isOn('AuthorizeWithSelectors'),
    clock,
    random,
  });
}

function certificatesOf({ clock, log }: Base, { revoked }: Trust, bundle: Followed<Bundle>, flag: string): CertificateTrust {
  return {
    authorities: () => bundle.current.roots,
    revoked: () => revoked?.current,
    now: () => clock.now(),
    refused: ({ subject, serialNumber }, reason) => {
      log.info('client certificate refused', { reason, subject: cut(subject, LOGGED_SUBJECT), serialNumber, flag });
    },
  };
}
/** Characters of a subject in the log. */
const LOGGED_SUBJECT = 256;

function proxy(base: Base, trust: Trust): Authenticator | undefined {
  const { options } = base;
  const { proxyCA } = trust;
  if (proxyCA === undefined) return undefined;
  return requestHeader({
    usernameHeaders: options.requestheaderUsernameHeaders,
    groupHeaders: options.requestheaderGroupHeaders,
    extraHeaderPrefixes: options.requestheaderExtraHeadersPrefix,
    allowedNames: options.requestheaderAllowedNames,
    trust: certificatesOf(base, trust, proxyCA, 'requestheader-client-ca-file'),
  });
}

/** Tests record every question: no answer is kept. */
const askedAlways = (authorizer: Authorizer): Authorizer => ({ ...authorizer, changes: () => undefined });
