/**
 * Annotations about containers: of the pod before those of its namespace, and for one container before those for all.
 *
 *   simulation.plat.dev/logs.main: text      simulation.plat.dev/logs: text
 */
import { type Identity, simulationName } from '@plat-dev/meta/identity';
import type { WorkloadPod } from '../shared/pods.ts';

export type Annotations = Readonly<Record<string, string>> | undefined;

/** What annotations say of a pod. */
export interface Annotated {
  readonly identity: Identity;
  readonly pod: Pick<WorkloadPod, 'metadata'>;
  readonly ofNamespace: Annotations;
}

export function annotationOf({ identity, pod, ofNamespace }: Annotated, name: string, container = ''): string | undefined {
  const full = simulationName(identity, name);
  for (const annotations of [pod.metadata.annotations, ofNamespace]) {
    const value = (container === '' ? undefined : annotations?.[`${full}.${container}`]) ?? annotations?.[full];
    if (value !== undefined) return value;
  }
  return undefined;
}
