/** Endpoints of services that select pods. */

import { isConflict, isNotFound, unlessGone } from '@plat-dev/client/http';
import { splitKey } from '@plat-dev/client/informer';
import type { Endpoints } from '@plat-dev/kinds/core/schema/service';
import { equal } from '@plat-dev/lib/equal';
import { domainName } from '@plat-dev/meta/identity';
import { type Controller, refs } from '../runtime/controller.ts';
import { isTerminating } from '../runtime/manager.ts';
import { followServices } from './follow.ts';
import { endpointsOf, familiesOf, hasSelector, headlessLabel, isHeadless } from './service.ts';
import { subsetsOf } from './subsets.ts';
import { TriggerTimes, triggerTimeAnnotation, withTriggerTime } from './trigger-times.ts';

export const endpointsController: Controller = {
  name: 'endpoint',
  account: 'endpoint-controller',
  start(context) {
    const { queue, client, identity, informers } = context;
    const truncatedAnnotation = domainName(identity, 'over-capacity', 'endpoints');
    const headless = headlessLabel(identity);
    const triggerTimes = new TriggerTimes();
    const endpointsInformer = informers.of<Endpoints>(refs.endpoints);
    const followed = followServices(context, (key) => work.add(key));
    const work = queue(
      async (key) => {
        const { namespace, name } = splitKey(key);
        const service = followed.services.get(namespace, name);
        const existing = endpointsInformer.get(namespace, name);
        if (service === undefined) {
          triggerTimes.forget(key);
          // Endpoints that a user created for a service without selector are deleted with the service, too.
          if (existing !== undefined) await client.delete(refs.endpoints, namespace, name).catch(unlessGone);
          return;
        }
        if (!hasSelector(service)) return;
        const [family = 'IPv4'] = familiesOf(service);
        const pods = await followed.podsOf(service);
        const triggerTime = triggerTimes.observe(key, service, pods);
        const { subsets, truncated } = subsetsOf(await endpointsOf(service, pods, family, false));
        const { [headless]: _before, ...own } = service.metadata.labels ?? {};
        const labels = isHeadless(service) ? { ...own, [headless]: '' } : own;
        const { [truncatedAnnotation]: wasTruncated, ...others } = existing?.metadata.annotations ?? {};
        const same =
          equal(existing?.subsets ?? [], subsets) &&
          equal(existing?.metadata.labels ?? {}, labels) &&
          (wasTruncated !== undefined) === truncated;
        if (existing !== undefined && same) return;
        const newAnnotations = withTriggerTime(others, triggerTimeAnnotation(identity), triggerTime);
        const annotations = truncated ? { ...newAnnotations, [truncatedAnnotation]: 'truncated' } : newAnnotations;
        const desired = {
          kind: 'Endpoints',
          apiVersion: 'v1',
          metadata: { ...(existing?.metadata ?? { name, namespace }), labels, annotations },
          subsets,
        } as Endpoints;
        try {
          if (existing === undefined) await client.create(refs.endpoints, namespace, desired);
          else await client.update(refs.endpoints, desired);
        } catch (error) {
          if (isTerminating(error) || (existing !== undefined && isNotFound(error)) || (existing === undefined && isConflict(error)))
            return;
          throw error;
        }
      },
      { after: [followed.services.synced, endpointsInformer.synced] },
    );
    // Changes and deletions by others are reverted.
    endpointsInformer.onChange(({ type, object }) => {
      const { namespace = '', name = '' } = object.metadata;
      const service = followed.services.get(namespace, name);
      if (type !== 'added' && service !== undefined && hasSelector(service)) work.add(`${namespace}/${name}`);
    });
  },
};
