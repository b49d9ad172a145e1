/** A real OpenID provider on loopback TLS, and a browser that signs in there without being asked anything. */
import type { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { rsaKeys } from '@plat-dev/lib/testing/rsa-keys.testing';
import { issueServing, newAuthority, readAuthority } from '@plat-dev/pki';

/** The parts of the library that are used here; it comes without types. */
interface Provider {
  callback(): (request: IncomingMessage, response: ServerResponse) => void;
  interactionDetails(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<{
    prompt: { name: string };
    session?: { accountId: string };
    params: { client_id: string; scope: string; login_hint?: string };
  }>;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object, options: object): Promise<void>;
  Grant: new (of: object) => { addOIDCScope(scope: string): void; save(): Promise<string> };
}

export type Account = Readonly<Record<string, unknown>>;
const redirect = 'https://client.invalid/callback';
/** Where the console of a server is that browsers reach by this name. */
export const consoleHost = 'console.invalid';
const consoleRedirect = `https://${consoleHost}/console/oidc/callback`;

export interface TestProvider {
  readonly issuer: string;
  readonly ca: string;
  /** How often the key set was read. */
  readonly keyReads: () => number;
  /** Signs in as an account and brings back the ID token. */
  idToken(account: string, clientID?: string): Promise<string>;
  /** Signs in as an account where the console sent the browser, and brings back where the provider sends it. */
  signIn(address: string, account: string): Promise<string>;
  /** From now on tokens are signed with another key, and the old one is withdrawn. */
  rotate(): Promise<void>;
  close(): void;
}

/** Keys that providers of this process have had: the next one has another than the one before. */
let keys = 0;
const newKey = (kid: string) => ({
  ...rsaKeys((keys++ % 3) as 0 | 1 | 2).privateKey.export({ format: 'jwk' }),
  kid,
  use: 'sig',
  alg: 'RS256',
});

async function makeProvider(issuer: string, kid: string, accounts: Readonly<Record<string, Account>>): Promise<Provider> {
  const library = (await import('oidc-provider' as string)) as { default: new (issuer: string, configuration: object) => Provider };
  const client = (id: string) => ({
    client_id: id,
    client_secret: 'client-secret',
    redirect_uris: [redirect, consoleRedirect],
    token_endpoint_auth_method: 'client_secret_post',
    grant_types: ['authorization_code', 'refresh_token'],
  });
  return new library.default(issuer, {
    clients: [client('plat'), client('another')],
    jwks: { keys: [newKey(kid)] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups', 'team'] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    cookies: { keys: ['cookie-key'] },
    interactions: { url: (_: unknown, interaction: { uid: string }) => `/interaction/${interaction.uid}` },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, ...accounts[id] }) }),
  });
}

/** In which the library keeps what belongs to a request. */
async function storageOfLibrary(): Promise<AsyncLocalStorage<unknown>> {
  return ((await import('oidc-provider/lib/helpers/als.js' as string)) as { default: AsyncLocalStorage<unknown> }).default;
}

/** Logs in as whom the request hints at, else as the first account, and agrees to everything. */
async function interact(provider: Provider, first: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { prompt, session, params } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    await provider.interactionFinished(
      request,
      response,
      { login: { accountId: params.login_hint ?? first } },
      { mergeWithLastSubmission: false },
    );
    return;
  }
  const grant = new provider.Grant({ accountId: session?.accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  const grantId = await grant.save();
  await provider.interactionFinished(request, response, { consent: { grantId } }, { mergeWithLastSubmission: true });
}

class Browser {
  private readonly cookies = new Map<string, string>();
  private readonly ca: string;

  constructor(ca: string) {
    this.ca = ca;
  }
  async send(method: string, url: string, form?: Record<string, string>): Promise<{ location: string | undefined; text: string }> {
    const body = form && new URLSearchParams(form).toString();
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { cookie, ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }) };
    const request = https.request(url, { method, ca: this.ca, headers, agent: false });
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    for (const line of response.headers['set-cookie'] ?? []) {
      const [name = '', value = ''] = (line.split(';')[0] as string).split('=');
      this.cookies.set(name, value);
    }
    let text = '';
    for await (const chunk of response) text += chunk;
    const { location } = response.headers;
    return { location: location === undefined ? undefined : new URL(location, url).href, text };
  }
}

/** Where the provider sends a browser in the end. */
async function followed(browser: Browser, address: string, end: string): Promise<string> {
  let at = address;
  for (let i = 0; i < 10 && !at.startsWith(end); i++) {
    const { location, text } = await browser.send('GET', at);
    if (location === undefined) throw new Error(`the provider leads nowhere from ${at}: ${text}`);
    at = location;
  }
  return at;
}

export async function startProvider(accounts: Readonly<Record<string, Account>>): Promise<TestProvider> {
  const authority = newAuthority('provider-ca', Date.now());
  const names = { commonName: 'localhost', dns: ['localhost'], addresses: ['127.0.0.1'] };
  const serving = issueServing(readAuthority(authority), names, Date.now());
  const storage = await storageOfLibrary();
  let provider: Provider | undefined;
  let reads = 0;
  let generation = 0;
  const server = https.createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
    if (provider === undefined) {
      response.statusCode = 503;
      response.end();
      return;
    }
    if (request.url?.startsWith('/jwks') === true) reads++;
    if (request.url?.startsWith('/interaction/') !== true) provider.callback()(request, response);
    else interact(provider, Object.keys(accounts)[0] ?? '', request, response).catch((error: Error) => response.end(error.message));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `https://localhost:${(server.address() as AddressInfo).port}`;
  const rotate = async () => {
    provider = await makeProvider(issuer, `key-${++generation}`, accounts);
  };
  await rotate();
  return {
    issuer,
    ca: authority.certificate,
    keyReads: () => reads,
    rotate,
    close() {
      server.close();
      // It would slow down every promise of the process from now on.
      storage.disable();
    },
    signIn: (address, account) => followed(new Browser(authority.certificate), `${address}&login_hint=${account}`, consoleRedirect),
    async idToken(account, clientID = 'plat') {
      const browser = new Browser(authority.certificate);
      const verifier = randomBytes(32).toString('base64url');
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      const query = new URLSearchParams({
        client_id: clientID,
        response_type: 'code',
        scope: 'openid email groups',
        redirect_uri: redirect,
        code_challenge: challenge,
        code_challenge_method: 'S256',
        login_hint: account,
      });
      const at = await followed(browser, `${issuer}/auth?${query}`, redirect);
      const answer = await browser.send('POST', `${issuer}/token`, {
        grant_type: 'authorization_code',
        code: new URL(at).searchParams.get('code') ?? '',
        redirect_uri: redirect,
        client_id: clientID,
        client_secret: 'client-secret',
        code_verifier: verifier,
      });
      return (JSON.parse(answer.text) as { id_token: string }).id_token;
    },
  };
}
