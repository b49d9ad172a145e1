/** Access and admission of a server: certificates, authenticators, authorizers, admission. */

import { FileReloader } from '@plat-dev/lib/files/reload';
import { LegacyTokenUse } from '@plat-dev/server/auth/service-account/legacy-token-use';
import type { RegistryDeps } from '@plat-dev/server/registry/context';
import { newLargeObjectLocks } from '@plat-dev/server/registry/large-object-locks';
import { SystemWriter } from '@plat-dev/server/registry/system';
import type { Base } from '../base.ts';
import type { Credentials } from '../credentials/credentials.ts';
import { composeTrust, type Trust } from '../credentials/trust.ts';
import type { State } from '../state.ts';
import { composeAdmission } from './admission.ts';
import { type Auth, composeAuth } from './auth.ts';

export interface Access {
  readonly trust: Trust;
  readonly auth: Auth;
  readonly registry: RegistryDeps;
  /** Writes with the rights of the server itself. */
  readonly writer: SystemWriter;
}

export async function composeAccess(
  base: Base,
  { catalog, cache, env, live, allocations, history }: State,
  credentials: Credentials,
): Promise<Access> {
  const { options, identity, clock, random, log, parts } = base;
  const files = await parts.start(
    'files',
    () => new FileReloader(clock, log),
    (followed) => followed.close(),
  );
  const trust = await parts.start('trust', () => composeTrust(options, credentials, files));
  const tokenUse = new LegacyTokenUse(identity, () => clock.now(), log);
  const auth = await parts.start('auth', () => composeAuth(base, credentials, live, trust, files, tokenUse));
  const admission = await parts.start(
    'admission',
    () =>
      composeAdmission(base, {
        catalog,
        live,
        env,
        auth,
        trust,
        catchUp: cache.engine.exclusive ? undefined : () => cache.freshen(),
        ensureNamespace: async (name) => void (await writer.ensure('', 'namespaces', { metadata: { name } })),
      }),
    (chain) => chain.close?.(),
  );
  const registry: RegistryDeps = {
    catalog,
    cache,
    env,
    admission,
    hooks: allocations.hooks,
    largeObjectLocks: newLargeObjectLocks(),
    randomBelow: random.below,
    newUid: random.uuid,
    monotonic: () => clock.monotonic(),
    maxObjectBytes: options.maxObjectBytes,
    history,
  };
  const { apiRelease, maxObjectBytes, features } = options;
  const writer = new SystemWriter(registry, identity.word, [identity.name, apiRelease, maxObjectBytes, ...features.list()].join(' '));
  tokenUse.writer = writer;
  return { trust, auth, registry, writer };
}
