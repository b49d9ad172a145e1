/**
 * Pods that wait for a node, in three places: those that are decided next, by priority and then by time; those that fit nowhere,
 * until an event may help; and those that an event woke too soon after their last decision.
 *
 *   add a (priority 0), add b (priority 9)      take → b, a
 *   park a, wake                                a is taken a second after its last decision; after two failures two, at most ten
 *   park a, and nothing happens                 a is taken after five minutes
 *   park a for want of a claim, wake            a is taken at once
 */
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { Cause } from './cause.ts';
import { Heap } from './heap.ts';
import type { PodState } from './state.ts';

const FIRST_BACKOFF_MS = 1000;
const LONGEST_BACKOFF_MS = 10_000;
/** Pods are decided again after this time even if no event seemed to help. */
const PARKED_MS = 300_000;

export interface WaitingOptions {
  readonly clock: Clock;
  /** Called when a pod can be taken. */
  readonly ready: () => void;
}

interface Entry {
  readonly pod: PodState;
  /** The pod's order when it was added: an entry of a pod that has moved since counts no more. */
  readonly order: number;
  readonly at: number;
}

const isMoreUrgent = ({ pod: a, at: since, order }: Entry, { pod: b, at: since2, order: order2 }: Entry): boolean =>
  a.priority !== b.priority ? a.priority > b.priority : since !== since2 ? since < since2 : order < order2;

export class WaitingPods {
  private readonly options: WaitingOptions;
  private readonly active = new Heap<Entry>(isMoreUrgent);
  private readonly backoff = new Heap<Entry>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));
  /** Oldest first. */
  private readonly parked = new Set<PodState>();
  private readonly socialPods = new Set<PodState>();
  private backoffTimer: { readonly at: number; readonly cancel: Cancel } | undefined;
  private parkedTimer: Cancel | undefined;
  private moves = 0;
  private counts = { active: 0, backoff: 0 };

  constructor(options: WaitingOptions) {
    this.options = options;
  }
  get size(): { readonly active: number; readonly backoff: number; readonly parked: number } {
    return { ...this.counts, parked: this.parked.size };
  }
  /** A pod that has just come. */
  add(pod: PodState): void {
    this.remove(pod);
    pod.since = this.options.clock.monotonic();
    this.activate(pod);
  }
  /** The pod to decide next, which waits on. */
  get first(): PodState | undefined {
    for (let entry = this.active.first; entry !== undefined; entry = this.active.first) {
      if (entry.pod.place === 'active' && entry.pod.order === entry.order) return entry.pod;
      this.active.take();
    }
    return undefined;
  }
  /** The pod to decide next, or this one if it still waits for that. */
  take(pod = this.first): PodState | undefined {
    if (pod?.place !== 'active') return undefined;
    this.remove(pod);
    pod.attempts++;
    pod.causes = 0;
    pod.triedAt = this.options.clock.monotonic();
    return pod;
  }
  get isEmpty(): boolean {
    return this.counts.active === 0;
  }
  /** The pod fits nowhere, for these causes. */
  park(pod: PodState, causes: number): void {
    this.remove(pod);
    if (causes === Cause.claims) pod.attempts--;
    pod.place = 'parked';
    pod.causes = causes;
    this.parked.add(pod);
    if ((causes & (Cause.podAffinity | Cause.spread)) !== 0) this.socialPods.add(pod);
    this.watchParked();
  }
  /** The pod is decided again after its back-off. */
  retry(pod: PodState): void {
    this.remove(pod);
    const at = pod.causes === Cause.claims ? pod.triedAt : pod.triedAt + backoffOf(pod.attempts);
    if (at <= this.options.clock.monotonic()) {
      this.activate(pod);
      return;
    }
    pod.place = 'backoff';
    pod.order = ++this.moves;
    this.counts.backoff++;
    this.backoff.add({ pod, order: pod.order, at });
    this.watchBackoff();
  }
  /** It no longer waits. */
  remove(pod: PodState): void {
    if (pod.place === 'parked') {
      this.parked.delete(pod);
      this.socialPods.delete(pod);
    } else if (pod.place === 'active' || pod.place === 'backoff') this.counts[pod.place]--;
    pod.place = 'none';
  }
  /** Something has happened that may help pods with one of these causes. */
  wake(causes: number, mayHelp: (pod: PodState) => boolean = () => true): void {
    for (const pod of [...this.parked]) if ((pod.causes & causes) !== 0 && mayHelp(pod)) this.retry(pod);
  }
  /** Those of the parked pods that another pod may help by its presence. */
  get social(): ReadonlySet<PodState> {
    return this.socialPods;
  }
  /** Has the pods looked at, as if one could be taken. */
  look(): void {
    this.options.ready();
  }
  stop(): void {
    this.backoffTimer?.cancel();
    this.parkedTimer?.();
  }

  private activate(pod: PodState): void {
    pod.place = 'active';
    pod.order = ++this.moves;
    this.counts.active++;
    this.active.add({ pod, order: pod.order, at: pod.since });
    this.options.ready();
  }
  private watchBackoff(): void {
    const { clock } = this.options;
    const { first } = this.backoff;
    if (first === undefined || (this.backoffTimer !== undefined && this.backoffTimer.at <= first.at)) return;
    this.backoffTimer?.cancel();
    const cancel = clock.after(Math.max(first.at - clock.monotonic(), 0), () => {
      this.backoffTimer = undefined;
      this.endBackoff();
    });
    this.backoffTimer = { at: first.at, cancel };
  }
  private endBackoff(): void {
    const now = this.options.clock.monotonic();
    for (let entry = this.backoff.first; entry !== undefined && entry.at <= now; entry = this.backoff.first) {
      this.backoff.take();
      const { pod, order } = entry;
      if (pod.place !== 'backoff' || pod.order !== order) continue;
      this.remove(pod);
      this.activate(pod);
    }
    this.watchBackoff();
  }
  private watchParked(): void {
    if (this.parkedTimer !== undefined) return;
    const { clock } = this.options;
    for (const oldest of this.parked) {
      this.parkedTimer = clock.after(Math.max(oldest.triedAt + PARKED_MS - clock.monotonic(), 1), () => {
        this.parkedTimer = undefined;
        this.endParked();
      });
      return;
    }
  }
  private endParked(): void {
    const now = this.options.clock.monotonic();
    for (const pod of [...this.parked]) {
      if (pod.triedAt + PARKED_MS > now) break;
      this.retry(pod);
    }
    this.watchParked();
  }
}

/** How long after a decision the next is made: 1 s, 2 s, 4 s, 8 s, then 10 s. */
export const backoffOf = (attempts: number): number => Math.min(FIRST_BACKOFF_MS * 2 ** Math.max(attempts - 1, 0), LONGEST_BACKOFF_MS);
