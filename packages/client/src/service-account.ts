/**
 * Requests as a service account, with a short-lived token that is requested on demand and renewed before it expires.
 * The account is created if it does not exist.
 */

import type { TokenRequest } from '@plat-dev/kinds/authentication/schema/v1';
import type { Wire } from '@plat-dev/kinds/wire';
import type { Clock } from '@plat-dev/lib/clock';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import type { Client, ResourceRef } from './dynamic.ts';
import { type Http, type HttpRequest, isConflict, isNotFound, isStatus } from './http.ts';

export interface ServiceAccountOptions {
  /** The client that requests tokens for the account. */
  readonly client: Client;
  /** The transport without a credential. */
  readonly http: Http;
  readonly namespace: string;
  readonly account: string;
  /** Full name of the authentication group. */
  readonly authenticationGroup: string;
  readonly clock: Clock;
}

type Issued = Wire<TokenRequest>;
interface Token {
  readonly header: string;
  readonly renewAt: number;
}

const LIFE_SECONDS = 3600;
const accounts: ResourceRef = { group: '', version: 'v1', name: 'serviceaccounts', namespaced: true };

export function asServiceAccount(options: ServiceAccountOptions): Http {
  let token: Token | undefined;
  let asking: Promise<Token> | undefined;
  const current = async (): Promise<string> => {
    if (token !== undefined && token.renewAt > options.clock.monotonic()) return token.header;
    asking ??= fetchToken(options).finally(() => {
      asking = undefined;
    });
    token = await asking;
    return token.header;
  };
  const withToken = async (request: HttpRequest): Promise<HttpRequest> => ({
    ...request,
    headers: { ...request.headers, authorization: await current() },
  });
  return {
    async request(request) {
      const answer = await options.http.request(await withToken(request));
      if (answer.status !== 401) return answer;
      // The account may have been recreated since.
      token = undefined;
      return options.http.request(await withToken(request));
    },
    async stream(request, sink) {
      try {
        return await options.http.stream(await withToken(request), sink);
      } catch (error) {
        if (isStatus(error, 401)) token = undefined;
        throw error;
      }
    },
  };
}

async function fetchToken(options: ServiceAccountOptions): Promise<Token> {
  const { client, namespace, account, clock } = options;
  const ask = (): Promise<Issued> =>
    client.create<Issued>(
      accounts,
      namespace,
      {
        kind: 'TokenRequest',
        apiVersion: joinApiVersion(options.authenticationGroup, 'v1'),
        spec: { expirationSeconds: LIFE_SECONDS },
      },
      { name: account, path: 'token' },
    );
  const answer = await ask().catch(async (error: unknown) => {
    if (!isNotFound(error)) throw error;
    await client
      .create(accounts, namespace, { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: account, namespace } })
      .catch((fault: unknown) => {
        if (!isConflict(fault)) throw fault;
      });
    return ask();
  });
  return { header: `Bearer ${answer.status?.token ?? ''}`, renewAt: clock.monotonic() + LIFE_SECONDS * 800 };
}
