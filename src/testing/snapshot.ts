/**
 * The state of a server at one time, for tests that start with the same state:
 *
 *   const snapshot = await server.snapshot();        // once, when its CRDs and objects are created
 *   const mine = await snapshot.fork();              // each test: a server of its own, in a few milliseconds
 *   await server.reset(snapshot);                    // or: the same server, back to that state
 */
import type { ServerState } from '../compose/server-state.ts';
import type { Identity } from '../meta/identity.ts';
import type { TestServerOptions } from './options.ts';
import type { TestServer } from './server.ts';

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

export class TakenSnapshot implements Snapshot {
  readonly state: ServerState;
  readonly identity: Identity;
  private readonly start: (options: ForkOptions) => Promise<TestServer>;

  constructor(state: ServerState, identity: Identity, start: (options: ForkOptions) => Promise<TestServer>) {
    this.state = state;
    this.identity = identity;
    this.start = start;
  }
  get revision(): number {
    return this.state.store.revision;
  }
  fork(options: ForkOptions = {}): Promise<TestServer> {
    return this.start(options);
  }
}

/** The state of a snapshot. Throws if it is of another identity. */
export function stateFor(identity: Identity, snapshot: Snapshot): ServerState {
  if (!(snapshot instanceof TakenSnapshot)) throw new Error('this is not a snapshot: make one with server.snapshot()');
  if (snapshot.identity.name === identity.name) return snapshot.state;
  throw new Error(
    `the snapshot is of a server of the identity ${snapshot.identity.name}, where objects have other names than under ${identity.name}`,
  );
}
