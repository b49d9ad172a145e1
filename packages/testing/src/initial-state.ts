/**
 * The state that a new test server starts with: roles, namespaces and flow schemas of a first start, which take the most time.
 * The first server of an identity creates them, and later ones start with a copy.
 */

import type { Surroundings } from '@plat-dev/compose/server';
import type { ServerState } from '@plat-dev/compose/store/snapshot-state';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { FakeClock } from '@plat-dev/lib/clock';
import type { TestServerOptions } from './options.ts';
import type { TakenSnapshot } from './snapshot.ts';
import { startWith } from './start-server.ts';

/** Limit of cached states: one for each identity, release of the API and, with a clock of the test, start time. */
const MAX_STATES = 8;
const statesByKey = new BoundedCache<string, Promise<ServerState>>(MAX_STATES);

/** Empty for servers whose first objects may differ: those with options or randomness of their own. */
export async function initialState({
  identity,
  apiRelease,
  clock,
  server,
  random,
}: TestServerOptions): Promise<Pick<Surroundings, 'from'>> {
  if (server !== undefined || random !== undefined) return {};
  // A clock that starts at the time of the machine starts soon after the first objects were created.
  const time = clock instanceof FakeClock ? new FakeClock(clock.now()) : clock === 'fake' ? undefined : clock;
  const key = `${identity ?? ''} ${apiRelease ?? ''} ${time instanceof FakeClock ? time.now() : (time ?? '')}`;
  let state = statesByKey.get(key);
  if (state === undefined) {
    state = firstState({ identity, apiRelease, clock: time });
    statesByKey.set(key, state);
    state.catch(() => statesByKey.delete(key));
  }
  return { from: await state };
}

async function firstState(options: TestServerOptions): Promise<ServerState> {
  const server = await startWith(options);
  try {
    return ((await server.snapshot()) as TakenSnapshot).state;
  } finally {
    await server.close();
  }
}
