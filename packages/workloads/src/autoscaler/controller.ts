/** Sets the replicas of scalable objects by their metrics, every fifteen seconds. */
import { pathOf, type ResourceRef } from '@plat-dev/client/dynamic';
import { unlessGone } from '@plat-dev/client/http';
import { type Informer, keyOf, splitKey } from '@plat-dev/client/informer';
import type { Controller, ControllerContext } from '@plat-dev/controllers/runtime/controller';
import { selectedBy } from '@plat-dev/controllers/runtime/selector-index';
import type { Scale } from '@plat-dev/kinds/autoscaling/schema/scale';
import type { Wire } from '@plat-dev/kinds/wire';
import { equal } from '@plat-dev/lib/equal';
import { type LabelSelector, parseLabelSelector } from '@plat-dev/meta/labels';
import { formatTime } from '@plat-dev/meta/time';
import { EventRecorder } from '../shared/events.ts';
import { messageOf } from '../shared/pod-control.ts';
import { workloadPods } from '../shared/pods.ts';
import { workloadRefs } from '../shared/refs.ts';
import { type Autoscaler, type AutoscalerStatus, aboutAutoscaler, Conditions, type MetricStatus } from './autoscaler.ts';
import { History, limit, maximumOf, minimumOf } from './limits.ts';
import { Metrics } from './metrics-client.ts';
import { type MetricProposal, proposeAll } from './proposals.ts';
import { tolerancesOf } from './replicas.ts';

type ScaleObject = Wire<Scale>;

const PERIOD_MS = 15_000;
const WORKERS = 5;

export const autoscalerController: Controller = {
  name: 'horizontalpodautoscaling',
  account: 'horizontal-pod-autoscaler',
  start(context) {
    const { informers, queue, identity, log } = context;
    const autoscalers = informers.of<Autoscaler>(workloadRefs(identity).autoscalers);
    const run = new AutoscalerRun(context, autoscalers);
    const work = queue(
      async (key) => {
        const { namespace, name } = splitKey(key);
        const autoscaler = autoscalers.get(namespace, name);
        if (autoscaler === undefined) return undefined;
        try {
          await run.sync(autoscaler);
        } catch (error) {
          // What is wrong stands in the conditions and events; the next period tries again.
          log.debug(2, 'autoscaler failed, retrying', { key, error: messageOf(error) });
        }
        return PERIOD_MS;
      },
      { after: [autoscalers.synced], workers: WORKERS },
    );
    autoscalers.onChange(({ type, object, old }) => {
      if (type === 'deleted') run.forget(object.metadata.uid ?? '');
      // Its own status is no reason to look again before the period is over.
      else if (old === undefined || !equal(old.spec, object.spec)) work.add(keyOf(object));
    });
  },
};

/** Where a target stands. */
interface Target {
  readonly resource: ResourceRef;
  readonly scale: ScaleObject;
  readonly current: number;
}

class AutoscalerRun {
  private readonly context: ControllerContext;
  private readonly autoscalers: Informer<Autoscaler>;
  private readonly recorder: EventRecorder;
  /** By uid; an entry goes with its autoscaler. */
  private readonly histories = new Map<string, History>();

  constructor(context: ControllerContext, autoscalers: Informer<Autoscaler>) {
    this.context = context;
    this.autoscalers = autoscalers;
    this.recorder = new EventRecorder({ client: context.client, clock: context.clock, component: 'horizontal-pod-autoscaler' });
  }
  forget(uid: string): void {
    this.histories.delete(uid);
  }

