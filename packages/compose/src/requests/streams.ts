/** Long-running requests, which end when their users lose access. */

import { bootstrapTokenExpiry } from '@plat-dev/kinds/core/bootstrap-token';
import type { LiveSource } from '@plat-dev/kinds/live-view';
import { nextTurn } from '@plat-dev/lib/next-turn';
import { bootstrapTokenUser } from '@plat-dev/server/auth/authn/bootstrap-token';
import { rbacGroup } from '@plat-dev/server/auth/authz/policy-rules';
import type { Step } from '@plat-dev/server/pipeline';
import { accountsOf, credentialNames, podOf } from '@plat-dev/server/streams/affected-credentials';
import { type CheckDeps, checkAgain } from '@plat-dev/server/streams/check';
import { OpenStreams } from '@plat-dev/server/streams/open-streams';
import type { Base } from '../base.ts';
import { Deadlines } from './deadlines.ts';

export interface StreamsDeps extends CheckDeps {
  readonly live: LiveSource;
}

export interface Streams {
  readonly step: Step;
  close(): void;
}

/** Maximum bootstrap tokens with a timer for their expiry; expiries of further Secrets are found by the sweeps. */
const MAX_EXPIRIES = 1000;

export function composeStreams({ identity, clock, log }: Base, { live, ...checks }: StreamsDeps): Streams {
  const streams = new OpenStreams({
    clock,
    check: checkAgain(checks),
    concerns: credentialNames(identity),
    yieldTurn: nextTurn,
    ended: ({ user, method, path, auditId }, why) => {
      const reason = why === 'ended' ? 'access revoked' : 'cannot check the user';
      log.info('stream ended', { reason, user: user.name, method, path, audit: auditId });
    },
  });
  for (const plural of ['clusterroles', 'roles', 'clusterrolebindings', 'rolebindings']) live(rbacGroup, plural).onChange(streams.changed);
  const { objectChanged } = streams;
  // Tokens become invalid with their account, and with the pod or Secret that they are bound to or stored in.
  live('', 'serviceaccounts').onChange(({ type, key }) => {
    if (type === 'deleted') objectChanged(accountsOf(namespaceOf(key)));
  });
  live('', 'pods').onChange(({ type, key }) => {
    if (type === 'deleted') objectChanged(podOf(key));
  });
  const secrets = live('', 'secrets');
  secrets.onChange(({ type, key }) => {
    if (type !== 'added') objectChanged(accountsOf(namespaceOf(key)));
  });
  // So do bootstrap tokens, and when they expire.
  const expiries = new Deadlines(clock, MAX_EXPIRIES, objectChanged);
  const { system } = identity.namespaces;
  secrets.onChange((change) => {
    const user = namespaceOf(change.key) === system ? bootstrapTokenUser(change.key.slice(system.length + 1)) : undefined;
    if (user === undefined) return;
    objectChanged(user);
    expiries.set(user, change.type === 'deleted' ? undefined : bootstrapTokenExpiry(change.object));
  });
  secrets.whenLoaded(() => {
    for (const secret of secrets.list(system)) {
      const user = bootstrapTokenUser(secret.metadata.name ?? '');
      if (user !== undefined) expiries.set(user, bootstrapTokenExpiry(secret));
    }
  });
  return {
    step: streams.step,
    close: () => {
      streams.close();
      expiries.close();
    },
  };
}

const namespaceOf = (key: string): string => key.slice(0, key.indexOf('/'));
