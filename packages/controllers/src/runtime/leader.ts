/**
 * Leader election: of several processes that could run the controllers, the one that holds a Lease does. The states:
 *
 *   waiting    another process holds it; it is read every retry period. A process that sees it unchanged for its whole
 *              duration, by its own clock, takes it                                                 → leading
 *   leading    it is renewed every retry period; when that has failed for the renew deadline, which is shorter than the
 *              lease duration, the work is stopped                                                  → waiting
 *   stopped    the lease is released, so that the next process need not wait
 */

import type { Client, ResourceRef } from '@plat-dev/client/dynamic';
import { isConflict } from '@plat-dev/client/http';
import type { Lease } from '@plat-dev/kinds/coordination/schema/v1';
import type { Wire } from '@plat-dev/kinds/wire';
import type { Clock } from '@plat-dev/lib/clock';
import { apiVersionOf } from '@plat-dev/meta/api-version';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { microTimeOf } from '@plat-dev/meta/time';
import type { Running } from './manager.ts';

export interface ElectionTimes {
  readonly leaseMs: number;
  readonly renewDeadlineMs: number;
  readonly retryMs: number;
}

export interface ElectionOptions extends ElectionTimes {
  readonly client: Client;
  readonly identity: Identity;
  /** Name of the lease, in the system namespace. */
  readonly lease: string;
  /** Unique among the candidates. */
  readonly holder: string;
  readonly clock: Clock;
  /** A number from 0 to below 1, to spread the candidates. */
  readonly spread: () => number;
  /** Starts the work of the leader. */
  readonly start: () => Running;
  readonly changed?: (leads: boolean) => void;
  readonly report: (error: unknown) => void;
}

/** Throws an Error that names inconsistent durations. */
export function checkTimes({ leaseMs, renewDeadlineMs, retryMs }: ElectionTimes): void {
  if (retryMs < 1) throw new Error('the retry period must be longer than nothing');
  if (leaseMs <= renewDeadlineMs) throw new Error('the lease duration must be longer than the renew deadline');
  if (renewDeadlineMs <= retryMs * 1.2) throw new Error('the renew deadline must be longer than the retry period, by a fifth at least');
}

type LeaseObject = Wire<Lease>;

export type ElectionState = 'waiting' | 'leading' | 'stopped';

export class Election implements Running {
  state: ElectionState = 'waiting';
  private readonly options: ElectionOptions;
  private readonly resource: ResourceRef;
  private observedRecord: { version: string; at: number } | undefined;
  private lease: LeaseObject | undefined;
  private work: Running | undefined;
  private readonly stopping = new AbortController();
  private readonly finished: Promise<void>;

  constructor(options: ElectionOptions) {
    checkTimes(options);
    this.options = options;
    this.resource = { group: groupName(options.identity, 'coordination'), version: 'v1', name: 'leases', namespaced: true };
    this.finished = this.run();
  }
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.finished;
  }

  isBusy(retryMs: number): boolean {
    return this.work?.isBusy?.(retryMs) === true;
  }

  private async run(): Promise<void> {
    const { clock, retryMs, spread } = this.options;
    while (!this.stopping.signal.aborted) {
      if (await this.attempt()) await this.lead();
      else await clock.sleep(retryMs * (1 + 0.2 * spread()), this.stopping.signal).catch(() => {});
    }
    this.state = 'stopped';
  }

  private async lead(): Promise<void> {
    const { clock, retryMs, renewDeadlineMs, changed, start } = this.options;
    this.state = 'leading';
    changed?.(true);
    this.work = start();
    let renewed = clock.monotonic();
    while (!this.stopping.signal.aborted) {
      await clock.sleep(retryMs, this.stopping.signal).catch(() => {});
      if (this.stopping.signal.aborted) break;
      const remainingMs = renewed + renewDeadlineMs - clock.monotonic();
      if (remainingMs <= 0) break;
      const began = clock.monotonic();
      // A response that is too late counts as a failure.
      const outcome = await Promise.race([this.attempt(), clock.sleep(remainingMs).then(() => false)]);
      if (outcome) renewed = began;
      else if (this.lease?.spec?.holderIdentity !== this.options.holder) break;
    }
    await this.work.stop();
    this.work = undefined;
    changed?.(false);
    this.state = 'waiting';
    if (this.stopping.signal.aborted) await this.release();
  }

  /** Acquires or renews the lease if possible. Returns whether this process holds it. */
  private async attempt(): Promise<boolean> {
    try {
      return await this.takeOrRenew();
    } catch (error) {
      // Another process wrote it meanwhile: read it again next time.
      if (!isConflict(error)) this.options.report(error);
      return false;
    }
  }
  private async takeOrRenew(): Promise<boolean> {
    const { client, clock, holder, leaseMs } = this.options;
    const namespace = this.options.identity.namespaces.system;
    const lease = await client.find<LeaseObject>(this.resource, namespace, this.options.lease);
    const now = microTimeOf(clock.now());
    const mine = { holderIdentity: holder, leaseDurationSeconds: Math.ceil(leaseMs / 1000), renewTime: now };
    if (lease === undefined) {
      this.lease = await client.create<LeaseObject>(this.resource, namespace, {
        kind: 'Lease',
        apiVersion: apiVersionOf(this.resource),
        metadata: { name: this.options.lease, namespace },
        spec: { ...mine, acquireTime: now, leaseTransitions: 0 },
      });
      return true;
    }
    this.lease = lease;
    this.observe(lease);
    const spec = lease.spec ?? {};
    const holds = spec.holderIdentity === holder;
    if (!holds && (spec.holderIdentity ?? '') !== '' && !this.hasRunOut(spec.leaseDurationSeconds)) return false;
    const transitions = (spec.leaseTransitions ?? 0) + (holds ? 0 : 1);
    lease.spec = { ...spec, ...mine, acquireTime: holds ? (spec.acquireTime ?? now) : now, leaseTransitions: transitions };
    this.lease = await client.update<LeaseObject>(this.resource, lease);
    return true;
  }
  /** Clocks of other machines are not trusted: the lease expires when it has not changed for its duration by our own. */
  private observe(lease: LeaseObject): void {
    const version = lease.metadata.resourceVersion ?? '';
    if (this.observedRecord?.version !== version) this.observedRecord = { version, at: this.options.clock.monotonic() };
  }
  private hasRunOut(seconds: number | undefined): boolean {
    const duration = seconds === undefined ? this.options.leaseMs : seconds * 1000;
    return this.observedRecord !== undefined && this.options.clock.monotonic() - this.observedRecord.at > duration;
  }

  private async release(): Promise<void> {
    const { lease } = this;
    if (lease?.spec?.holderIdentity !== this.options.holder) return;
    lease.spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTimeOf(this.options.clock.now()) };
    await this.options.client.update(this.resource, lease).catch(() => {});
  }
}
