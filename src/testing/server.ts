/**
 * A server for a test: in this process, in memory, without a port unless one is requested.
 *
 *   const server = await startTestServer();
 *   await server.client().core.v1.namespaces().create({ metadata: { name: 'a' } });
 *   const answer = await server.request('GET', '/api/v1/namespaces/a', { user: 'alice' });   // 403
 *   await server.close();
 */
import type { Identity } from '../meta/identity.ts';
import type { RequestChoice, TestAnswer, TestFetchInit } from './answers.ts';
import { beginning } from './beginning.ts';
import type { TestClient } from './client/types.ts';
import type { TestClock } from './clock.ts';
import type { Faults } from './faults.ts';
import { install } from './install.ts';
import type { Kubeconfig } from './kubeconfig.ts';
import type { TestServerOptions } from './options.ts';
import type { ObjectChange, ObjectReference, RequestList } from './requests.ts';
import { startWith } from './running.ts';
import type { Snapshot } from './snapshot.ts';

/** A server that runs. */
export interface TestServer extends AsyncDisposable {
  /** Its identity. */
  readonly identity: Identity;
  /** `https://127.0.0.1:38211`. Throws where the server has no port. */
  readonly url: string;
  /** Resolves when the server has ended: with the reason where it could not go on. */
  readonly ended: Promise<Error | undefined>;
  /** Sends a request and reads the answer whole, whatever its status. For watches: `fetch`. */
  request(method: string, path: string, choice?: RequestChoice): Promise<TestAnswer>;
  /** As the global `fetch`, with a user. What the server streams, as a watch, is streamed. */
  fetch(input: string | URL | Request, init?: TestFetchInit): Promise<Response>;
  /** Moves the time of a server that was started with a `clock`. */
  readonly clock: TestClock;
  /** Makes requests fail on demand. */
  readonly faults: Faults;
  /** Requests in the order in which they came: the last 10,000, those of controllers included; not those of unknown users (401). */
  readonly requests: RequestList;
  /** Who changed what of an object since the server started, oldest first: found by kind, name and namespace, and uid where given. */
  history(object: ObjectReference): ObjectChange[];
  /** Resolves when no request is under way, and controllers and custom kinds have done what follows from those that were. */
  settled(): Promise<void>;
  /** A client of this user, or of the administrator. Typed for built-in kinds: `client().apps.v1.deployments('ns')`. */
  client(user?: string, groups?: readonly string[]): TestClient;
  /**
   * Client configuration for other programs, with a certificate of this user, or of the administrator; as text for a file. Throws
   * where the server has no port (`listen: true`).
   */
  kubeconfig(user?: string, groups?: readonly string[]): Kubeconfig;
  kubeconfigText(user?: string, groups?: readonly string[]): string;
  /** What the server holds now, once it has settled, for servers that begin with it. */
  snapshot(): Promise<Snapshot>;
  /**
   * Brings the server back to a snapshot of it, or of one it was forked from. Resource versions go on rising: watches go on, and show
   * what came, changed and went; objects that are as they were keep theirs. Resolves when the custom kinds are those of then.
   */
  reset(snapshot: Snapshot): Promise<void>;
  /** Ends everything: watches end, requests under way are broken off. May be called more than once. */
  close(): Promise<void>;
}

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startWith(options, await beginning(options));
  return install(server, options);
}
