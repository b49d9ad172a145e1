/** Finds the services to reconcile when services or pods change. Pods are watched from the first service with a selector on. */
import type { Informer } from '@plat-dev/client/informer';
import { keyOf } from '@plat-dev/client/informer';
import { equal } from '@plat-dev/lib/equal';
import { noLabel } from '@plat-dev/meta/labels';
import { type ControllerContext, refs } from '../runtime/controller.ts';
import { type SlimPod, slimPods } from '../runtime/pods.ts';
import { SelectorIndex, selectedBy } from '../runtime/selector-index.ts';
import { hasSelector, type ServiceObject, selectorIn } from './service.ts';

export interface Followed {
  readonly services: Informer<ServiceObject>;
  /** The pods that a service selects, once the list of pods is complete. */
  podsOf(service: ServiceObject): Promise<SlimPod[]>;
}

/** `look` is called with the key of each service whose endpoints may have changed. */
export function followServices(context: Pick<ControllerContext, 'informers'>, look: (key: string) => void): Followed {
  const services = context.informers.of<ServiceObject>(refs.services);
  const selecting = context.informers.share('services by selector', () => new SelectorIndex(services, selectorIn));
  const lookAt = (service: ServiceObject): void => look(keyOf(service));
  let pods: Informer<SlimPod> | undefined;
  const follow = (): Informer<SlimPod> => {
    if (pods !== undefined) return pods;
    pods = slimPods(context.informers);
    pods.onChange(({ type, object, old }) => {
      if (type === 'modified' && old !== undefined && sameToServices(object, old)) return;
      const { namespace = '', labels } = object.metadata;
      selecting.forLabels(namespace, labels, lookAt);
      if (old !== undefined && !equal(old.metadata.labels, labels)) selecting.forLabels(namespace, old.metadata.labels, lookAt);
    });
    return pods;
  };
  services.onChange(({ object }) => {
    if (hasSelector(object)) follow();
    look(keyOf(object));
  });
  return {
    services,
    async podsOf(service) {
      const all = follow();
      await all.synced;
      return selectedBy(selecting.selectorOf(service) ?? noLabel, all.list(service.metadata.namespace ?? ''));
    },
  };
}

const sameToServices = (a: SlimPod, b: SlimPod): boolean =>
  equal(a.metadata.labels, b.metadata.labels) &&
  a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
  equal(a.spec, b.spec) &&
  equal(a.status, b.status);