  async sync(autoscaler: Autoscaler): Promise<void> {
    const now = this.context.clock.now();
    const conditions = new Conditions(autoscaler.status?.conditions ?? [], now);
    const oldStatus = autoscaler.status;
    let target: Target;
    try {
      target = await this.targetOf(autoscaler);
    } catch (error) {
      this.warn(autoscaler, 'FailedGetScale', messageOf(error));
      conditions.set(
        'AbleToScale',
        false,
        'FailedGetScale',
        `the HPA controller was unable to get the target's current scale: ${messageOf(error)}`,
      );
      await this.write(autoscaler, {
        desiredReplicas: 0,
        currentMetrics: null,
        ...oldStatus,
        conditions: conditions.all,
      } as AutoscalerStatus);
      throw error;
    }
    conditions.set('AbleToScale', true, 'SucceededGetScale', "the HPA controller was able to get the target's current scale");
    const { current } = target;
    const history = this.historyOf(autoscaler, current, now);
    const unchanged = { current, desired: oldStatus?.desiredReplicas ?? 0, metrics: oldStatus?.currentMetrics ?? [] };
    let decision: Decision;
    try {
      decision = await this.decide(autoscaler, target, history, conditions, now);
    } catch (error) {
      await this.write(autoscaler, this.statusOf(autoscaler, conditions, unchanged));
      this.warn(autoscaler, 'FailedComputeMetricsReplicas', messageOf(error));
      throw error;
    }
    if (decision.desired !== current) {
      try {
        await this.rescale(autoscaler, target, decision, history, conditions, now);
      } catch (error) {
        await this.write(autoscaler, this.statusOf(autoscaler, conditions, unchanged));
        throw error;
      }
    }
    await this.write(
      autoscaler,
      this.statusOf(autoscaler, conditions, { current, ...decision }, decision.desired === current ? undefined : now),
    );
  }

  private historyOf({ metadata }: Autoscaler, current: number, now: number): History {
    const { uid = '' } = metadata;
    const history = this.histories.get(uid) ?? new History();
    this.histories.set(uid, history);
    history.begin(current, now);
    return history;
  }

  /** The scale of the target, of whatever kind. */
  private async targetOf({ metadata, spec }: Autoscaler): Promise<Target> {
    const { apiVersion = '', kind = '', name = '' } = spec?.scaleTargetRef ?? {};
    const resource = await this.context.served.resourceOf(apiVersion, kind);
    if (resource === undefined) throw new Error(`no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`);
    const path = pathOf(resource, metadata.namespace ?? '', name, 'scale');
    const scale = await this.context.client.json<ScaleObject>({ path });
    return { resource, scale, current: scale.spec?.replicas ?? 0 };
  }

  private async decide(autoscaler: Autoscaler, target: Target, history: History, conditions: Conditions, now: number): Promise<Decision> {
    const { current } = target;
    const oldMetrics = autoscaler.status?.currentMetrics ?? [];
    if (current === 0 && minimumOf(autoscaler) !== 0) {
      conditions.set('ScalingActive', false, 'ScalingDisabled', 'scaling is disabled since the replica count of the target is zero');
      return { desired: 0, reason: '', metrics: oldMetrics };
    }
    if (current > maximumOf(autoscaler))
      return { desired: maximumOf(autoscaler), reason: 'Current number of replicas above Spec.MaxReplicas', metrics: oldMetrics };
    if (current < minimumOf(autoscaler))
      return { desired: minimumOf(autoscaler), reason: 'Current number of replicas below Spec.MinReplicas', metrics: oldMetrics };
    const { replicas, name, statuses } = await this.proposals(autoscaler, target, conditions, now);
    const limited = limit(autoscaler, history, current, replicas, now);
    conditions.set('AbleToScale', true, limited.able.reason, limited.able.message);
    conditions.set('ScalingLimited', limited.isLimited, limited.limit.reason, limited.limit.message);
    const reason = replicas > current ? `${name} above target` : replicas < current ? 'All metrics below target' : '';
    return { desired: limited.replicas, reason, metrics: statuses };
  }

  /** The highest proposal of all metrics. */
  private async proposals(
    autoscaler: Autoscaler,
    target: Target,
    conditions: Conditions,
    now: number,
  ): Promise<{ replicas: number; name: string; statuses: MetricStatus[] }> {
    const specs = autoscaler.spec?.metrics ?? [];
    const situation = await this.situationOf(autoscaler, target, conditions, now);
    const { proposals, failed } = await proposeAll(specs, situation);
    for (const { reason, message } of failed) this.warn(autoscaler, reason, message);
    const best = proposals.reduce<MetricProposal | undefined>(
      (most, one) => (most === undefined || one.replicas > most.replicas ? one : most),
      undefined,
    );
    const [first] = failed;
    // Pods are not removed while a metric is unknown.
    if (best === undefined || (first !== undefined && best.replicas < target.current)) {
      const message = first?.message ?? 'no metrics';
      conditions.set(
        'ScalingActive',
        false,
        first?.reason ?? 'InvalidMetricSourceType',
        `the HPA was unable to compute the replica count: ${message}`,
      );
      throw new Error(`invalid metrics (${failed.length} invalid out of ${specs.length}), first error is: ${message}`);
    }
    const statuses = proposals.map(({ status }) => status);
    const explained = `the HPA was able to successfully calculate a replica count from ${best.name}`;
    conditions.set('ScalingActive', true, 'ValidMetricFound', explained);
    return { replicas: best.replicas, name: best.name, statuses };
  }

