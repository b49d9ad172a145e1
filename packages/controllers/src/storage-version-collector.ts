/**
 * Garbage collection of storage versions (features StorageVersionAPI and APIServerIdentity): entries of servers without a Lease are
 * removed from StorageVersions, and StorageVersions without entries are deleted.
 */
import { unlessGoneOrReplaced } from '@plat-dev/client/http';
import type { StorageVersion } from '@plat-dev/kinds/apiserverinternal/schema/v1alpha1';
import { setCommonVersion } from '@plat-dev/kinds/apiserverinternal/storage-version-status';
import { componentLabel, serverComponent } from '@plat-dev/meta/identity';
import { builtin, type Controller } from './runtime/controller.ts';

export const storageVersionCollector: Controller = {
  name: 'storage-version-gc',
  account: 'storage-version-garbage-collector',
  start({ identity, informers, client, queue, clock }) {
    const versions = builtin(identity, 'internal.apiserver', 'v1alpha1', 'storageversions', false);
    const leases = builtin(identity, 'coordination', 'v1', 'leases');
    const namespace = identity.namespaces.system;
    const [label, value] = [componentLabel(identity), serverComponent(identity)];
    const servers = informers.of(leases, { namespace, labelSelector: `${label}=${value}`, metadataOnly: true });
    const versionInformer = informers.of<StorageVersion>(versions);
    /** The Lease of a server that has just started may not be in the cache yet. */
    const isAlive = async (id: string): Promise<boolean> =>
      servers.get(namespace, id) !== undefined || (await client.find(leases, namespace, id, true))?.metadata.labels?.[label] === value;
    const work = queue(
      async (name) => {
        const storageVersion = versionInformer.get('', name);
        if (
          storageVersion === undefined ||
          (storageVersion.status.storageVersions ?? []).every(({ apiServerID = '' }) => servers.get(namespace, apiServerID))
        )
          return;
        const live = await client.find<StorageVersion>(versions, '', name);
        if (live === undefined) return;
        const all = live.status.storageVersions ?? [];
        const aliveServers: typeof all = [];
        for (const one of all) if (await isAlive(one.apiServerID ?? '')) aliveServers.push(one);
        if (aliveServers.length === all.length) return;
        if (aliveServers.length === 0) {
          const { uid = '', resourceVersion = '' } = live.metadata;
          await client.delete(versions, '', name, { preconditions: { uid, resourceVersion } }).catch(unlessGoneOrReplaced);
          return;
        }
        const status = setCommonVersion({ ...live.status, storageVersions: aliveServers }, live.metadata.generation ?? 0, clock.now());
        await client.update(versions, { ...live, status } as StorageVersion, 'status').catch(unlessGoneOrReplaced);
      },
      { after: [servers.synced, versionInformer.synced] },
    );
    versionInformer.onChange(({ type, object }) => {
      if (type !== 'deleted') work.add(object.metadata.name ?? '');
    });
    servers.onChange(({ type }) => {
      if (type === 'deleted') for (const object of versionInformer.list()) work.add(object.metadata.name ?? '');
    });
  },
};
