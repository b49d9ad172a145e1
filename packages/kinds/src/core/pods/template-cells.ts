/** Cells of a pod template, for the Tables of all workloads. */
import type { PodTemplateSpec } from '../schema/pods/pod.ts';

export const NONE = '<none>';

/** Names and images of the containers. */
export function containerCells(template: PodTemplateSpec | undefined): [string, string] {
  const containers = template?.spec.containers ?? [];
  return [containers.map((c) => c.name).join(), containers.map((c) => c.image ?? '').join()];
}

/** `a=b,c=d`, in the order of the keys. */
export function labelsCell(labels: Readonly<Record<string, string>> | undefined): string {
  if (labels === undefined) return NONE;
  const pairs = Object.keys(labels)
    .sort()
    .map((key) => `${key}=${labels[key]}`);
  return pairs.length === 0 ? NONE : pairs.join();
}
