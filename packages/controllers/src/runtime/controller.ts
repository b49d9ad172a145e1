/** What a controller is, and the world it runs in. */
import type { Client, ResourceRef } from '@plat-dev/client/dynamic';
import type { Clock } from '@plat-dev/lib/clock';
import type { Log } from '@plat-dev/lib/log';
import type { Random } from '@plat-dev/lib/random';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import type { Informers } from './informers.ts';
import type { Outcome, WorkQueue } from './queue.ts';
import type { ServedResources } from './resources.ts';

export interface Controller {
  /** The name by which `--controllers` knows it: that of the stock controller manager. */
  readonly name: string;
  /** The service account it acts as, in the system namespace. Absent: it acts as the manager of all controllers. */
  readonly account?: string;
  /** The user it acts as, where that is not a service account. */
  readonly user?: ControllerUser;
  /** False: `*` does not include it. */
  readonly onByDefault?: boolean;
  /** The built-in kind without which it has nothing to do: base name of the group, and plural. */
  readonly needs?: { readonly group: string; readonly plural: string };
  /** Why it cannot run as things are; said in the log. */
  readonly unavailable?: string;
  start(context: ControllerContext): void;
}

/** Users that are not service accounts: the scheduler, and the nodes that are simulated, as one user who may do everything. */
export type ControllerUser = 'scheduler' | 'nodes';

interface QueueChoice {
  /** Names the queue in metrics, where a controller has several. */
  readonly name?: string;
  readonly workers?: number;
  readonly firstRetryMs?: number;
  readonly longestRetryMs?: number;
  readonly overflowed?: () => void;
  /** The queue begins to work when all of these are there. */
  readonly after?: readonly Promise<unknown>[];
}

export interface ControllerContext {
  readonly identity: Identity;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Requests as the controller's own account. */
  readonly client: Client;
  /** What all controllers share, read as the manager of all. */
  readonly informers: Informers;
  readonly served: ServedResources;
  /** A queue that stops with the controller. */
  queue(work: (key: string) => Promise<Outcome>, choice?: QueueChoice): WorkQueue;
  /** Called once, before the queues are stopped. */
  onStop(call: () => void): void;
}

/** A built-in resource by the base name of its group. */
export const builtin = (identity: Identity, group: string, version: string, name: string, namespaced = true): ResourceRef => ({
  group: groupName(identity, group),
  version,
  name,
  namespaced,
});
export const core = (name: string, namespaced = true): ResourceRef => ({ group: '', version: 'v1', name, namespaced });

export const refs = {
  namespaces: core('namespaces', false),
  nodes: core('nodes', false),
  persistentVolumes: core('persistentvolumes', false),
  persistentVolumeClaims: core('persistentvolumeclaims'),
  configMaps: core('configmaps'),
  secrets: core('secrets'),
  serviceAccounts: core('serviceaccounts'),
  services: core('services'),
  endpoints: core('endpoints'),
  pods: core('pods'),
  resourceQuotas: core('resourcequotas'),
} as const;
