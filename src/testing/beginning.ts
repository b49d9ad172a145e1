/**
 * What a new test server begins with: roles, namespaces and flow schemas of the first start, which take longer to make than all
 * else. The first server of an identity makes them, and those that follow begin with a copy.
 */

import type { Surroundings } from '../compose/server.ts';
import type { ServerState } from '../compose/server-state.ts';
import { BoundedCache } from '../lib/bounded-cache.ts';
import { FakeClock } from '../lib/clock.ts';
import type { TestServerOptions } from './options.ts';
import { startWith } from './running.ts';
import type { TakenSnapshot } from './snapshot.ts';

/** States that are kept: one for each identity, release of the API and, where the clock is a test's own, for each time it begins at. */
const MAX_STATES = 8;
const known = new BoundedCache<string, Promise<ServerState>>(MAX_STATES);

/** Nothing for servers whose first objects may be others: those with options or randomness of their own. */
export async function beginning({ identity, apiRelease, clock, server, random }: TestServerOptions): Promise<Pick<Surroundings, 'from'>> {
  if (server !== undefined || random !== undefined) return {};
  // A clock that begins at the time of the machine does so soon after the first objects were made.
  const time = clock instanceof FakeClock ? new FakeClock(clock.now()) : clock === 'fake' ? undefined : clock;
  const key = `${identity ?? ''} ${apiRelease ?? ''} ${time instanceof FakeClock ? time.now() : (time ?? '')}`;
  let state = known.get(key);
  if (state === undefined) {
    state = firstState({ identity, apiRelease, clock: time });
    known.set(key, state);
    state.catch(() => known.delete(key));
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
