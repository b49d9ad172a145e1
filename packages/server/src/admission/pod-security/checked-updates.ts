/** The updates of pods that are checked: those that add something to run. */

import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { Identity } from '@plat-dev/meta/identity';
import type { AnyContainer } from '../pods.ts';

export function isCheckedUpdate(pod: Pod, old: Pod, identity: Identity): boolean {
  const lists = (spec: Pod['spec']): readonly AnyContainer[][] => [
    spec.initContainers ?? [],
    spec.containers ?? [],
    spec.ephemeralContainers ?? [],
  ];
  const oldLists = lists(old.spec);
  const profileOf = ({ metadata }: Pod, name: string): string | undefined =>
    metadata.annotations?.[`container.seccomp.security.alpha.${identity.domain}/${name}`];
  return lists(pod.spec).some((containers, i) => {
    const oldContainers = oldLists[i] ?? [];
    if (containers.length !== oldContainers.length) return true;
    return containers.some(({ name, image }, j) => image !== oldContainers[j]?.image || profileOf(pod, name) !== profileOf(old, name));
  });
}
