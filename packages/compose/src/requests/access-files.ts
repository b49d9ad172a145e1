/**
 * The files of `--authentication-config` and `--authorization-config`. At the start one that cannot be used ends the start; later it
 * leaves what was in use before, with one line in the log and one in the metrics.
 */
import type { FileReloader, Followed } from '@plat-dev/lib/files/reload';
import type { Metrics } from '@plat-dev/lib/metrics';
import { isAtLeast } from '@plat-dev/lib/version';
import { anonymous, anonymousAt } from '@plat-dev/server/auth/authn/anonymous';
import { tokenUnion } from '@plat-dev/server/auth/authn/bearer';
import type { AuthorizerEntry } from '@plat-dev/server/auth/authz/index';
import type { ConfigSurroundings, JwtSettings } from '@plat-dev/server/auth/configuration/authentication-config';
import type { AuthorizerSettings } from '@plat-dev/server/auth/configuration/authorization-config';
import { userOfClaims } from '@plat-dev/server/auth/configuration/claim-rules';
import { underConditions } from '@plat-dev/server/auth/configuration/conditional-webhook';
import type { OidcTokens } from '@plat-dev/server/auth/oidc/authenticator';
import type { Authenticator, TokenAuthenticator } from '@plat-dev/server/auth/types';
import type { WebhookAuthorizer } from '@plat-dev/server/auth/webhook/authorizer';
import type { Base } from '../base.ts';
import type { Trust } from '../credentials/trust.ts';
import { remoteOf } from './remote-of.ts';

const FIRST_RELEASE = '1.29';

const surroundingsOf = ({ identity, options }: Base): ConfigSurroundings => ({
  identity,
  release: options.apiRelease,
  feature: (gate) => options.features.isOn(gate),
});

/** Throws where the server's release has no such file. */
function checkRelease({ options }: Base, flag: string, gate: string): void {
  const { apiRelease, features } = options;
  if (!isAtLeast(apiRelease, FIRST_RELEASE)) throw new Error(`--${flag} needs --api-release ${FIRST_RELEASE} or newer, not ${apiRelease}`);
  if (!features.isOn(gate)) throw new Error(`--${flag} needs the feature gate ${gate}, which is off`);
}

/** Reads the file, and counts what comes of it when it changes. */
function followed<T>({ metrics, clock }: Base, files: FileReloader, flag: string, file: string, read: (text: string) => T): Followed<T> {
  const reloads = reloadMetrics(metrics, flag);
  let isFirst = true;
  try {
    return files.follow([file], ([text]) => {
      const counted = (status: 'success' | 'failure'): void => {
        if (!isFirst) reloads.note(status, clock.now() / 1000);
        isFirst = false;
      };
      try {
        const value = read(text as string);
        counted('success');
        return value;
      } catch (error) {
        counted('failure');
        throw error;
      }
    });
  } catch (error) {
    throw new Error(`--${flag} ${file}: ${(error as Error).message}`);
  }
}

function reloadMetrics(metrics: Metrics, flag: string) {
  const subsystem = flag.replace('-', '_');
  const total = metrics.counter({
    name: `apiserver_${subsystem}_controller_automatic_reloads_total`,
    help: `Reloads of the file of --${flag}, by whether it could be used.`,
    labels: ['status'],
  });
  const last = metrics.gauge({
    name: `apiserver_${subsystem}_controller_automatic_reload_last_timestamp_seconds`,
    help: `When the file of --${flag} was reloaded last, by whether it could be used.`,
    labels: ['status'],
  });
  return {
    note(status: 'success' | 'failure', seconds: number): void {
      total.with(status).inc();
      last.with(status).set(seconds);
    },
  };
}

export interface ConfiguredAuthentication {
  readonly tokens: TokenAuthenticator;
  /** Undefined where the file does not say who may be anonymous. */
  readonly anonymous: Authenticator | undefined;
  /** Whether the file itself says who may be anonymous. */
  saysAnonymous(): boolean;
  close(): void;
}

