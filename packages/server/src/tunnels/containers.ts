/** The container of a pod that a request means. */
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import { badRequest } from '@plat-dev/meta/errors';

/** Checks the given name; without one the pod must have exactly one container. */
export function containerOf(pod: Pod, givenName: string): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod.spec;
  const name = pod.metadata.name;
  const names = [...initContainers, ...containers, ...ephemeralContainers].map((container) => container.name);
  if (givenName !== '') {
    if (!names.includes(givenName)) throw badRequest(`container ${givenName} is not valid for pod ${name}`);
    return givenName;
  }
  if (containers.length === 1) return (containers[0] as { name: string }).name;
  if (containers.length === 0) throw badRequest(`a container name must be specified for pod ${name}`);
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`);
}
