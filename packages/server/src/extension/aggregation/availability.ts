/**
 * Reports in the status of every APIService whether its group version is available. Checked when the object, its service
 * or its endpoints change, and periodically, because servers fail without an event.
 */

import type { APIService } from '@plat-dev/kinds/apiregistration/schema/v1';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Change, LiveView } from '@plat-dev/kinds/live-view';
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { equal } from '@plat-dev/lib/equal';
import { BoundedQueue } from '@plat-dev/lib/queue';
import { Ticker } from '@plat-dev/lib/ticker';
import { ApiError } from '@plat-dev/meta/errors';
import { formatTime } from '@plat-dev/meta/time';
import type { Backends } from './backends.ts';
import { type CheckDeps, check, localVerdict, type Verdict } from './check.ts';

export interface AvailabilityOptions extends CheckDeps {
  readonly apiServices: LiveView<APIService>;
  readonly backends: Backends;
  /** Calls with the key (`namespace/name`) of every changed service and endpoints object. Returns the function that ends this. */
  readonly onServiceChange: (listener: (key: string) => void) => () => void;
  readonly changeStatus: (name: string, change: (object: ApiObject) => void) => Promise<void>;
  readonly clock: Clock;
  /** Called with every verdict on an aggregated server; without one when its APIService was deleted. */
  readonly observed: (name: string, verdict: Verdict | undefined) => void;
  readonly report: (error: unknown) => void;
}

const TYPE = 'Available';
/** Interval of the checks of all objects. */
const PERIOD_MS = 30_000;
/** Delay after failed checks: doubled each time, up to the interval. */
const FIRST_PAUSE_MS = 50;
/** Limit of parallel checks: each takes ten seconds at most. */
const WORKERS = 8;
/** Limit of queued objects; others are checked in the next interval. */
const QUEUE = 10_000;

export class Availability {
  private readonly options: AvailabilityOptions;
  private readonly waitingNames = new BoundedQueue<string>(QUEUE);
  private readonly queued = new Set<string>();
  private readonly running = new Set<string>();
  private readonly pauses = new Map<string, { readonly millis: number; readonly cancel: Cancel }>();
  private ends: (() => void)[] = [];

  /** Runs while there are servers elsewhere: conditions of this server's own versions are checked when they change. */
  private readonly rounds: Ticker;

  constructor(options: AvailabilityOptions) {
    this.options = options;
    this.rounds = new Ticker(options.clock, PERIOD_MS, () => {
      this.all();
      return this.hasRemote();
    });
  }

  start(): void {
    const { apiServices, onServiceChange } = this.options;
    this.ends = [
      apiServices.onChange((change) => this.noticed(change)),
      onServiceChange((key) => this.serviceChanged(key)),
      () => this.rounds.close(),
    ];
    this.all();
    if (this.hasRemote()) this.rounds.start();
  }
  /** Why servers are not checked; undefined while they are. */
  problem(): string | undefined {
    return this.ends.length === 0 ? 'not started' : undefined;
  }
  close(): void {
    for (const end of this.ends) end();
    for (const { cancel } of this.pauses.values()) cancel();
    this.waitingNames.clear();
    this.ends = [];
  }

  private hasRemote(): boolean {
    const { apiServices, backends } = this.options;
    for (const service of apiServices.list()) {
      const { group = '', version = '' } = service.spec;
      if (backends.isRemote(service) && backends.find(group, version)?.connect === undefined) return true;
    }
    return false;
  }
  private all(): void {
    for (const { metadata } of this.options.apiServices.list()) this.look(metadata.name ?? '');
  }
  private noticed({ type, object, old }: Change<APIService>): void {
    const { name = '' } = object.metadata;
    if (type === 'deleted') {
      this.forget(name);
      return;
    }
    const sameServer = old !== undefined && equal(old.spec, object.spec);
    // A condition that this server just wrote needs no check.
    if (sameServer && conditionOf(object)?.reason === this.reported.get(name)) return;
    if (!sameServer) this.unpause(name);
    if (this.hasRemote()) this.rounds.start();
    this.look(name);
  }
  /** Reasons that were last written. */
  private readonly reported = new Map<string, string>();

