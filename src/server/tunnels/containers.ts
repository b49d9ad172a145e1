/** Which container of a pod is meant. */
import type { Pod } from '../../kinds/core/schema/pod.ts';
import { badRequest } from '../../meta/errors.ts';

/** Checks the name that was given; without one the pod must have one container only. */
export function containerOf(pod: Pod, given: string): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod.spec;
  const name = pod.metadata.name;
  const names = [...initContainers, ...containers, ...ephemeralContainers].map((container) => container.name);
  if (given !== '') {
    if (!names.includes(given)) throw badRequest(`container ${given} is not valid for pod ${name}`);
    return given;
  }
  if (containers.length === 1) return (containers[0] as { name: string }).name;
  if (containers.length === 0) throw badRequest(`a container name must be specified for pod ${name}`);
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`);
}
