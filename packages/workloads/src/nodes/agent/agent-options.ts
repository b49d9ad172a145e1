import type { Client } from '@plat-dev/client/dynamic';
import type { Clock } from '@plat-dev/lib/clock';
import type { Random } from '@plat-dev/lib/random';
import type { Identity } from '@plat-dev/meta/identity';
import type { ContainerFiles } from '../container-files.ts';

export interface AgentOptions {
  readonly identity: Identity;
  /** As a user who may read pods, config maps and secrets. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** The address that names of services are looked up at. */
  readonly nameserver: string;
  /** Annotations may lead forwarded ports to loopback addresses of this machine. */
  readonly forwardLocal: boolean;
  /** What commands write in containers. */
  readonly disks: ContainerFiles;
}
