/**
 * The state of a server at one time, for tests that start with the same state:
 *
 *   const snapshot = await server.snapshot();        // once, when its CRDs and objects are created
 *   const mine = await snapshot.fork();              // each test: a server of its own, in a few milliseconds
 *   await server.reset(snapshot);                    // or: the same server, back to that state
 */

import type { ServerState } from '@plat-dev/compose/store/snapshot-state';
import type { Identity } from '@plat-dev/meta/identity';
import type { ForkOptions, Snapshot, TestServer } from './test-server.ts';

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
