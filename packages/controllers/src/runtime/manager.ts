/** Runs controllers together: shared informers, the account of each, and a graceful stop. */
import { Client } from '@plat-dev/client/dynamic';
import type { Http } from '@plat-dev/client/http';
import { TransportError } from '@plat-dev/client/http';
import type { Clock } from '@plat-dev/lib/clock';
import type { Log } from '@plat-dev/lib/log';
import type { Random } from '@plat-dev/lib/random';
import { productVersion } from '@plat-dev/lib/version';
import { ApiError } from '@plat-dev/meta/errors';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import type { Controller, ControllerContext, ControllerUser } from './controller.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { Informers } from './informers.ts';
import { WorkQueue } from './queue.ts';
import { type ServedResource, ServedResources } from './resources.ts';

/** The name of the user, the lease and the field manager that controllers share. */
export const managerName = 'kube-controller-manager';

export interface ManagerOptions {
  readonly controllers: readonly Controller[];
  readonly identity: Identity;
  /** The transport as a service account of the system namespace; as the controller manager if none is named. */
  readonly connect: (account: string | undefined, user?: ControllerUser) => Http;
  readonly clock: Clock;
  /** The time that controllers work by, where it passes faster than that of their requests. */
  readonly objectTime?: { readonly clock: Clock; readonly factor: number };
  readonly random: Random;
  readonly log: Log;
  readonly metrics?: ControllerMetrics;
  /** Kinds that the server does not serve, but answers requests from within about. */
  readonly unserved?: readonly ServedResource[];
}

/** How long a stop waits for work in progress. */
const STOP_WAIT_MS = 10_000;

export interface Running {
  /** Starts nothing new; resolves when the work in progress is done. */
  stop(): Promise<void>;
  /**
   * Whether keys are queued or processed now, or are retried after a failure, or discovery is refreshed, within so many
   * milliseconds. Keys that are delayed for other reasons do not count.
   */
  isBusy?(retryMs: number): boolean;
}

export function clientFor(identity: Identity, http: Http): Client {
  return new Client(http, { userAgent: `${managerName}/${productVersion}`, metadataGroup: groupName(identity, 'meta') });
}

export function startControllers(options: ManagerOptions): Running {
  const { identity, clock, random, log, connect } = options;
  const manager = clientFor(identity, connect(undefined));
  let stopped = false;
  // Requests that are aborted by the stop are no failures.
  const report = (error: unknown, resource: string): void => {
    if (!stopped) reportFailure(log, 'watch failed, retrying', error, { resource });
  };
  const informers = new Informers({
    client: manager,
    clock,
    spread: () => random.float(),
    report,
  });
  const served = new ServedResources({
    client: manager,
    informers,
    identity,
    clock,
    unserved: options.unserved,
    report: (error) => {
      if (!stopped) reportFailure(log, 'discovery failed, retrying', error, {});
    },
  });
  const able = options.controllers.filter(({ name, unavailable }) => {
    if (unavailable !== undefined) log.warn('controller not started', { controller: name, reason: unavailable });
    return unavailable === undefined;
  });
  const running = able.map((controller) => {
    const { account, user } = controller;
    const client = account === undefined && user === undefined ? manager : clientFor(identity, connect(account, user));
    return startOne(controller, { options, client, informers, served });
  });
  return {
    async stop() {
      stopped = true;
      const ending = running.map((one) => one.stop());
      served.stop();
      informers.stop();
      // A request that hangs must not delay the end of the process.
      const enough = new AbortController();
      await Promise.race([Promise.all(ending), clock.sleep(STOP_WAIT_MS, enough.signal).catch(() => {})]);
      enough.abort();
    },
    isBusy: (retryMs) => served.isBusy(retryMs) || informers.isBehind || running.some((one) => one.isBusy?.(retryMs)),
  };
}

interface Shared {
  readonly options: ManagerOptions;
  readonly client: Client;
  readonly informers: Informers;
  readonly served: ServedResources;
}

function startOne(controller: Controller, { options, client, informers, served }: Shared): Running {
  const { identity, random, metrics } = options;
  const { clock, factor: timeFactor } = options.objectTime ?? { clock: options.clock, factor: 1 };
  const log = options.log.child({ controller: controller.name });
  const queues: WorkQueue[] = [];
  const calls: (() => void)[] = [];
  let stopped = false;
  const context: ControllerContext = {
    identity,
    clock,
    random,
    log,
    client,
    informers,
    served,
    queue(work, choice = {}) {
      const { after = [], name = controller.name, ...rest } = choice;
      const queue = new WorkQueue({
        ...rest,
        name,
        clock,
        timeFactor,
        work,
        report: (error, key) => {
          if (!stopped) reportFailure(log, 'controller failed, retrying', error, { key });
        },
        ...(metrics !== undefined && { metrics: metrics.queue(name) }),
      });
      queues.push(queue);
      Promise.all(after).then(
        () => {
          if (!stopped) queue.start();
        },
        () => {},
      );
      return queue;
    },
    onStop: (call) => void calls.push(call),
  };
  controller.start(context);
  return {
    async stop() {
      stopped = true;
      for (const call of calls) call();
      await Promise.all(queues.map((queue) => queue.stop()));
    },
    isBusy: (retryMs) => queues.some((queue) => !queue.isIdle || queue.retriesWithin(retryMs)),
  };
}

type FailurePhrase = 'watch failed, retrying' | 'discovery failed, retrying' | 'controller failed, retrying';

/** A retry after a conflicting write is expected and logged at debug level only. */
function reportFailure(log: Log, phrase: FailurePhrase, error: unknown, fields: Record<string, unknown>): void {
  if (error instanceof ApiError && (error.code === 409 || error.code === 404 || isTerminating(error))) {
    log.debug(4, phrase, { ...fields, error: error.message });
  } else if (error instanceof ApiError || error instanceof TransportError) {
    log.warn(phrase, { ...fields, error: error.message });
  } else {
    log.error(phrase, { ...fields, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

/** Nothing can be created in a terminating namespace. */
export function isTerminating(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    error.code === 403 &&
    (error.details?.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating')
  );
}
