/** Users with the auth provider `oidc`: an ID token that is renewed when it expires, and stored in the configuration file. */

import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { dirname, resolve } from 'node:path';
import { type Clock, timeoutSignal } from '@plat-dev/lib/clock';
import { own } from '@plat-dev/lib/own';
import { parseJwt, timeClaim } from '@plat-dev/pki/jwt';
import { ConfigError } from './config.ts';
import { editConfig } from './config-file.ts';
import { type Credential, type CredentialEnvironment, type CredentialSource, keptSource, type RenewedCredential } from './credentials.ts';
import { readAll } from './transport.ts';

export interface ProviderUse {
  readonly provider: { readonly name?: string; readonly config?: Readonly<Record<string, string>> | null };
  /** Name of the user in the configuration. */
  readonly user: string;
  /** The file that contains the user. */
  readonly file: string | undefined;
}

/** A token that expires within this time would expire in transit. */
const LEEWAY_MS = 10_000;
const ANSWER_MS = 30_000;
const ANSWER_LIMIT = 1 << 20;

export function providerSource(use: ProviderUse, world: CredentialEnvironment): CredentialSource {
  const { name = '' } = use.provider;
  if (name !== 'oidc') {
    throw new ConfigError(
      `the user ${JSON.stringify(use.user)} has the auth-provider ${JSON.stringify(name)}, which is not known: ` +
        'use its credential plug-in instead (exec in the configuration), or --token',
    );
  }
  const login = new Login(use, world);
  return keptSource((refused) => login.make(refused), world.clock);
}

interface Endpoints {
  readonly token: string;
  /** Sends the client secret in the Authorization header instead of the body. */
  readonly basic: boolean;
}

class Login {
  private readonly use: ProviderUse;
  private readonly world: CredentialEnvironment;
  private readonly settings: Readonly<Record<string, string>>;
  private readonly issuer: string;
  private idToken: string;
  private refreshToken: string;

  constructor(use: ProviderUse, world: CredentialEnvironment) {
    this.use = use;
    this.world = world;
    this.settings = use.provider.config ?? {};
    this.issuer = this.required('idp-issuer-url').replace(/\/+$/, '');
    this.required('client-id');
    this.idToken = this.settings['id-token'] ?? '';
    this.refreshToken = this.settings['refresh-token'] ?? '';
    checkAddress(this.issuer, `idp-issuer-url of the user ${JSON.stringify(use.user)}`);
  }
  private required(key: string): string {
    const value = own(this.settings, key);
    if (!value) throw new ConfigError(`the auth-provider of the user ${JSON.stringify(this.use.user)} has no ${key}: add it to its config`);
    return value;
  }

  async make(refused: Credential | undefined): Promise<RenewedCredential> {
    const currentToken = this.currentCredential();
    if (
      currentToken?.until !== undefined &&
      currentToken.until > this.world.clock.now() &&
      currentToken.credential.authorization !== refused?.authorization
    ) {
      return currentToken;
    }
    // The server reports why it refuses a token that cannot be renewed.
    if (refused !== undefined && this.refreshToken === '') return { credential: refused };
    await this.renew();
    return this.currentCredential() as RenewedCredential;
  }
  private currentCredential(): RenewedCredential | undefined {
    if (this.idToken === '') return undefined;
    const claims = parseJwt(this.idToken)?.claims;
    const end = claims === undefined ? undefined : timeClaim(claims, 'exp');
    if (end === undefined) throw this.failed('has an id-token that is no ID token: log in again');
    return { credential: { authorization: `Bearer ${this.idToken}` }, until: end * 1000 - LEEWAY_MS };
  }

