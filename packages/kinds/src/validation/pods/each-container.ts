/** All containers of a pod with their paths. */
import type { Path } from '@plat-dev/meta/field';
import type { Container } from '../../core/schema/pods/containers.ts';
import type { PodSpec } from '../../core/schema/pods/pod.ts';

/** Calls back for every container of a pod, in the order of a stock server. */
export function eachContainer(spec: PodSpec, at: Path, visit: (container: Container, at: Path) => void): void {
  spec.initContainers?.forEach((container, i) => {
    visit(container, at.child('initContainers').index(i));
  });
  spec.containers?.forEach((container, i) => {
    visit(container, at.child('containers').index(i));
  });
  spec.ephemeralContainers?.forEach((container, i) => {
    visit(container, at.child('ephemeralContainers').index(i));
  });
}
