/** What follows from decisions: bindings, conditions of pods, events, and the deletion of victims. Several are sent at a time. */
import { type Client, pathOf } from '@plat-dev/client/dynamic';
import { isConflict, isNotFound, unlessGoneOrReplaced } from '@plat-dev/client/http';
import { refs } from '@plat-dev/controllers/runtime/controller';
import type { Outcome, WorkQueue } from '@plat-dev/controllers/runtime/queue';
import type { Clock } from '@plat-dev/lib/clock';
import { formatTime } from '@plat-dev/meta/time';
import { EventBudget } from '../shared/event-budget.ts';
import type { EventRecorder } from '../shared/events.ts';
import type { WorkloadPod } from '../shared/pods.ts';
import type { Placement } from './decide.ts';
import type { Candidate } from './preemption.ts';
import type { Effects, Scheduler } from './scheduler.ts';
import type { PodState } from './state.ts';
import { type BindingOptions, VolumeBinding } from './volumes/binding.ts';

export interface EffectsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly volumes: BindingOptions;
  /** Makes a queue; its work is one pod by its key. */
  readonly queue: (name: string, workers: number, work: (key: string) => Promise<Outcome>) => WorkQueue;
  /** Called when another binding may begin. */
  readonly ready: () => void;
}

/** Bindings that have not been answered; decisions wait while there are so many. */
export const MAX_BINDINGS = 256;
const BINDING_WORKERS = 32;
const REPORT_WORKERS = 8;
/** Messages of events are not longer. */
const LONGEST_NOTE = 1024;

interface Report {
  readonly pod: PodState;
  readonly reason: string;
  readonly message: string;
  readonly nominated: string | undefined;
  /** Emptied when they are deleted. */
  readonly victims: PodState[];
}

export class SentEffects implements Effects {
  private readonly options: EffectsOptions;
  private readonly bindings: WorkQueue;
  private readonly reports: WorkQueue;
  /** Pods whose binding has not been answered, without those that wait for volumes. */
  private readonly sending = new Set<string>();
  private readonly volumes = new Map<string, VolumeBinding>();
  private readonly waitingForClaim = new Map<string, Set<string>>();
  /** The newest of each pod. */
  private readonly pending = new Map<string, Report>();
  /** Status patches that have not been answered, by the pod. */
  private readonly patching = new Map<string, Promise<unknown>>();
  /** Bindings that have been sent. */
  private readonly posting = new Set<string>();
  private scheduler: Scheduler | undefined;
  private readonly budget: EventBudget;

  constructor(options: EffectsOptions) {
    this.options = options;
    this.budget = new EventBudget(options.clock);
    this.bindings = options.queue('bindings', BINDING_WORKERS, (key) => this.sendBinding(key));
    this.reports = options.queue('reports', REPORT_WORKERS, (key) => this.sendReport(key));
  }
  /** Whose decisions these are. */
  serve(scheduler: Scheduler): void {
    this.scheduler = scheduler;
  }
  get isFull(): boolean {
    return this.sending.size >= MAX_BINDINGS;
  }

  // ---- bindings --------------------------------------------------------------------------------------------------

  bind(pod: PodState, { node, volumes }: Placement): void {
    const { key } = pod;
    this.endBinding(key);
    const actions = volumes?.actions(node);
    if (actions === undefined) this.sending.add(key);
    else {
      const binding = new VolumeBinding(this.options.volumes, actions, node.name);
      this.volumes.set(key, binding);
      for (const claim of binding.keys) {
        const waiting = this.waitingForClaim.get(claim);
        if (waiting === undefined) this.waitingForClaim.set(claim, new Set([key]));
        else waiting.add(key);
      }
    }
    this.bindings.add(key);
  }
  gone({ key }: PodState): void {
    this.endBinding(key);
  }
  /** A claim has changed: the pods that wait for it may go on. */
  claimChanged(claim: string): void {
    for (const key of this.waitingForClaim.get(claim) ?? []) this.bindings.add(key);
  }