/** `ownIssuers`: of service account tokens. */
export async function configuredAuthentication(
  base: Base,
  files: FileReloader,
  ownIssuers: readonly string[],
): Promise<ConfiguredAuthentication | undefined> {
  const { options, clock } = base;
  const { authenticationConfig: file } = options;
  if (file === undefined) return undefined;
  checkRelease(base, 'authentication-config', 'StructuredAuthenticationConfiguration');
  const { readAuthenticationConfig } = await import('@plat-dev/server/auth/configuration/authentication-config');
  const { jwtTokens } = await import('@plat-dev/server/auth/oidc/authenticator');
  const { algorithms } = await import('@plat-dev/pki/jwt');
  const opened = (settings: JwtSettings): OidcTokens => {
    const { issuerURL, discoveryURL, ca, audiences, rules } = settings;
    const userOf = (claims: Parameters<typeof userOfClaims>[1]) => userOfClaims(rules, claims);
    const provider = jwtTokens({ issuerURL, discoveryURL, ca, audiences, algorithms: Object.keys(algorithms), userOf, clock });
    // The provider may start later than this server; a token that needs its keys triggers a reload.
    provider.start().catch(() => {});
    return provider;
  };
  let saidAnonymous = false;
  const config = followed(base, files, 'authentication-config', file, (text) => {
    const read = readAuthenticationConfig(text, surroundingsOf(base), ownIssuers);
    // What the authorizers allow was accepted because of it.
    if (saidAnonymous && read.anonymous === undefined && options.authorizationConfig !== undefined)
      throw new Error('anonymous: Required value: with --authorization-config the file cannot stop saying who may be anonymous');
    saidAnonymous = read.anonymous !== undefined;
    return read;
  });
  if (config.current.anonymous !== undefined && !options.anonymousAuth && !options.authorizationMode.includes('AlwaysAllow'))
    throw new Error('--anonymous-auth=false and the field anonymous of --authentication-config exclude each other');
  let providers = new Map(config.current.jwt.map((settings) => [settings.id, opened(settings)] as const));
  let tokens = tokenUnion([...providers.values()]);
  config.onChange(({ jwt }) => {
    const previous = providers;
    // A provider whose settings are the same keeps its keys.
    providers = new Map(jwt.map((settings) => [settings.id, previous.get(settings.id) ?? opened(settings)] as const));
    tokens = tokenUnion([...providers.values()]);
    for (const [id, provider] of previous) if (!providers.has(id)) provider.close();
  });
  return {
    tokens: { name: 'jwt', authenticateToken: (token, audiences) => tokens.authenticateToken(token, audiences) },
    anonymous: anonymousBy(base, () => config.current.anonymous),
    saysAnonymous: () => saidAnonymous,
    close: () => {
      for (const provider of providers.values()) provider.close();
    },
  };
}

/** Where the file does not say, the flag does. */
function anonymousBy(
  { options }: Base,
  settings: () => { readonly enabled: boolean; readonly paths?: readonly string[] | undefined } | undefined,
): Authenticator {
  let last: { readonly of: unknown; readonly authenticator: Authenticator | undefined } | undefined;
  const current = (): Authenticator | undefined => {
    const said = settings();
    if (said === undefined) return options.anonymousAuth ? anonymous : undefined;
    if (last?.of !== said)
      last = { of: said, authenticator: !said.enabled ? undefined : said.paths === undefined ? anonymous : anonymousAt(said.paths) };
    return last.authenticator;
  };
  return { name: 'anonymous', authenticate: (request) => current()?.authenticate(request) };
}

export interface ConfiguredAuthorization {
  readonly chain: readonly AuthorizerEntry[];
  /** Called with each later one. */
  onChange(replace: (chain: readonly AuthorizerEntry[]) => void): void;
  close(): void;
}

