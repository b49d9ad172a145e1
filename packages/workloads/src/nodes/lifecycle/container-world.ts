/** What the life of a container depends on: its pod, the time, what its process does, and what stands in its way. */

import type { Work } from '@plat-dev/lib/slices';
import type { WorkloadPod } from '../../shared/pods.ts';
import type { Stop } from './container-stop.ts';
import type { Lifecycles } from './lifecycle.ts';
import type { PodMemory } from './memory.ts';
import type { Probe, Verdict } from './probes.ts';
import type { Container, Process, Role } from './process.ts';

export type Status = NonNullable<WorkloadPod['status']>;
export type ContainerStatus = NonNullable<Status['containerStatuses']>[number];

export interface NodeEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly fieldPath?: string;
}
/** Why a container cannot be created: it stays in this state until the reason is gone. */
export interface Blocked {
  readonly reason: 'ContainerCreating' | 'CreateContainerConfigError';
  readonly message?: string;
}

export interface ContainerWorld {
  readonly now: number;
  readonly pod: WorkloadPod;
  readonly lifecycles: Lifecycles;
  readonly memory: PodMemory;
  readonly blocked: (container: Container) => Blocked | undefined;
  readonly process: (container: Container, role: Role, restartCount: number) => Work<Process>;
  /** How a probe of a container comes out now. */
  readonly probe: (container: Container, probe: Probe) => Work<Verdict>;
  /** The termination message of a container that exits now. */
  readonly message: (container: Container, role: Role, status: ContainerStatus, exitCode: number) => Work<string>;
  /** How long a container takes to stop if that is asked of it now, and its exit code. */
  readonly stop: (container: Container, status: ContainerStatus) => Work<Stop>;
  readonly event: (event: NodeEvent) => void;
  /** Whether a container is restarted to get the resources that it is to have. */
  readonly restartsToResize?: (container: Container, status: ContainerStatus) => boolean;
}

export const fieldPathOf = ({ name }: { name: string }, role: Role | 'ephemeral'): string =>
  `spec.${role === 'main' ? 'containers' : role === 'ephemeral' ? 'ephemeralContainers' : 'initContainers'}{${name}}`;
