/** The role to read metrics that a metrics server installs. The API itself needs no APIService: a metrics server may bring its own. */
import { isConflict, unlessGoneOrReplaced } from '@plat-dev/client/http';
import { builtin, type ControllerContext } from '@plat-dev/controllers/runtime/controller';
import type { APIService } from '@plat-dev/kinds/apiregistration/schema/v1';
import type { Wire } from '@plat-dev/kinds/wire';
import { groupName, type Identity, metricsService } from '@plat-dev/meta/identity';
import { VERSION } from './server.ts';

export function registerMetrics(context: ControllerContext): void {
  const { client, identity, queue } = context;
  const role = builtin(identity, 'rbac.authorization', 'v1', 'clusterroles', false);
  const work = queue(
    async () => {
      await removeEarlier(context);
      await client.create(role, '', readerRole(identity)).catch((error: unknown) => {
        if (!isConflict(error)) throw error;
      });
    },
    { name: 'simulated-nodes-metrics' },
  );
  work.add('');
}

/** Earlier releases kept an APIService in the store, which would stand in the way of that of a metrics server. */
async function removeEarlier({ client, identity }: ControllerContext): Promise<void> {
  const ref = builtin(identity, 'apiregistration', 'v1', 'apiservices', false);
  const name = `${VERSION}.${groupName(identity, 'metrics')}`;
  const registered = await client.find<Wire<APIService>>(ref, '', name);
  const { namespace, name: service } = metricsService(identity);
  if (registered?.spec?.service?.name !== service || registered.spec.service.namespace !== namespace) return;
  await client.delete(ref, '', name, { preconditions: { uid: registered.metadata.uid ?? '' } }).catch(unlessGoneOrReplaced);
}

function readerRole(identity: Identity): object {
  const aggregate = (role: string): string => `${groupName(identity, 'rbac.authorization')}/aggregate-to-${role}`;
  return {
    metadata: {
      name: 'system:simulated-metrics-reader',
      labels: { [aggregate('admin')]: 'true', [aggregate('edit')]: 'true', [aggregate('view')]: 'true' },
    },
    rules: [{ apiGroups: [groupName(identity, 'metrics')], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] }],
  };
}
