/**
 * ResourceQuota: keeps the usage of a namespace within its quotas.
 *
 * Usage is charged in the commit that stores the object, with the version of the quota as precondition, so that no two requests can
 * use the same remainder and a request that fails later charges nothing. Requests that charge the same namespace are
 * serialized between the check and the commit: they would conflict otherwise. If the store assigns the
 * revision of a commit at once, the lock is released there; otherwise when the commit is done.
 */

import type { ResourceQuota } from '@plat-dev/kinds/core/schema/quota';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { isInScope } from '@plat-dev/kinds/quota/scopes';
import { type CountedResource, isMeasured } from '@plat-dev/kinds/quota/usage';
import { inSlices, Slices, soonOrInSlices, type Work } from '@plat-dev/lib/slices';
import { isAtLeast } from '@plat-dev/lib/version';
import { whenReady } from '@plat-dev/lib/when-ready';
import { tooManyRequests } from '@plat-dev/meta/errors';
import { groupName } from '@plat-dev/meta/identity';
import { NamedLocks } from '../../../named-locks.ts';
import type { MakePlugin } from '../../plugin.ts';
import type { AdmissionRequest } from '../../types.ts';
import { type Charging, chargeQuotas } from './charge.ts';
import { limitedFor, readLimitedResources } from './limits.ts';
import { QuotaView } from './view.ts';

/** Maximum requests that wait in one namespace. */
const MAX_WAITING = 1000;

export const resourceQuota: MakePlugin = ({ identity, live, clock }, configuration) => {
  const quotas = new QuotaView(live<ResourceQuota>('', 'resourcequotas'));
  const limited = readLimitedResources(configuration, identity);
  const locks = new NamedLocks(MAX_WAITING);
  return {
    name: 'ResourceQuota',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    // Events expire, and there may be very many of them.
    concerns: ({ kind }) => kind.namespaced && !kind.virtual && kind.plural !== 'events',
    validate(request) {
      const { namespace, operation, served, subresource } = request;
      const { kind, custom } = served;
      const isResize = subresource === 'resize' && kind.plural === 'pods' && operation === 'UPDATE';
      if ((subresource !== '' && !isResize) || (limited.length === 0 && quotas.list(namespace).length === 0)) return;
      const resource = { group: custom ? kind.group : groupName(identity, kind.group), name: kind.plural };
      if (operation === 'UPDATE' && !isResize && !updateCounts(request, resource)) return;
      const own = limitedFor(limited, resource.group, resource.name);
      const charging: Charging = { request, resource, identity, limited: own, now: clock.now() };
      const charges = (): Work<ResourceQuota[]> => chargeQuotas(charging, quotas.list(namespace));
      const chargeIfAny = (charged: readonly ResourceQuota[]): void => {
        if (charged.length > 0 && !request.dryRun) chargeWithCommit(request, locks, quotas, charges);
      };
      // Denies at once what cannot pass; it is checked again under the lock.
      return whenReady(soonOrInSlices(charges()), chargeIfAny);
    },
  };
};

/**
 * An update matters only for kinds of which more than the number of objects is counted. The requests of pods change with a
 * resize alone, but since release 1.33 a pod that gets or loses a deadline moves to other quotas.
 */
function updateCounts({ served, object, oldObject }: AdmissionRequest, resource: CountedResource): boolean {
  if (!isMeasured(resource)) return false;
  if (resource.name !== 'pods') return true;
  const scope = { scopeName: 'Terminating', operator: 'Exists' };
  return isAtLeast(served.release, '1.33') && isInScope(resource, scope, object) !== isInScope(resource, scope, oldObject);
}

function chargeWithCommit(request: AdmissionRequest, locks: NamedLocks, quotas: QuotaView, charges: () => Work<ResourceQuota[]>): void {
  let release: (() => void) | undefined;
  let charged: readonly ResourceQuota[] = [];
  let revision = 0;
  const endTurn = (): void => {
    release?.();
    release = undefined;
  };
  request.commitSteps ??= [];
  request.commitSteps.push({
    async prepare() {
      const turn = locks.take(request.namespace);
      if (turn === undefined) throw tooManyRequests('too many requests wait for the quota of the namespace', 1);
      release = await turn;
      charged = await inSlices(charges(), new Slices());
      for (const quota of charged) request.sideWrites.push({ group: '', plural: 'resourcequotas', object: quota as ApiObject });
    },
    assigned(assignedRevision) {
      revision = assignedRevision;
      quotas.expect(charged, assignedRevision);
      endTurn();
    },
    settle(isStored) {
      if (revision > 0) quotas.settled(charged, revision, isStored);
      charged = [];
      revision = 0;
      endTurn();
    },
  });
}