/** `saysAnonymous`: whether `--authentication-config` says who may be anonymous. */
export async function configuredAuthorization(
  base: Base,
  files: FileReloader,
  trust: Trust,
  saysAnonymous: () => boolean,
): Promise<ConfiguredAuthorization | undefined> {
  const { options, log } = base;
  const { authorizationConfig: file } = options;
  if (file === undefined) return undefined;
  checkRelease(base, 'authorization-config', 'StructuredAuthorizationConfiguration');
  const { readAuthorizationConfig } = await import('@plat-dev/server/auth/configuration/authorization-config');
  const opener = await webhookOpener(base, trust);
  const config = followed(base, files, 'authorization-config', file, (text) => {
    const settings = readAuthorizationConfig(text, surroundingsOf(base));
    if (options.anonymousAuth && !saysAnonymous()) checkStrangers(settings);
    return settings;
  });
  let webhooks: WebhookAuthorizer[] = [];
  const chainOf = async (settings: readonly AuthorizerSettings[]): Promise<AuthorizerEntry[]> => {
    const openedWebhooks: WebhookAuthorizer[] = [];
    try {
      const chain: AuthorizerEntry[] = [];
      for (const one of settings) {
        const webhook = one.webhook === undefined ? undefined : await opener(one);
        if (webhook !== undefined) openedWebhooks.push(webhook);
        chain.push({ type: one.type, webhook });
      }
      return chain;
    } catch (error) {
      for (const webhook of openedWebhooks) webhook.close();
      throw error;
    }
  };
  const used = (chain: readonly AuthorizerEntry[]): WebhookAuthorizer[] =>
    chain.flatMap(({ webhook }) => (webhook === undefined ? [] : [webhook as WebhookAuthorizer]));
  const chain = await chainOf(config.current);
  webhooks = used(chain);
  return {
    chain,
    onChange(replace) {
      // Changes are applied in the order in which they came.
      let turn: Promise<void> = Promise.resolve();
      config.onChange((settings) => {
        turn = turn
          .then(async () => {
            const next = await chainOf(settings);
            const previous = webhooks;
            webhooks = used(next);
            replace(next);
            for (const webhook of previous) webhook.close();
          })
          .catch((error: unknown) =>
            log.error('authorization configuration not used, keeping the previous one', { file, error: (error as Error).message }),
          );
      });
    },
    close: () => {
      for (const webhook of webhooks) webhook.close();
    },
  };
}

/** Throws where requests without credentials could do everything. */
function checkStrangers(settings: readonly AuthorizerSettings[]): void {
  if (settings.every(({ type }) => type !== 'AlwaysAllow')) return;
  throw new Error(
    'an authorizer of type AlwaysAllow lets requests without credentials do everything: give --anonymous-auth=false, or say in --authentication-config who may be anonymous',
  );
}

/** Makes webhooks from their settings. Throws where the file that says how to reach one cannot be used. */
async function webhookOpener(base: Base, trust: Trust) {
  const { identity, clock, random, metrics, options } = base;
  const { webhookAuthorizer } = await import('@plat-dev/server/auth/webhook/authorizer');
  const counts = webhookMetrics(metrics);
  const selectors = options.features.isOn('AuthorizeWithSelectors');
  return async ({ name, webhook }: AuthorizerSettings): Promise<WebhookAuthorizer | undefined> => {
    if (webhook === undefined) return undefined;
    const { version, allowedMillis, refusedMillis, timeoutMillis, onFailure, conditions } = webhook;
    const authorizer = webhookAuthorizer({
      identity,
      name: `Webhook ${name}`,
      remote: await remoteOf(`authorization-config: authorizer ${name}:`, webhook.kubeConfigFile, trust, clock),
      retry: { timeoutMillis },
      answered: (result) => counts.evaluations.with(name, result).inc(),
      ...{ version, allowedMillis, refusedMillis, onFailure, clock, random, selectors },
    });
    const observer = { failed: () => counts.failures.with(name).inc(), excluded: () => counts.exclusions.with(name).inc() };
    return underConditions(authorizer, { conditions, onFailure, selectors, observer });
  };
}

function webhookMetrics(metrics: Metrics) {
  const MOST_WEBHOOKS = 64;
  const counter = (name: string, help: string, labels: readonly string[]) =>
    metrics.counter({ name: `apiserver_authorization_${name}`, help, labels, maxSeries: 2 * MOST_WEBHOOKS });
  return {
    evaluations: counter('webhook_evaluations_total', 'Questions to authorization webhooks, by name and result.', ['name', 'result']),
    failures: counter('match_condition_evaluation_errors_total', 'Requests for which a match condition failed, by webhook.', ['name']),
    exclusions: counter('match_condition_exclusions_total', 'Requests that match conditions kept from a webhook.', ['name']),
  };
}
