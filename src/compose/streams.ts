/** Requests that go on, held to the rights that their users have. */
import { rbacGroup } from '../auth/authz/rules.ts';
import type { LiveSource } from '../kinds/live.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { type CheckDeps, checkAgain } from '../server/streams/check.ts';
import { OpenStreams } from '../server/streams/open-streams.ts';

export interface StreamsParts extends CheckDeps {
  readonly live: LiveSource;
  readonly clock: Clock;
  readonly log: Log;
}

export function composeStreams({ live, clock, log, ...deps }: StreamsParts): OpenStreams {
  const streams = new OpenStreams({
    clock,
    check: checkAgain(deps),
    yieldTurn: () => new Promise((resolve) => setImmediate(resolve)),
    ended: ({ user, method, path, auditId }) =>
      log.info('stream ended, the user may no longer do this', { user: user.name, method, path, audit: auditId }),
  });
  for (const plural of ['clusterroles', 'roles', 'clusterrolebindings', 'rolebindings']) live(rbacGroup, plural).onChange(streams.changed);
  // Tokens of an account end with it.
  live('', 'serviceaccounts').onChange(({ type }) => {
    if (type === 'deleted') streams.changed();
  });
  return streams;
}