  private async situationOf(autoscaler: Autoscaler, { scale, current }: Target, conditions: Conditions, now: number) {
    const text = scale.status?.selector ?? '';
    let selector: LabelSelector;
    if (text === '') {
      this.warn(autoscaler, 'SelectorRequired', 'selector is required');
      conditions.set('ScalingActive', false, 'InvalidSelector', "the HPA target's scale is missing a selector");
      throw new Error('selector is required');
    }
    try {
      selector = parseLabelSelector(text);
    } catch (error) {
      const message = `couldn't convert selector into a corresponding internal selector object: ${messageOf(error)}`;
      this.warn(autoscaler, 'InvalidSelector', message);
      conditions.set('ScalingActive', false, 'InvalidSelector', message);
      throw new Error(message, { cause: error });
    }
    const informer = workloadPods(this.context.informers);
    await informer.synced;
    const namespace = autoscaler.metadata.namespace ?? '';
    const pods = await selectedBy(selector, informer.list(namespace));
    return {
      namespace,
      specReplicas: current,
      statusReplicas: scale.status?.replicas ?? 0,
      tolerances: tolerancesOf(autoscaler.spec?.behavior),
      selector: text,
      pods,
      now,
      metrics: new Metrics(this.context),
    };
  }

  private async rescale(
    autoscaler: Autoscaler,
    { resource, scale, current }: Target,
    { desired, reason }: Decision,
    history: History,
    conditions: Conditions,
    now: number,
  ): Promise<void> {
    try {
      await this.context.client.update(resource, { ...scale, spec: { ...scale.spec, replicas: desired } } as ScaleObject, 'scale');
    } catch (error) {
      this.warn(autoscaler, 'FailedRescale', `New size: ${desired}; reason: ${reason}; error: ${messageOf(error)}`);
      conditions.set(
        'AbleToScale',
        false,
        'FailedUpdateScale',
        `the HPA controller was unable to update the target scale: ${messageOf(error)}`,
      );
      throw error;
    }
    conditions.set('AbleToScale', true, 'SucceededRescale', `the HPA controller was able to update the target scale to ${desired}`);
    this.recorder.event(aboutAutoscaler(autoscaler), 'Normal', 'SuccessfulRescale', `New size: ${desired}; reason: ${reason}`);
    history.scaled(current, desired, now);
  }

  private statusOf(
    { status }: Autoscaler,
    conditions: Conditions,
    { current, desired, metrics }: { current: number; desired: number; metrics: readonly MetricStatus[] },
    scaledAt?: number,
  ): AutoscalerStatus {
    const lastScaleTime = scaledAt === undefined ? status?.lastScaleTime : formatTime(scaledAt);
    return {
      ...(status?.observedGeneration != null && { observedGeneration: status.observedGeneration }),
      ...(lastScaleTime != null && { lastScaleTime }),
      ...(current !== 0 && { currentReplicas: current }),
      desiredReplicas: desired,
      currentMetrics: metrics.length === 0 ? null : [...metrics],
      conditions: conditions.all,
    } as AutoscalerStatus;
  }

  private warn(autoscaler: Autoscaler, reason: string, message: string): void {
    this.recorder.event(aboutAutoscaler(autoscaler), 'Warning', reason, message);
  }
  private async write(autoscaler: Autoscaler, status: AutoscalerStatus): Promise<void> {
    if (equal(status, { ...autoscaler.status, currentMetrics: autoscaler.status?.currentMetrics ?? null })) return;
    const { apiVersion, kind } = aboutAutoscaler(autoscaler);
    const ref = workloadRefs(this.context.identity).autoscalers;
    const updated = await this.context.client
      .update<Autoscaler>(ref, { ...autoscaler, apiVersion, kind, status } as Autoscaler, 'status')
      .catch(unlessGone);
    if (updated !== undefined) await this.autoscalers.whenArrived(updated);
  }
}

interface Decision {
  readonly desired: number;
  readonly reason: string;
  readonly metrics: readonly MetricStatus[];
}
