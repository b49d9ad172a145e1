import type { Identity } from '@plat-dev/meta/identity';
import type { RequestChoice, TestAnswer, TestFetchInit } from './answers.ts';
import type { ClientOptions, TestClient } from './client/types.ts';
import type { TestClock } from './clock.ts';
import type { Faults } from './faults.ts';
import type { Kubeconfig } from './kubeconfig.ts';
import type { TestServerOptions } from './options.ts';
import type { ObjectChange, ObjectReference, RequestList } from './requests.ts';
import type { Why } from './why.ts';

/** A server that runs. */
export interface TestServer extends AsyncDisposable {
  /** Its identity. */
  readonly identity: Identity;
  /** `https://127.0.0.1:38211`. Throws if the server has no port. */
  readonly url: string;
  /** Resolves when the server has stopped: with the error after a failure. */
  readonly ended: Promise<Error | undefined>;
  /** Sends a request and reads the whole response, whatever its status. For watches: `fetch`. */
  request(method: string, path: string, choice?: RequestChoice): Promise<TestAnswer>;
  /** Like the global `fetch`, with a user. Responses such as watches are streamed. */
  fetch(input: string | URL | Request, init?: TestFetchInit): Promise<Response>;
  /** Moves the time of a server that was started with a `clock`. */
  readonly clock: TestClock;
  /** Makes requests fail on demand. */
  readonly faults: Faults;
  /** Requests in the order in which they arrived: the last 10,000, including those of controllers; without unauthenticated ones (401). */
  readonly requests: RequestList;
  /** The changes of an object since the server started, oldest first: found by kind, name and namespace, and uid if given. */
  history(object: ObjectReference): ObjectChange[];
  /**
   * Questions why the server decided as it did, by this user, or by the administrator: `await server.why().notReady(deployment)`.
   * Answers are printed as by `plat why`.
   */
  why(user?: string, groups?: readonly string[]): Why;
  /** Resolves when no request is in progress, and controllers and custom kinds have done the work that follows from earlier ones. */
  settled(): Promise<void>;
  /** A client of this user, or of the administrator. Typed for built-in kinds: `client().apps.v1.deployments('ns')`. */
  client(user?: string, groups?: readonly string[], options?: ClientOptions): TestClient;
  /**
   * Client configuration for other programs, with a certificate of this user, or of the administrator; as text for a file. Throws
   * where the server has no port (`listen: true`).
   */
  kubeconfig(user?: string, groups?: readonly string[]): Kubeconfig;
  kubeconfigText(user?: string, groups?: readonly string[]): string;
  /** The state of the server, once it has settled, for servers that start with it. */
  snapshot(): Promise<Snapshot>;
  /**
   * Restores a snapshot of this server, or of one it was forked from. Resource versions keep increasing: watches continue, and show
   * added, changed and deleted objects; unchanged objects keep their version. Resolves when the custom kinds are those of the snapshot.
   */
  reset(snapshot: Snapshot): Promise<void>;
  /** Stops the server: watches end, requests in progress are aborted. May be called more than once. */
  close(): Promise<void>;
}

/** Options of a fork that may differ from those of its server. */
export type ForkOptions = Omit<TestServerOptions, 'identity'>;

export interface Snapshot {
  /** The resource version that a fork continues from. */
  readonly revision: number;
  /**
   * Starts a server with this state: objects with their uids and resource versions, the retained history, custom kinds, keys. Its
   * writes are not seen in another server, and it is closed on its own. Options that are not given are those of the server of the
   * snapshot.
   */
  fork(options?: ForkOptions): Promise<TestServer>;
}