  private serviceChanged(key: string): void {
    for (const { metadata, spec } of this.options.apiServices.list()) {
      if (spec.service === undefined || `${spec.service.namespace}/${spec.service.name}` !== key) continue;
      this.unpause(metadata.name ?? '');
      this.look(metadata.name ?? '');
    }
  }
  private forget(name: string): void {
    this.unpause(name);
    this.reported.delete(name);
    this.options.observed(name, undefined);
  }
  private unpause(name: string): void {
    this.pauses.get(name)?.cancel();
    this.pauses.delete(name);
  }

  private look(name: string): void {
    if (this.ends.length === 0 || this.queued.has(name) || !this.waitingNames.push(name)) return;
    this.queued.add(name);
    queueMicrotask(() => this.work());
  }
  private work(): void {
    // One worker at a time checks an object; a change meanwhile waits until it is done.
    for (let tries = this.waitingNames.length; tries > 0 && this.running.size < WORKERS; tries--) {
      const name = this.waitingNames.shift() as string;
      if (this.running.has(name)) {
        this.waitingNames.push(name);
        continue;
      }
      this.queued.delete(name);
      this.running.add(name);
      void this.check(name)
        .catch((error: unknown) => {
          if (this.ends.length > 0) this.options.report(error);
        })
        .finally(() => {
          this.running.delete(name);
          this.work();
        });
    }
  }

  private async check(name: string): Promise<void> {
    const { apiServices, backends, observed } = this.options;
    const service = apiServices.get('', name);
    if (service === undefined) return;
    const backend = backends.isRemote(service) ? backends.find(service.spec.group ?? '', service.spec.version ?? '') : undefined;
    const verdict = backend === undefined ? localVerdict : await check(this.options, service, backend);
    if (this.ends.length === 0) return;
    // An object that changed during its check is checked again.
    if (!equal(apiServices.get('', name)?.spec, service.spec)) return;
    if (backend !== undefined) observed(name, verdict);
    await this.report(service, verdict);
    if (verdict.reason === 'FailedDiscoveryCheck') this.lookAgain(name);
    else this.unpause(name);
  }

  private lookAgain(name: string): void {
    const lastPause = this.pauses.get(name);
    lastPause?.cancel();
    const millis = lastPause === undefined ? FIRST_PAUSE_MS : Math.min(lastPause.millis * 2, PERIOD_MS);
    this.pauses.set(name, { millis, cancel: this.options.clock.after(millis, () => this.look(name)) });
  }

  private async report(service: APIService, verdict: Verdict): Promise<void> {
    const { name = '' } = service.metadata;
    const { changeStatus, clock } = this.options;
    const currentCondition = conditionOf(service);
    if (
      currentCondition?.status === verdict.status &&
      currentCondition.reason === verdict.reason &&
      currentCondition.message === verdict.message
    )
      return;
    this.reported.set(name, verdict.reason);
    const time = formatTime(clock.now());
    try {
      await changeStatus(name, (object) => {
        const { status, metadata } = object as APIService;
        // A new object of the same name is checked on its own.
        if (metadata.uid !== service.metadata.uid) return;
        const conditions = status.conditions ?? [];
        const at = conditions.findIndex(({ type }) => type === TYPE);
        const old = conditions[at];
        // The time is that of a change from one status to another, not from one reason to another.
        const lastTransitionTime = old?.status === verdict.status ? old.lastTransitionTime : time;
        const condition = { type: TYPE, status: verdict.status, lastTransitionTime, reason: verdict.reason, message: verdict.message };
        status.conditions = at < 0 ? [...conditions, condition] : conditions.with(at, condition);
      });
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 404)) throw error;
    }
  }
}

const conditionOf = ({ status }: APIService) => status.conditions?.find(({ type }) => type === TYPE);
