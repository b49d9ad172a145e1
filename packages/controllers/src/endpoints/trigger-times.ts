/**
 * The annotation that says which change led to the newest state of endpoints: network programs measure by it how long they take
 * to follow. It is written only together with something else that has changed.
 *
 *   the first look at a service        the time of its creation
 *   later                              the earliest of the times that changed since: when a pod became ready or ceased to be
 *   nothing of that changed            none
 */
import { without } from '@plat-dev/lib/own';
import { domainName, type Identity } from '@plat-dev/meta/identity';
import type { SlimPod } from '../runtime/pods.ts';
import type { ServiceObject } from './service.ts';

export const triggerTimeAnnotation = (identity: Identity): string => domainName(identity, 'last-change-trigger-time', 'endpoints');

export class TriggerTimes {
  /** By key of the service: the times by which its pods changed last, by name. Held as long as the service exists. */
  private readonly podTimes = new Map<string, ReadonlyMap<string, string>>();

  /** The time of the change that led to this look at a service and its pods. All times are RFC 3339 in UTC and whole seconds, which sort as text. */
  observe(key: string, service: ServiceObject, pods: Iterable<SlimPod>): string | undefined {
    const earlier = this.podTimes.get(key);
    const times = new Map<string, string>();
    let first: string | undefined;
    for (const { metadata, status } of pods) {
      const { name = '' } = metadata;
      const time = status.readySince;
      if (time === undefined) continue;
      times.set(name, time);
      if (time > (earlier?.get(name) ?? '') && (first === undefined || time < first)) first = time;
    }
    this.podTimes.set(key, times);
    return earlier === undefined ? service.metadata.creationTimestamp : first;
  }

  forget(key: string): void {
    this.podTimes.delete(key);
  }
}

/** Annotations with the time of the last change instead of the one that they had. */
export function withTriggerTime(
  annotations: Readonly<Record<string, string>> | undefined,
  name: string,
  time: string | undefined,
): Record<string, string> {
  const others = without(annotations ?? {}, name);
  return time === undefined ? others : { ...others, [name]: time };
}