  private async sendBinding(key: string): Promise<Outcome> {
    const pod = this.scheduler?.get(key);
    if (pod === undefined || pod.place !== 'binding' || pod.node === undefined) return undefined;
    const { node } = pod;
    try {
      const delayMs = await this.volumes.get(key)?.advance();
      if (delayMs !== undefined) return delayMs;
      // A report that the pod has no node must not arrive after its node.
      await this.patching.get(key)?.catch(() => {});
      this.posting.add(key);
      const { name, namespace, uid } = pod;
      await this.options.client.createBriefly(
        refs.pods,
        namespace,
        {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name, namespace, uid },
          target: { apiVersion: 'v1', kind: 'Node', name: node.name },
        },
        { name, path: 'binding' },
      );
      this.scheduler?.bound(pod);
      if (this.budget.take('Normal'))
        this.event(pod.object, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${node.name}`);
    } catch (error) {
      this.scheduler?.bindingFailed(pod, isNotFound(error) ? undefined : (error as Error).message);
    }
    this.posting.delete(key);
    // Another pod of the same name may be bound by now.
    if (pod.place !== 'binding') this.endBinding(key, pod);
    return undefined;
  }
  private endBinding(key: string, of?: PodState): void {
    const current = this.scheduler?.get(key);
    if (of !== undefined && current !== undefined && current !== of && current.place === 'binding') return;
    const wasFull = this.isFull;
    this.sending.delete(key);
    const binding = this.volumes.get(key);
    if (binding !== undefined) {
      this.volumes.delete(key);
      binding.end();
      for (const claim of binding.keys) {
        const waiting = this.waitingForClaim.get(claim);
        waiting?.delete(key);
        if (waiting?.size === 0) this.waitingForClaim.delete(claim);
      }
    }
    if (wasFull) this.options.ready();
  }

  // ---- reports ---------------------------------------------------------------------------------------------------

  report(pod: PodState, reason: string, message: string, nominated: string | undefined): void {
    const previousReport = this.pending.get(pod.key);
    const same = previousReport?.pod === pod ? previousReport : undefined;
    this.pending.set(pod.key, {
      pod,
      // A nomination that is withdrawn says nothing new about the pod itself.
      reason: reason === '' ? (same?.reason ?? '') : reason,
      message: reason === '' ? (same?.message ?? '') : message,
      nominated: nominated ?? same?.nominated,
      victims: same?.victims ?? [],
    });
    if (reason !== '') this.event(pod.object, 'Warning', 'FailedScheduling', shortened(message));
    this.reports.add(pod.key);
  }
  evict(pod: PodState, { node, victims }: Candidate): void {
    this.pending.set(pod.key, { pod, reason: '', message: '', nominated: node.name, victims: [...victims] });
    this.reports.add(pod.key);
  }

  private async sendReport(key: string): Promise<Outcome> {
    const report = this.pending.get(key);
    if (report === undefined) return undefined;
    const { pod, victims, nominated } = report;
    await Promise.all(victims.map((victim) => this.deleteVictim(pod, victim, nominated ?? '')));
    victims.length = 0;
    const isUnbound = pod.node === undefined || (pod.place === 'binding' && !this.posting.has(key));
    const patch = isUnbound ? statusPatch(report, formatTime(this.options.clock.now())) : undefined;
    if (patch !== undefined) {
      const { client } = this.options;
      const headers = { ...client.accept('PartialObjectMetadata'), 'content-type': 'application/strategic-merge-patch+json' };
      const path = pathOf(refs.pods, pod.namespace, pod.name, 'status');
      const request = client.call('PATCH', path, headers, patch).catch(unlessGoneOrReplaced);
      this.patching.set(key, request);
      await request.finally(() => this.patching.delete(key));
    }
    // A newer one may have come meanwhile; it is sent next.
    if (this.pending.get(key) === report) this.pending.delete(key);
    return undefined;
  }
  private async deleteVictim(pod: PodState, victim: PodState, node: string): Promise<void> {
    const { name, namespace, uid } = victim;
    try {
      await this.options.client.delete(refs.pods, namespace, name, { preconditions: { uid } });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
      return;
    }
    this.event(victim.object, 'Normal', 'Preempted', `Preempted by ${pod.namespace}/${pod.name} on node ${node}`);
  }
  private event({ metadata }: WorkloadPod, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.options.recorder.event({ apiVersion: 'v1', kind: 'Pod', metadata }, type, reason, message);
  }
}

const shortened = (message: string): string => (message.length <= LONGEST_NOTE ? message : `${message.slice(0, LONGEST_NOTE - 4)} ...`);

/** The change of a pod's status; undefined if it says all this already. */
function statusPatch({ pod, reason, message, nominated }: Report, now: string): unknown {
  const { status } = pod.object;
  const old = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const says = reason === '' || (old?.status === 'False' && old.reason === reason && old.message === message);
  const nominates = nominated === undefined || nominated === (status?.nominatedNodeName ?? '');
  if (says && nominates) return undefined;
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason,
    message,
    lastProbeTime: null,
    lastTransitionTime: old?.status === 'False' ? old.lastTransitionTime : now,
  };
  return {
    metadata: { uid: pod.uid },
    status: {
      ...(!says && { conditions: [condition] }),
      ...(!nominates && { nominatedNodeName: nominated === '' ? null : nominated }),
    },
  };
}
