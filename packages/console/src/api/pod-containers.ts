/** The containers of a pod, those before its start and those added later included. */
import { listAt, numberAt, textAt, type Value, valueAt } from './values.ts';

export interface PodContainer {
  readonly name: string;
  /** What to write beside the name of one that is none of the usual. */
  readonly role: '' | 'init' | 'ephemeral';
  readonly isRunning: boolean;
  readonly restarts: number;
}

const parts = [
  ['containers', 'containerStatuses', ''],
  ['initContainers', 'initContainerStatuses', 'init'],
  ['ephemeralContainers', 'ephemeralContainerStatuses', 'ephemeral'],
] as const;

export function containersOf(pod: Value): PodContainer[] {
  return parts.flatMap(([field, statusField, role]) => {
    const statuses = listAt(pod, 'status', statusField);
    return listAt(pod, 'spec', field).map((container) => {
      const name = textAt(container, 'name');
      const status = statuses.find((one) => textAt(one, 'name') === name);
      const isRunning = valueAt(status, 'state', 'running') != null;
      return { name, role, isRunning, restarts: numberAt(status, 'restartCount') ?? 0 };
    });
  });
}

/** The annotation of the container that commands take, whatever the domain of the server's names. */
const DEFAULT_CONTAINER = '/default-container';

/** The container that commands take where none is named. */
export function defaultContainer(pod: Value): string {
  const containers = containersOf(pod);
  const annotations = Object.entries((valueAt(pod, 'metadata', 'annotations') ?? {}) as Readonly<Record<string, unknown>>);
  const named = annotations.find(([key]) => key.endsWith(DEFAULT_CONTAINER))?.[1];
  return containers.find(({ name }) => name === named)?.name ?? containers[0]?.name ?? '';
}
