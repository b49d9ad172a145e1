/**
 * A server for a test: in this process, in memory, without a port unless one is asked for.
 *
 *   const server = await startTestServer();
 *   await server.request('POST', '/api/v1/namespaces', { body: { metadata: { name: 'a' } } });
 *   const answer = await server.request('GET', '/api/v1/namespaces/a', { user: 'alice' });   // 403
 *   await server.close();
 */
import { type ComposedServer, composeServer } from '../compose/server.ts';
import { serverOptions } from '../flags.ts';
import { type Identity, identityOf } from '../identity.ts';
import { silentLog } from '../lib/log.ts';
import { nextTurn } from '../lib/next-turn.ts';
import { firstAddress } from '../meta/ip.ts';
import { testKeys } from './keys.ts';
import { serverOptionsOf, type TestServerOptions } from './options.ts';
import { type RequestChoice, type TestAnswer, type TestFetchInit, TestTransport } from './transport.ts';

export class TestServer implements AsyncDisposable {
  private readonly composed: ComposedServer;
  private readonly transport: TestTransport;

  /** Use `startTestServer`. */
  constructor(composed: ComposedServer, transport: TestTransport) {
    this.composed = composed;
    this.transport = transport;
  }
  /** The names that the server goes by. */
  get identity(): Identity {
    return this.composed.base.identity;
  }
  /** `https://127.0.0.1:38211`. Throws where the server has no port. */
  get url(): string {
    const { listening } = this.composed;
    if (listening === undefined) throw new Error('the test server has no port: start it with { listen: true }');
    return listening.address;
  }
  /** Resolves when the server has ended: with the reason where it could not go on. */
  get ended(): Promise<Error | undefined> {
    return this.composed.ended;
  }
  /** Sends a request and reads the answer whole, whatever its status. For watches: `fetch`. */
  request(method: string, path: string, choice?: RequestChoice): Promise<TestAnswer> {
    return this.transport.request(method, path, choice);
  }
  /** As the global `fetch`, with a user. What the server streams, as a watch, is streamed. */
  fetch(input: string | URL | Request, init?: TestFetchInit): Promise<Response> {
    return this.transport.fetch(input, init);
  }
  /** Ends everything: watches end, requests under way are broken off. May be called more than once. */
  async close(): Promise<void> {
    const { requests } = this.composed;
    requests.shuttingDown();
    requests.endStreams();
    // Their last bytes go out first.
    await nextTurn();
    this.transport.close();
    await this.composed.abort();
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const given = serverOptions(serverOptionsOf(options));
  const identity = identityOf(given.identity);
  const keys = await testKeys(identity, firstAddress(given.serviceClusterIpRange[0] as string));
  const composed = await composeServer(given, { log: silentLog, keys, ...options.surroundings }, options.listen === true);
  return new TestServer(composed, new TestTransport(composed.requests.handlerForClients()));
}
