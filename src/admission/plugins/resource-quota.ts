/**
 * ResourceQuota: what the objects of a namespace use together stays within its quotas.
 *
 * Usage is charged in the commit that stores the object, guarded by the version of the quota, so that no two requests can
 * take the same last piece and a request that fails later charges nothing. Those that charge the same namespace take
 * turns between the check and the commit: they would overtake each other otherwise. Where the store says at once which
 * revision a commit will have, the turn ends there; otherwise when the commit is done.
 */

import type { ResourceQuota } from '../../kinds/core/schema/quota.ts';
import type { ApiObject } from '../../kinds/kind.ts';
import { isMeasured } from '../../kinds/quota/usage.ts';
import { Turns } from '../../lib/turns.ts';
import { tooManyRequests } from '../../meta/errors.ts';
import { groupName } from '../../meta/identity.ts';
import type { MakePlugin } from '../plugin.ts';
import type { AdmissionRequest } from '../types.ts';
import { type Charging, chargeQuotas } from './quota-charge.ts';
import { limitedFor, readLimitedResources } from './quota-limits.ts';
import { QuotaView } from './quota-view.ts';

/** Requests that may wait for their turn in one namespace. */
const MAX_WAITING = 1000;

export const resourceQuota: MakePlugin = ({ identity, live, clock }, configuration) => {
  const quotas = new QuotaView(live<ResourceQuota>('', 'resourcequotas'));
  const limited = readLimitedResources(configuration, identity);
  const turns = new Turns(MAX_WAITING);
  return {
    name: 'ResourceQuota',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    // Events go by themselves, and there may be very many of them.
    concerns: ({ kind }) => kind.namespaced && !kind.virtual && kind.plural !== 'events',
    validate(request) {
      const { namespace, operation, served, subresource } = request;
      if (subresource !== '' || (limited.length === 0 && quotas.list(namespace).length === 0)) return;
      const { kind, custom } = served;
      const resource = { group: custom ? kind.group : groupName(identity, kind.group), name: kind.plural };
      // An update changes only what more than the number of objects is counted of; pods cannot ask for more later on.
      if (operation === 'UPDATE' && (!isMeasured(resource) || resource.name === 'pods')) return;
      const own = limitedFor(limited, resource.group, resource.name);
      const charging: Charging = { request, resource, identity, limited: own, now: clock.now() };
      const charges = (): ResourceQuota[] => chargeQuotas(charging, quotas.list(namespace));
      // Refuses at once what cannot pass; whether it still fits is asked again when its turn comes.
      if (charges().length > 0 && !request.dryRun) chargeWithCommit(request, turns, quotas, charges);
    },
  };
};

function chargeWithCommit(request: AdmissionRequest, turns: Turns, quotas: QuotaView, charges: () => ResourceQuota[]): void {
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
      const turn = turns.take(request.namespace);
      if (turn === undefined) throw tooManyRequests('too many requests wait for the quota of the namespace', 1);
      release = turn instanceof Promise ? await turn : turn;
      charged = charges();
      for (const quota of charged) request.sideWrites.push({ group: '', plural: 'resourcequotas', object: quota as ApiObject });
    },
    assigned(given) {
      revision = given;
      quotas.expect(charged, given);
      endTurn();
    },
    settle(stored) {
      if (revision > 0) quotas.settled(charged, revision, stored);
      charged = [];
      revision = 0;
      endTurn();
    },
  });
}
