/**
 * The heartbeats of simulated nodes: a lease that each renews every ten seconds, as agents with the usual lease duration do, and a
 * status every five minutes. Renewals of many nodes are spread over the interval. Where the leases are watched in this process
 * only, they last longer and are renewed rarely, so that time in which nothing happens costs nearly nothing.
 */
import { isConflict, isNotFound, unlessGone } from '@plat-dev/client/http';
import { builtin, type ControllerContext, refs } from '@plat-dev/controllers/runtime/controller';
import { type LeaseWatch, leaseWatch } from '@plat-dev/controllers/runtime/lease-watch';
import type { Lease } from '@plat-dev/kinds/coordination/schema/v1';
import type { Wire } from '@plat-dev/kinds/wire';
import { microTimeOf } from '@plat-dev/meta/time';
import type { Fleet } from './fleet.ts';
import { conditionsOf } from './node-object.ts';

const LEASE_SECONDS = 40;
const LONG_LEASE_SECONDS = 24 * 3600;
const STATUS_MS = 5 * 60_000;
/**
 * Few nodes renew their leases together; many in up to so many parts of the interval. Requests of one part hold the event loop
 * together: where time passes 3,600 times faster, fifty nodes with their statuses took about 50 ms, three times a second.
 */
const MOST_PARTS = 100;
const NODES_OF_PART = 10;
/** Requests at a time. */
const AT_ONCE = 8;

/** In how many parts of the interval so many nodes renew their leases. */
export const partsOf = (nodes: number): number => Math.min(Math.max(Math.ceil(nodes / NODES_OF_PART), 1), MOST_PARTS);

export class Heartbeats {
  private readonly context: ControllerContext;
  private readonly fleet: Fleet;
  private readonly namespace: string;
  private readonly leases;
  private readonly watch: LeaseWatch;
  /** When the status of a node is due. */
  private readonly statusDue = new Map<string, number>();
  private waiting: string[] = [];
  private part = 0;
  private busy = 0;
  private ended = false;
  private cancel: () => void = () => {};

  constructor(context: ControllerContext, fleet: Fleet) {
    this.context = context;
    this.fleet = fleet;
    this.namespace = context.identity.namespaces.nodeLease;
    this.leases = builtin(context.identity, 'coordination', 'v1', 'leases');
    this.watch = leaseWatch(context.informers);
    context.onStop(() => this.stop());
    this.schedule(1);
  }
  /** A node is new or works again: its lease is renewed at once. */
  begin(name: string): void {
    const { clock, random } = this.context;
    this.statusDue.set(name, clock.now() + STATUS_MS * (0.5 + random.float() / 2));
    this.enqueue([name]);
  }
  /** A node is down: its lease is no longer believed for long. */
  end(name: string): void {
    if (!this.watch.here) return;
    const patch = { spec: { leaseDurationSeconds: LEASE_SECONDS } };
    this.context.client.patch(this.leases, this.namespace, name, patch).catch((error: unknown) => {
      if (!this.ended && !isNotFound(error))
        this.context.log.warn('cannot shorten the lease of a simulated node', { node: name, error: String(error) });
    });
  }
  forget(name: string): void {
    this.statusDue.delete(name);
  }

  private get leaseSeconds(): number {
    return this.watch.here ? LONG_LEASE_SECONDS : LEASE_SECONDS;
  }
  private stop(): void {
    this.ended = true;
    this.waiting = [];
    this.cancel();
  }
  private schedule(parts: number): void {
    this.cancel = this.context.clock.after((this.leaseSeconds * 1000) / 4 / parts, () => {
      if (this.ended) return;
      const now = partsOf(this.fleet.size);
      this.part = (this.part + 1) % now;
      this.schedule(now);
      const names: string[] = [];
      let index = 0;
      for (const { name, down } of this.fleet.all()) if (index++ % now === this.part && !down) names.push(name);
      this.enqueue(names);
    });
  }
  private enqueue(names: readonly string[]): void {
    // Renewals that could not be sent since the last time are still due: nothing is queued twice.
    const queued = new Set(this.waiting);
    for (const name of names) if (!queued.has(name)) this.waiting.push(name);
    while (this.busy < AT_ONCE && this.waiting.length > 0) void this.run();
  }
  private async run(): Promise<void> {
    this.busy++;
    try {
      for (let name = this.waiting.shift(); name !== undefined && !this.ended; name = this.waiting.shift()) await this.beat(name);
    } finally {
      this.busy--;
    }
  }
  private async beat(name: string): Promise<void> {
    const { log } = this.context;
    try {
      const node = this.fleet.get(name);
      if (node === undefined || node.down) return;
      await this.renew(name);
      if ((this.statusDue.get(name) ?? 0) <= this.context.clock.now()) await this.report(name);
    } catch (error) {
      if (!this.ended) log.warn('cannot renew the lease of a simulated node', { node: name, error: String(error) });
    }
  }
  private async renew(name: string): Promise<void> {
    const { client, clock } = this.context;
    const renewTime = microTimeOf(clock.now());
    try {
      await client.patch(this.leases, this.namespace, name, { spec: { renewTime, leaseDurationSeconds: this.leaseSeconds } });
      return;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    const uid = this.fleet.nodes.get('', name)?.metadata.uid ?? '';
    const lease: Wire<Lease> = {
      metadata: { name, namespace: this.namespace, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] },
      spec: { holderIdentity: name, leaseDurationSeconds: this.leaseSeconds, renewTime },
    };
    await client.create(this.leases, this.namespace, lease).catch((error: unknown) => {
      if (!isConflict(error)) throw error;
    });
  }
  private async report(name: string): Promise<void> {
    const { client, clock } = this.context;
    const node = this.fleet.nodes.get('', name);
    if (node === undefined) return;
    this.statusDue.set(name, clock.now() + STATUS_MS);
    const patch = {
      metadata: { resourceVersion: node.metadata.resourceVersion },
      status: { conditions: conditionsOf(node.status, clock.now()) },
    };
    await client.patch(refs.nodes, '', name, patch, 'status').catch((error: unknown) => {
      // The next heartbeat has the newer state.
      if (!isConflict(error)) unlessGone(error);
    });
  }
}
