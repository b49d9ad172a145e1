/** Why a pod is pending: it has no node, or its node cannot start its containers. */
import type { Node } from '@plat-dev/kinds/core/schema/node';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { Wire } from '@plat-dev/kinds/wire';
import type { CallersView, Target } from './callers-view.ts';
import { type Cause, causeOf, commandFor, commandOn, explainedName, sentence } from './cause.ts';
import { containerCauses } from './containers.ts';
import { missingReferences } from './pod-references.ts';
import { type RefusedNodes, type Scheduling, unscheduledCauses } from './scheduling.ts';
import { lastWarning } from './warnings.ts';

export interface PendingAnswer {
  readonly pending: boolean;
  readonly causes: readonly Cause[];
  readonly refusals: readonly RefusedNodes[];
}

export async function explainPending(view: CallersView, target: Target, scheduling: Scheduling): Promise<PendingAnswer> {
  const { metadata, spec, status } = target.object as Wire<Pod>;
  const phase = status?.phase ?? 'Pending';
  if (phase !== 'Pending') {
    const command = phase === 'Running' ? commandOn('why not ready', target) : commandOn('describe', target);
    return {
      pending: false,
      causes: [causeOf(target, 'NotPending', `It is not pending: its phase is ${phase}.`, command)],
      refusals: [],
    };
  }
  if (metadata.deletionTimestamp !== undefined) {
    const cause = causeOf(target, 'Deleting', 'It is being deleted and will not start.', commandOn('why not deleted', target));
    return { pending: true, causes: [cause], refusals: [] };
  }
  if ((spec?.nodeName ?? '') === '') return { pending: true, ...(await unscheduledCauses(view, target, scheduling)) };
  return { pending: true, causes: await notStartedCauses(view, target), refusals: [] };
}

async function notStartedCauses(view: CallersView, target: Target): Promise<Cause[]> {
  const causes = [
    ...(await nodeCauses(view, target)),
    ...(await missingReferences(view, target)),
    ...(await containerCauses(view, target)),
  ];
  if (causes.length > 0) return causes;
  const { spec } = target.object as Wire<Pod>;
  const warning = await lastWarning(view, target);
  const why = warning === undefined ? '' : `: ${warning}`;
  const reason = /mount|attach|volume/i.test(warning ?? '') ? 'VolumeNotMounted' : 'NotStarted';
  const message = sentence(`Its node ${spec?.nodeName} has not started its containers yet${why}`);
  return [causeOf(target, reason, message)];
}

/** The node of a pod that is gone or not ready. */
export async function nodeCauses(view: CallersView, target: Target): Promise<Cause[]> {
  const nodeName = (target.object as Wire<Pod>).spec?.nodeName ?? '';
  const nodes = view.builtin('', 'nodes');
  const node = await view.get<Wire<Node>>(nodes, '', nodeName);
  if (!node.isKnown) return [];
  if (node.object === undefined) return [causeOf(target, 'NodeGone', `Its node ${nodeName} does not exist.`, 'get nodes')];
  const ready = node.object.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return [];
  const message = sentence(`Its node ${nodeName} is not ready${ready?.message ? `: ${ready.message}` : ''}`);
  return [causeOf(target, 'NodeNotReady', message, commandFor('why not ready', explainedName(nodes, '', nodeName)))];
}
