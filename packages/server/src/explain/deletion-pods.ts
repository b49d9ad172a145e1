/** Pods that are being deleted: their node has to confirm that their containers have ended. */
import type { Node } from '@plat-dev/kinds/core/schema/node';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { PodDisruptionBudget } from '@plat-dev/kinds/policy/schema/v1';
import type { Wire } from '@plat-dev/kinds/wire';
import { fromLabelSelector } from '@plat-dev/meta/labels';
import type { CallersView, Target } from './callers-view.ts';
import { type Cause, causeOf, commandFor, commandOn, explainedName, MOST_CAUSES, sentence } from './cause.ts';

export async function podDeletionCauses(view: CallersView, target: Target): Promise<Cause[]> {
  const { metadata, spec } = target.object as Wire<Pod>;
  const nodeName = spec?.nodeName ?? '';
  // Without a grace period the node has confirmed, or nobody waits for it: only finalizers keep the pod.
  if (nodeName === '' || metadata.deletionGracePeriodSeconds === 0) return [];
  const until = metadata.deletionTimestamp ?? '';
  const nodes = view.builtin('', 'nodes');
  const node = await view.get<Wire<Node>>(nodes, '', nodeName);
  const force = commandOn('delete', target, '--force --grace-period=0');
  if (node.isKnown && node.object === undefined)
    return [
      causeOf(
        target,
        'NodeGone',
        `Its node ${nodeName} does not exist any more, and nobody else confirms that its containers have ended.`,
        force,
      ),
    ];
  const ready = node.object?.status?.conditions?.find(({ type }) => type === 'Ready');
  if (node.object !== undefined && ready?.status !== 'True') {
    const why = ready?.message ? `: ${ready.message}` : '';
    const command = commandFor('why not ready', explainedName(nodes, '', nodeName));
    const message = sentence(`Its node ${nodeName} is not ready and does not confirm that its containers have ended${why}`);
    return [causeOf(target, 'NodeNotReady', message, command)];
  }
  if (Date.parse(until) > view.now)
    return [causeOf(target, 'GracePeriodRunning', `Its containers have time to end until ${until}.`, commandOn('get', target, '--watch'))];
  const message = `Its grace period ended at ${until}, and its node ${nodeName} has not confirmed that its containers have ended.`;
  return [causeOf(target, 'NodeSilent', message)];
}

/** Budgets that refuse to evict a pod, for which there may be no other request to delete it. */
export async function evictionCauses(view: CallersView, target: Target): Promise<Cause[]> {
  const { namespace = '', labels } = target.object.metadata;
  const budgets = view.builtin('policy', 'poddisruptionbudgets');
  const { objects } = await view.list<Wire<PodDisruptionBudget>>(budgets, namespace);
  const refuses = ({ spec, status }: Wire<PodDisruptionBudget>): boolean =>
    (status?.disruptionsAllowed ?? 0) <= 0 && fromLabelSelector(spec?.selector ?? undefined).matches(labels);
  return (await view.filter(objects, refuses)).slice(0, MOST_CAUSES + 1).map(({ metadata: { name = '' }, status }) => {
    const object = explainedName(budgets, namespace, name);
    const counts = `${status?.currentHealthy ?? 0} of its pods are healthy and ${status?.desiredHealthy ?? 0} must be`;
    return {
      reason: 'BudgetRefusesEviction',
      message: `poddisruptionbudgets/${name} refuses to evict it: ${counts}.`,
      object,
      command: commandFor('describe', object),
    };
  });
}
