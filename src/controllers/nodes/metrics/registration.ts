/** The objects that a metrics server installs: its APIService, and the role to read metrics. */
import { isConflict } from '../../../client/http.ts';
import type { APIService } from '../../../kinds/apiregistration/schema/v1.ts';
import type { Wire } from '../../../kinds/wire.ts';
import { groupName, type Identity, metricsService, simulatedLabel } from '../../../meta/identity.ts';
import { builtin, type ControllerContext } from '../../runtime/controller.ts';
import { VERSION } from './server.ts';

/** Creates the objects where they do not exist. Those of a real metrics server are left alone. */
export function registerMetrics(context: ControllerContext): void {
  const { client, identity, queue } = context;
  const made = [
    { ref: builtin(identity, 'apiregistration', 'v1', 'apiservices', false), object: apiService(identity) },
    { ref: builtin(identity, 'rbac.authorization', 'v1', 'clusterroles', false), object: readerRole(identity) },
  ];
  const work = queue(
    async (index) => {
      const one = made[Number(index)];
      if (one === undefined) return;
      await client.create(one.ref, '', one.object).catch((error: unknown) => {
        if (!isConflict(error)) throw error;
      });
    },
    { name: 'simulated-nodes-metrics' },
  );
  for (const index of made.keys()) work.add(String(index));
}

function apiService(identity: Identity): Wire<APIService> {
  const group = groupName(identity, 'metrics');
  return {
    metadata: { name: `${VERSION}.${group}`, labels: { [simulatedLabel(identity)]: 'true' } },
    spec: {
      group,
      version: VERSION,
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
      service: { ...metricsService(identity), port: 443 },
    },
  } as Wire<APIService>;
}

function readerRole(identity: Identity): object {
  const aggregate = (role: string): string => `${groupName(identity, 'rbac.authorization')}/aggregate-to-${role}`;
  return {
    metadata: {
      name: 'system:aggregated-metrics-reader',
      labels: { [aggregate('admin')]: 'true', [aggregate('edit')]: 'true', [aggregate('view')]: 'true' },
    },
    rules: [{ apiGroups: [groupName(identity, 'metrics')], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] }],
  };
}
