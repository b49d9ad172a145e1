/**
 * Log-in at an OpenID provider: the authorization code flow with PKCE, a state that belongs to the browser, and a nonce.
 *
 *   begin    → the address of the provider, to which the browser is sent
 *   finish   ← the browser comes back with a code, which is exchanged for an ID token
 *
 * The ID token is then a bearer token like any other: the authenticator of the server says for each request whether it is valid.
 */
import { createHash } from 'node:crypto';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import type { Clock } from '@plat-dev/lib/clock';
import type { Random } from '@plat-dev/lib/random';
import { serviceUnavailable, unauthorized } from '@plat-dev/meta/errors';
import type { Caller } from './sessions.ts';

/** How long a log-in at the provider may take; and log-ins that are not finished, of which the oldest is forgotten. */
export const LOGIN_MS = 10 * 60_000;
const MAX_LOGINS = 1000;
/** An ID token is renewed this long before it expires. */
const RENEW_MS = 60_000;
const SECRET_BYTES = 32;
/** Those that the provider supports are asked for. */
const usefulScopes = ['openid', 'profile', 'email', 'groups', 'offline_access'];

export interface OpenIdFlow {
  readonly issuer: string;
  readonly clientId: string;
  /** Of a client that has one. */
  clientSecret(): string | undefined;
  /** Calls the provider; with a form by POST. */
  call(url: string, form?: string): Promise<{ readonly status: number; readonly text: string }>;
  /** Who has an ID token. */
  byToken(idToken: string): Caller;
}

interface Provider {
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly scope: string;
}
interface StartedLogIn {
  readonly verifier: string;
  readonly nonce: string;
  readonly redirect: string;
  readonly expires: number;
}
interface Tokens {
  readonly idToken: string;
  readonly refreshToken: string | undefined;
}
type Fields = Readonly<Record<string, unknown>>;

export class OpenIdLogIns {
  private readonly flow: OpenIdFlow;
  private readonly clock: Clock;
  private readonly random: Random;
  private provider: Provider | undefined;
  /** By the state. */
  private readonly started = new BoundedCache<string, StartedLogIn>(MAX_LOGINS);

  constructor(flow: OpenIdFlow, clock: Clock, random: Random) {
    this.flow = flow;
    this.clock = clock;
    this.random = random;
  }

  /** `redirect`: where the provider sends the browser back to. */
  async begin(redirect: string): Promise<{ readonly address: string; readonly state: string }> {
    const { authorizationEndpoint, scope } = await this.discovered();
    const secret = (): string => this.random.bytes(SECRET_BYTES).toString('base64url');
    const [state, nonce, verifier] = [secret(), secret(), secret()];
    this.started.set(state, { verifier, nonce, redirect, expires: this.clock.monotonic() + LOGIN_MS });
    const address = new URL(authorizationEndpoint);
    const query = {
      response_type: 'code',
      client_id: this.flow.clientId,
      redirect_uri: redirect,
      scope,
      state,
      nonce,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
    return { address: address.href, state };
  }

  /** Throws 401 where the provider says nothing good of the user, or the browser is not the one that began. */
  async finish(query: URLSearchParams, browserState: string | undefined): Promise<Caller> {
    const state = query.get('state') ?? '';
    const logIn = this.started.get(state);
    if (logIn === undefined || browserState !== state)
      throw unauthorized('this log-in was not begun by this browser, or is finished: begin again');
    this.started.delete(state);
    if (this.clock.monotonic() >= logIn.expires) throw unauthorized('the log-in took too long: begin again');
    const code = query.get('code');
    if (code === null) throw unauthorized(`the provider refused the log-in: ${query.get('error') ?? 'it sent no code'}`.slice(0, 200));
    const { verifier, nonce, redirect } = logIn;
    const tokens = await this.exchanged({ grant_type: 'authorization_code', code, redirect_uri: redirect, code_verifier: verifier });
    if (claimsOf(tokens.idToken).nonce !== nonce) throw unauthorized('the provider answered another log-in than this one');
    return this.callerOf(tokens);
  }

  /** Asks for a new ID token before the one that there is expires. */
  private callerOf(first: Tokens): Caller {
    let tokens = first;
    let caller = this.flow.byToken(first.idToken);
    let renewal: Promise<void> | undefined;
    const renew = async (refreshToken: string): Promise<void> => {
      try {
        const renewed = await this.exchanged({ grant_type: 'refresh_token', refresh_token: refreshToken });
        tokens = { idToken: renewed.idToken, refreshToken: renewed.refreshToken ?? refreshToken };
        caller = this.flow.byToken(tokens.idToken);
      } catch {
        // The provider gives no other: the token is valid until it expires.
        tokens = { ...tokens, refreshToken: undefined };
      }
    };
    return async () => {
      const { refreshToken } = tokens;
      const expires = Number(claimsOf(tokens.idToken).exp) * 1000;
      if (refreshToken !== undefined && this.clock.now() >= expires - RENEW_MS) {
        renewal ??= renew(refreshToken).finally(() => {
          renewal = undefined;
        });
        await renewal;
      }
      return caller();
    };
  }

  private async exchanged(fields: Readonly<Record<string, string>>): Promise<Tokens> {
    const { tokenEndpoint } = await this.discovered();
    const secret = this.flow.clientSecret();
    const form = new URLSearchParams({ ...fields, client_id: this.flow.clientId, ...(secret !== undefined && { client_secret: secret }) });
    const { status, text } = await this.flow.call(tokenEndpoint, form.toString()).catch(unreachable);
    if (status !== 200) throw unauthorized('the provider did not accept the log-in');
    const { id_token: idToken, refresh_token: refreshToken } = fieldsOf(text);
    if (typeof idToken !== 'string') throw unauthorized('the provider sent no ID token');
    return { idToken, refreshToken: typeof refreshToken === 'string' ? refreshToken : undefined };
  }

  private async discovered(): Promise<Provider> {
    if (this.provider !== undefined) return this.provider;
    const { issuer } = this.flow;
    const { status, text } = await this.flow.call(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`).catch(unreachable);
    if (status !== 200) throw serviceUnavailable('the OpenID provider does not answer');
    const configuration = fieldsOf(text);
    const { authorization_endpoint: authorization, token_endpoint: token, scopes_supported: scopes } = configuration;
    if (configuration.issuer !== issuer || !isHttps(authorization) || !isHttps(token))
      throw serviceUnavailable('the OpenID provider is another one, or has no HTTPS addresses for log-in');
    const supported = Array.isArray(scopes) ? usefulScopes.filter((scope) => scopes.includes(scope)) : ['openid'];
    this.provider = { authorizationEndpoint: authorization, tokenEndpoint: token, scope: supported.join(' ') };
    return this.provider;
  }
}

const unreachable = (): never => {
  throw serviceUnavailable('the OpenID provider cannot be reached');
};
const isHttps = (value: unknown): value is string => typeof value === 'string' && value.startsWith('https://') && URL.canParse(value);

function fieldsOf(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Fields;
  } catch {
    // Reported below.
  }
  throw serviceUnavailable('the OpenID provider answered something else than JSON');
}

/** The claims of a token, whose signature the authenticator checks before they are of use to anyone. */
function claimsOf(token: string): Fields {
  return fieldsOf(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
}
