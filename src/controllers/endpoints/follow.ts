/** Finds the services to reconcile when services or pods change. Pods are watched from the first service with a selector on. */
import type { Informer } from '../../client/informer.ts';
import { keyOf } from '../../client/informer.ts';
import { equal } from '../../lib/equal.ts';
import { type ControllerContext, refs } from '../runtime/controller.ts';
import { type SlimPod, slimPods } from '../runtime/pods.ts';
import { hasSelector, type ServiceObject, selectorOf } from './service.ts';

export interface Followed {
  readonly services: Informer<ServiceObject>;
  /** The pods of a namespace, once the list is complete. */
  pods(namespace: string): Promise<Iterable<SlimPod>>;
}

/** `look` is called with the key of each service whose endpoints may have changed. */
export function followServices(context: Pick<ControllerContext, 'informers'>, look: (key: string) => void): Followed {
  const services = context.informers.of<ServiceObject>(refs.services);
  let pods: Informer<SlimPod> | undefined;
  const follow = (): Informer<SlimPod> => {
    if (pods !== undefined) return pods;
    pods = slimPods(context.informers);
    pods.onChange(({ type, object, old }) => {
      if (type === 'modified' && old !== undefined && sameToServices(object, old)) return;
      for (const service of services.list(object.metadata.namespace ?? '')) {
        if (!hasSelector(service)) continue;
        const selector = selectorOf(service);
        if (selector.matches(object.metadata.labels) || (old !== undefined && selector.matches(old.metadata.labels))) look(keyOf(service));
      }
    });
    return pods;
  };
  services.onChange(({ object }) => {
    if (hasSelector(object)) follow();
    look(keyOf(object));
  });
  return {
    services,
    async pods(namespace) {
      const all = follow();
      await all.synced;
      return all.list(namespace);
    },
  };
}

const sameToServices = (a: SlimPod, b: SlimPod): boolean =>
  equal(a.metadata.labels, b.metadata.labels) &&
  a.metadata.deletionTimestamp === b.metadata.deletionTimestamp &&
  equal(a.spec, b.spec) &&
  equal(a.status, b.status);
