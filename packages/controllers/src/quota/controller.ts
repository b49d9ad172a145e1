/**
 * Keeps the status of quotas true. A plug-in charges them when objects are created; this controller recounts when a quota
 * appears or changes, when something it counts goes, and once in a while.
 */

import type { Client } from '@plat-dev/client/dynamic';
import { unlessGone } from '@plat-dev/client/http';
import { keyOf, splitKey } from '@plat-dev/client/informer';
import { addAmount } from '@plat-dev/kinds/core/pods/pod-amounts';
import type { ResourceQuota } from '@plat-dev/kinds/core/schema/quota';
import { hasScopes, isInScopes, scopesOf } from '@plat-dev/kinds/quota/scopes';
import { countNames, isMeasured, resourceCounted, type Usage, usageOf } from '@plat-dev/kinds/quota/usage';
import type { Wire } from '@plat-dev/kinds/wire';
import { equal } from '@plat-dev/lib/equal';
import type { Identity } from '@plat-dev/meta/identity';
import { quantityOf } from '@plat-dev/meta/quantity';
import { type Controller, refs } from '../runtime/controller.ts';
import type { ServedResource } from '../runtime/resources.ts';
import { idOf, QuotaMonitors } from './monitors.ts';

type Quota = Wire<ResourceQuota>;

/** Interval of full recounts, for missed changes; and the minimum interval when many objects are deleted at once. */
const RESYNC_MS = 5 * 60_000;
const REPLENISH_MS = 100;

export const resourceQuotaController: Controller = {
  name: 'resourcequota',
  account: 'resourcequota-controller',
  start({ informers, queue, client, identity, clock, random, served, onStop, log }) {
    const quotas = informers.of<Quota>(refs.resourceQuotas);
    /** By quota, the kinds that it counts and that are served: few, however many resources it names. */
    const kindsCounted = new Map<string, readonly string[]>();
    const recount = (namespace: string | undefined): void => {
      for (const quota of quotas.list(namespace)) work.addAfter(keyOf(quota), REPLENISH_MS);
    };
    const monitors = new QuotaMonitors({
      client,
      clock,
      spread: () => random.float(),
      report: (error) => log.debug(2, 'watch failed, retrying', { error: String(error) }),
      lessUsed: recount,
    });
    const work = queue(
      async (key) => {
        const { namespace, name } = splitKey(key);
        const { resources } = await served.get();
        const quota = quotas.get(namespace, name);
        if (quota === undefined) return;
        const kinds = kindsOf(quota, identity, resources);
        kindsCounted.set(key, kinds.map(idOf));
        await Promise.all(kinds.map((kind) => monitors.follow(kind)));
        await settle(client, quota, await used(client, identity, quota, kinds, clock.now()));
        return RESYNC_MS * (1 + random.float());
      },
      { after: [quotas.synced], overflowed: () => recount(undefined) },
    );
    quotas.onChange(({ type, object, old }) => {
      if (type === 'deleted') {
        kindsCounted.delete(keyOf(object));
        unused.add('');
      } else if (type === 'added' || !equal(object.spec, old?.spec) || !equal(object.status?.hard, object.spec?.hard))
        work.add(keyOf(object));
    });
    // Once for many quotas that go together.
    const unused = queue(async () => monitors.keepOnly(new Set([...kindsCounted.values()].flat())), {
      name: 'resourcequota_unused',
      workers: 1,
    });
    onStop(() => monitors.stop());
  },
};

/**
 * The kinds that a quota counts, as far as they are served: each in the first version of its group that has it. A kind that two
 * groups serve counts in both, since admission charges the group that a request names.
 */
function kindsOf(quota: Quota, identity: Identity, resources: readonly ServedResource[]): ServedResource[] {
  const countedIds = new Set<string>();
  for (const name in quota.spec?.hard) {
    const resource = resourceCounted(name, identity);
    if (resource !== undefined) countedIds.add(idOf(resource));
  }
  const canBeCounted = ({ namespaced, verbs }: ServedResource): boolean => namespaced && verbs.includes('list') && verbs.includes('watch');
  return resources.filter((r) => canBeCounted(r) && countedIds.delete(idOf(r)));
}

/** What is used of everything that a quota bounds, and that can be counted. */
async function used(
  client: Client,
  identity: Identity,
  quota: Quota,
  kinds: readonly ServedResource[],
  now: number,
): Promise<Record<string, string>> {
  const namespace = quota.metadata.namespace ?? '';
  const spec = quota.spec ?? {};
  const scopes = scopesOf(spec);
  const total: Usage = new Map();
  const countedIds = new Set(kinds.map(idOf));
  for (const name in spec.hard) {
    const countedResource = resourceCounted(name, identity);
    if (countedResource !== undefined && countedIds.has(idOf(countedResource))) total.set(name, quantityOf(0));
  }
  for (const kind of kinds) {
    if (scopes.length > 0 && !hasScopes(kind)) continue;
    if (!isMeasured(kind)) {
      const count = quantityOf(await countObjects(client, kind, namespace));
      for (const name of countNames(kind)) if (total.has(name)) total.set(name, count);
      continue;
    }
    for await (const object of client.each(kind, namespace)) {
      if (!isInScopes(kind, scopes, object)) continue;
      for (const [name, quantity] of usageOf(kind, object, identity, now)) if (total.has(name)) addAmount(total, name, quantity);
    }
  }
  return Object.fromEntries([...total].map(([name, quantity]) => [name, quantity.toString()]));
}

/** How many objects there are, without fetching more than one of them where the server counts the rest. */
async function countObjects(client: Client, kind: ServedResource, namespace: string): Promise<number> {
  const { items, metadata } = await client.list(kind, namespace, { limit: 1, metadataOnly: true });
  if ((metadata.continue ?? '') === '') return items.length;
  if (metadata.remainingItemCount !== undefined) return items.length + metadata.remainingItemCount;
  return (await client.list(kind, namespace, { metadataOnly: true })).items.length;
}

async function settle(client: Client, quota: Quota, used: Record<string, string>): Promise<void> {
  const hard = quota.spec?.hard ?? {};
  const status = { hard, used };
  if (equal(quota.status?.hard ?? {}, hard) && equal(quota.status?.used ?? {}, used) && quota.status?.used !== undefined) return;
  await client.update(refs.resourceQuotas, { ...quota, status } as Quota, 'status').catch(unlessGone);
}