  private async renew(): Promise<void> {
    if (this.refreshToken === '') {
      throw this.failed(
        `has ${this.idToken === '' ? 'no id-token' : 'an expired id-token'} and no refresh-token: log in again, or use --token`,
      );
    }
    const ca = await this.authority();
    const endpoints = await this.endpoints(ca);
    const answer = await this.ask(endpoints, ca);
    if (typeof answer.id_token !== 'string' || answer.id_token === '') {
      throw this.failed(
        'got no id_token for its refresh-token: the provider does not renew ID tokens, or the scope openid was not requested at login',
      );
    }
    this.idToken = answer.id_token;
    if (typeof answer.refresh_token === 'string' && answer.refresh_token !== '') this.refreshToken = answer.refresh_token;
    await this.keep();
  }
  private async authority(): Promise<string | undefined> {
    const data = this.settings['idp-certificate-authority-data'];
    if (data) return Buffer.from(data, 'base64').toString();
    const authorityFile = this.settings['idp-certificate-authority'];
    if (!authorityFile) return undefined;
    const path = resolve(dirname(this.use.file ?? ''), authorityFile);
    try {
      return await readFile(path, 'utf8');
    } catch (error) {
      throw new ConfigError(
        `the idp-certificate-authority of the user ${JSON.stringify(this.use.user)} cannot be read: ${(error as Error).message}`,
      );
    }
  }
  private async endpoints(ca: string | undefined): Promise<Endpoints> {
    const url = `${this.issuer}/.well-known/openid-configuration`;
    const { status, json } = await this.call(url, ca);
    if (status !== 200 || typeof json.token_endpoint !== 'string') {
      throw this.failed(`cannot renew its token: ${url} answered ${status}${status === 200 ? ' without a token_endpoint' : ''}`);
    }
    checkAddress(json.token_endpoint, `the token_endpoint of ${this.issuer}`);
    const methods = json.token_endpoint_auth_methods_supported;
    const basic = !Array.isArray(methods) || methods.includes('client_secret_basic');
    return { token: json.token_endpoint, basic };
  }
  private async ask(endpoints: Endpoints, ca: string | undefined): Promise<Record<string, unknown>> {
    const first = await this.askOnce(endpoints.token, ca, endpoints.basic);
    // Many providers support both methods, and allow a client only one.
    const other = first.json.error === 'invalid_client' || first.status === 401;
    const { status, json } = other && endpoints.basic ? await this.askOnce(endpoints.token, ca, false) : first;
    if (status === 200) return json;
    const reason = [json.error, json.error_description].filter((part) => typeof part === 'string').join(': ');
    throw this.failed(`cannot renew its token: ${endpoints.token} answered ${status}${reason === '' ? '' : ` (${reason})`}. Log in again`);
  }
  private askOnce(url: string, ca: string | undefined, basic: boolean): Promise<ProviderAnswer> {
    const id = this.settings['client-id'] as string;
    const secret = this.settings['client-secret'] ?? '';
    const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: this.refreshToken });
    if (secret === '' || !basic) form.set('client_id', id);
    if (secret !== '' && !basic) form.set('client_secret', secret);
    const pair = Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64');
    return this.call(url, ca, { body: form.toString(), ...(secret !== '' && basic && { authorization: `Basic ${pair}` }) });
  }
  private call(url: string, ca: string | undefined, post?: { body: string; authorization?: string }): Promise<ProviderAnswer> {
    return call(this.world.clock, url, ca, post).catch((error: Error) => {
      throw this.failed(`cannot renew its token: ${url} gives no answer: ${error.message}`);
    });
  }

  /** Other readers of the file need not renew the token again; a refresh token may be valid for one use only. */
  private async keep(): Promise<void> {
    if (this.use.file === undefined) return;
    try {
      await editConfig(this.use.file, this.world.clock, (config) => {
        const entry = config.users?.find(({ name }) => name === this.use.user);
        const provider = (entry?.user as { 'auth-provider'?: { config?: Record<string, string> } } | undefined)?.['auth-provider'];
        if (provider === undefined || provider === null) return;
        provider.config = { ...provider.config, 'id-token': this.idToken, 'refresh-token': this.refreshToken };
      });
    } catch (error) {
      // The token is valid all the same.
      this.world.show(`plat: the renewed token could not be kept: ${(error as Error).message}\n`);
    }
  }
  private failed(what: string): Error {
    return new Error(`the user ${JSON.stringify(this.use.user)} ${what}`);
  }
}

/** Secrets are sent over HTTPS only, except to a provider on loopback. */
function checkAddress(address: string, what: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const local = url?.protocol === 'http:' && /^(localhost|127\..*|\[::1\])$/.test(url.hostname);
  if (url?.protocol !== 'https:' && !local) throw new ConfigError(`the ${what} is not an address that begins with https://`);
}

interface ProviderAnswer {
  readonly status: number;
  readonly json: Record<string, unknown>;
}
async function call(
  clock: Clock,
  url: string,
  ca: string | undefined,
  post?: { body: string; authorization?: string },
): Promise<ProviderAnswer> {
  const send = new URL(url).protocol === 'http:' ? httpRequest : httpsRequest;
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    const request = send(
      url,
      {
        agent: false,
        method: post === undefined ? 'GET' : 'POST',
        headers: {
          accept: 'application/json',
          ...(post !== undefined && {
            'content-type': 'application/x-www-form-urlencoded',
            'content-length': Buffer.byteLength(post.body),
          }),
          ...(post?.authorization !== undefined && { authorization: post.authorization }),
        },
        signal: timeoutSignal(clock, ANSWER_MS),
        ...(ca !== undefined && { ca }),
      },
      resolve,
    );
    request.on('error', reject);
    request.end(post?.body);
  });
  const text = (await readAll(response, ANSWER_LIMIT)).toString();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.statusCode ?? 0, json: (typeof json === 'object' && json !== null ? json : {}) as Record<string, unknown> };
}
