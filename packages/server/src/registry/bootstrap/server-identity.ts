/**
 * The identity Lease of a server among those on the same store: in the system namespace, renewed while the server runs. Every
 * server deletes expired Leases of others.
 *
 *   kube-apiserver-7d5a…   held by kube-apiserver-7d5a… for 3600 s, renewed every 10 s
 */
import type { Lease } from '@plat-dev/kinds/coordination/schema/v1';
import type { LiveView } from '@plat-dev/kinds/live-view';
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { ApiError } from '@plat-dev/meta/errors';
import { componentLabel, type Identity, serverComponent } from '@plat-dev/meta/identity';
import { microTimeOf } from '@plat-dev/meta/time';
import type { SystemWriter } from '../system.ts';

export interface ServerIdentityOptions {
  readonly identity: Identity;
  /** Unique for each server and each start of it. */
  readonly id: string;
  readonly leases: Pick<LiveView, 'list' | 'pending'>;
  readonly writer: SystemWriter;
  readonly clock: Clock;
  readonly durationSeconds: number;
  readonly renewMs: number;
  readonly report: (error: unknown) => void;
}

const GROUP = 'coordination';
const PLURAL = 'leases';

export class ServerIdentity {
  /** The name of the lease and of its holder. */
  readonly name: string;
  private readonly options: ServerIdentityOptions;
  private readonly namespace: string;
  private readonly ends: Cancel[] = [];
  /** The current renewal; the next one is skipped if it is still running. */
  private renewing = false;

  constructor(options: ServerIdentityOptions) {
    this.options = options;
    this.name = `${serverComponent(options.identity)}-${options.id}`;
    this.namespace = options.identity.namespaces.system;
  }

  /** Resolves when there is a lease. */
  async start(): Promise<void> {
    const { clock, renewMs, durationSeconds, report } = this.options;
    await this.renew();
    await this.removeExpired();
    this.ends.push(
      clock.every(renewMs, () => void this.renew().catch(report)),
      clock.every(durationSeconds * 1000, () => void this.removeExpired().catch(report)),
    );
  }
  /** The lease stays until it expires: a server that is started again is another one. */
  stop(): void {
    for (const end of this.ends.splice(0)) end();
  }

  private async renew(): Promise<void> {
    if (this.renewing) return;
    this.renewing = true;
    try {
      const { writer } = this.options;
      const desiredLease = this.lease();
      if (await writer.ensure(GROUP, PLURAL, desiredLease)) return;
      await writer.change(GROUP, PLURAL, this.namespace, this.name, (object) => {
        const lease = object as Lease;
        lease.metadata.labels = { ...lease.metadata.labels, ...desiredLease.metadata.labels };
        lease.spec = { ...lease.spec, ...desiredLease.spec };
      });
    } finally {
      this.renewing = false;
    }
  }

  private lease() {
    const { identity, clock, durationSeconds } = this.options;
    return {
      metadata: { name: this.name, namespace: this.namespace, labels: { [componentLabel(identity)]: serverComponent(identity) } },
      spec: { holderIdentity: this.name, leaseDurationSeconds: durationSeconds, renewTime: microTimeOf(clock.now()) },
    };
  }

  private async removeExpired(): Promise<void> {
    const { identity, leases, writer, clock } = this.options;
    // Those of many others are still being loaded: the next time.
    if (leases.pending !== undefined) return;
    for (const lease of leases.list(this.namespace) as readonly Lease[]) {
      if (lease.metadata.labels?.[componentLabel(identity)] !== serverComponent(identity) || !isExpired(lease, clock.now())) continue;
      const { name = '', uid = '', resourceVersion = '' } = lease.metadata;
      await writer
        .remove(GROUP, PLURAL, this.namespace, name, { uid, ...(resourceVersion !== '' && { resourceVersion }) })
        .catch(ignoreChanged);
    }
  }
}

/** A lease without a time or a duration was written by no server. */
function isExpired({ spec: { renewTime, leaseDurationSeconds } }: Lease, now: number): boolean {
  if (renewTime === undefined || leaseDurationSeconds === undefined) return true;
  return Date.parse(renewTime) + leaseDurationSeconds * 1000 < now;
}

/** Another server has deleted it, or its holder has renewed it. */
function ignoreChanged(error: unknown): void {
  if (!(error instanceof ApiError) || (error.code !== 404 && error.code !== 409)) throw error;
}
