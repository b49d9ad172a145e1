/** The identity Lease of this server (APIServerIdentity), and the StorageVersions that it reports (StorageVersionAPI). */
import type { LiveSource } from '@plat-dev/kinds/live-view';
import { groupName } from '@plat-dev/meta/identity';
import { ServerIdentity } from '@plat-dev/server/registry/bootstrap/server-identity';
import { reportStorageVersions } from '@plat-dev/server/registry/bootstrap/storage-versions';
import type { Catalog } from '@plat-dev/server/registry/catalog';
import type { SystemWriter } from '@plat-dev/server/registry/system';
import type { Base } from '../base.ts';

/** Time between two repairs of StorageVersions that others may have changed. */
const REPORT_MS = 10 * 60_000;

/** Whether the server reports StorageVersions: it must have a Lease, and StorageVersions must be served. */
export function storesVersions({ options, identity }: Pick<Base, 'options' | 'identity'>): 'off' | 'unidentified' | 'unserved' | 'served' {
  if (!options.features.isOn('StorageVersionAPI')) return 'off';
  if (!options.features.isOn('APIServerIdentity')) return 'unidentified';
  return options.runtimeConfig.enabled(groupName(identity, 'internal.apiserver'), 'v1alpha1', 'storageversions') ? 'served' : 'unserved';
}

export interface IdentityDeps {
  readonly catalog: Catalog;
  readonly live: LiveSource;
  readonly writer: SystemWriter;
}

/** Returns a function that stops it. */
export async function composeServerIdentity(base: Base, { catalog, live, writer }: IdentityDeps): Promise<() => void> {
  const { options, identity, clock, random, log } = base;
  const stores = storesVersions(base);
  if (stores === 'unidentified')
    log.warn('feature has no effect without another', { feature: 'StorageVersionAPI', needs: 'APIServerIdentity' });
  if (stores === 'unserved') {
    const needs = `--runtime-config=${groupName(identity, 'internal.apiserver')}/v1alpha1`;
    log.warn('feature has no effect without another flag', { feature: 'StorageVersionAPI', needs });
  }
  if (!options.features.isOn('APIServerIdentity')) return () => {};
  const server = new ServerIdentity({
    identity,
    id: random.uuid(),
    leases: live('coordination', 'leases'),
    writer,
    clock,
    durationSeconds: options.identityLeaseDurationSeconds,
    renewMs: options.identityLeaseRenewIntervalSeconds * 1000,
    report: (error) => log.error('cannot renew the lease of this server', { error: String(error) }),
  });
  await server.start();
  if (stores !== 'served') return () => server.stop();
  const report = (): Promise<void> => reportStorageVersions({ catalog, writer, server: server.name, now: () => clock.now() });
  await report();
  const end = clock.every(REPORT_MS, () => {
    report().catch((error: unknown) => log.error('cannot report storage versions', { error: String(error) }));
  });
  return () => {
    end();
    server.stop();
  };
}
