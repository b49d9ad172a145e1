/** Runs the controllers only while this process holds their lease. */
import { hostname } from 'node:os';
import type { Client } from '@plat-dev/client/dynamic';
import type { ControllerMetrics } from '@plat-dev/controllers/runtime/controller-metrics';
import { checkTimes, Election, type ElectionTimes } from '@plat-dev/controllers/runtime/leader';
import { managerName, type Running } from '@plat-dev/controllers/runtime/manager';
import type { Clock } from '@plat-dev/lib/clock';
import type { Log } from '@plat-dev/lib/log';
import type { Random } from '@plat-dev/lib/random';
import type { Identity } from '@plat-dev/meta/identity';

export interface ElectionFlags {
  readonly leaderElectLeaseDuration: number;
  readonly leaderElectRenewDeadline: number;
  readonly leaderElectRetryPeriod: number;
}
export interface ElectOptions {
  readonly times: ElectionTimes;
  readonly identity: Identity;
  /** As the controller manager, which may write the lease. */
  readonly client: Client;
  readonly start: () => Running;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics?: ControllerMetrics;
  readonly log: Log;
}

/** Throws if the durations are inconsistent. */
export function electionTimes(options: ElectionFlags): ElectionTimes {
  const times = {
    leaseMs: options.leaderElectLeaseDuration,
    renewDeadlineMs: options.leaderElectRenewDeadline,
    retryMs: options.leaderElectRetryPeriod,
  };
  checkTimes(times);
  return times;
}

export function elect({ times, identity, client, start, clock, random, metrics, log }: ElectOptions): Running {
  return new Election({
    client,
    identity,
    lease: managerName,
    holder: `${hostname()}_${random.uuid()}`,
    ...times,
    clock,
    spread: () => random.float(),
    start,
    changed: (leads) => {
      metrics?.leading(managerName, leads);
      log.info(leads ? 'leader election won, running the controllers' : 'leader election lost, controllers stopped');
    },
    report: (error) => log.warn('cannot read or write the lease of the controllers', { error: String(error) }),
  });
}
