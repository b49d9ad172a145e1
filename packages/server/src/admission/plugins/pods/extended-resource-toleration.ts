/**
 * ExtendedResourceToleration: nodes with special devices repel other pods by a taint with the resource's name; pods that
 * request the resource get the toleration.
 */
import type { Toleration } from '@plat-dev/kinds/core/schema/pods/scheduling';
import { isExtendedResource } from '@plat-dev/kinds/validation/resources';
import { equal } from '@plat-dev/lib/equal';
import { kinds, type MakePlugin } from '../../plugin.ts';
import { podOf } from '../../pods.ts';

export const extendedResourceToleration: MakePlugin = ({ identity }) => ({
  name: 'ExtendedResourceToleration',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  concerns: kinds('pods'),
  admit(request) {
    const pod = podOf(request);
    if (pod === undefined) return;
    const extendedResources = new Set<string>();
    for (const { resources } of [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])])
      for (const name in resources.requests) if (isExtendedResource(name, identity)) extendedResources.add(name);
    for (const key of [...extendedResources].sort()) {
      const toleration: Toleration = { key, operator: 'Exists', effect: 'NoSchedule' };
      pod.spec.tolerations = withToleration(pod.spec.tolerations ?? [], toleration);
    }
  },
});

/** Replaces those that differ only in tolerationSeconds, else appended. */
function withToleration(list: readonly Toleration[], toleration: Toleration): Toleration[] {
  const same = (one: Toleration): boolean =>
    equal({ ...one, tolerationSeconds: undefined }, { ...toleration, tolerationSeconds: undefined });
  return list.some(same) ? list.map((one) => (same(one) ? toleration : one)) : [...list, toleration];
}
