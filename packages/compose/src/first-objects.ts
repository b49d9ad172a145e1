/** The objects that a server finds or makes when it starts, and the authorities of clients, which it publishes when they change. */
import { bootstrap, bootstrapParts, publishTrust } from '@plat-dev/server/registry/bootstrap/run';
import type { Cache } from '@plat-dev/storage/cache';
import type { Base } from './base.ts';
import type { Credentials } from './credentials/credentials.ts';
import type { Access } from './requests/access.ts';
import { publishedTrust } from './requests/aggregation.ts';
import type { Surface } from './requests/surface.ts';
import type { State } from './state.ts';

export async function composeFirstObjects(
  { options, identity, log, from }: Base,
  { engine, cache, catalog, env }: State,
  { trust, writer }: Access,
  credentials: Credentials,
  started: Surface['started'],
): Promise<void> {
  const published = () => ({ ...publishedTrust(options, credentials, trust), shared: !engine.exclusive });
  const first = { trust: published(), serviceRanges: options.serviceClusterIpRange };
  if (from !== undefined) bootstrapParts.forEach(started);
  else {
    const writtenObjects = await bootstrap(writer, catalog, identity, env.now(), first, started);
    // What went before the first start's objects is of no use to a watch.
    if (writtenObjects > 0 && engine.exclusive) await forgetBefore(cache, engine.revision);
  }
  const publishAgain = (): void => {
    publishTrust(writer, identity, published(), env.now()).catch((error: unknown) =>
      log.error('cannot publish the authorities of clients', { error: String(error) }),
    );
  };
  trust.clientCAs.onChange(publishAgain);
  trust.proxyCA?.onChange(publishAgain);
}

async function forgetBefore(cache: Cache, revision: number): Promise<void> {
  await cache.engine.compact(revision);
  cache.forget(revision);
}
