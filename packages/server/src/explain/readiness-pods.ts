/** Why a pod is not ready. */
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { Wire } from '@plat-dev/kinds/wire';
import type { Target } from './callers-view.ts';
import { type Cause, causeOf, commandOn, isEnough, sentence } from './cause.ts';
import { containerCauses } from './containers.ts';
import { explainPending, nodeCauses } from './pending.ts';
import type { Readiness } from './readiness-question.ts';
import { reportedReason } from './reasons.ts';

export async function podReadiness({ view, scheduling }: Readiness, target: Target): Promise<Cause[]> {
  const { metadata, spec, status } = target.object as Wire<Pod>;
  if (metadata.deletionTimestamp !== undefined)
    return [causeOf(target, 'Deleting', 'It is being deleted.', commandOn('why not deleted', target))];
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (status?.phase === 'Succeeded')
    return [causeOf(target, 'Completed', 'Its containers have ended successfully: a pod that is over is not ready.')];
  if (status?.phase === 'Failed') {
    if (status.reason)
      return [
        causeOf(
          target,
          reportedReason(status.reason),
          sentence(`It failed (${status.reason})${status.message ? `: ${status.message}` : ''}`),
        ),
      ];
    const ended = await containerCauses(view, target);
    return ended.length > 0 ? ended : [causeOf(target, 'Failed', sentence(`It failed${status.message ? `: ${status.message}` : ''}`))];
  }
  if ((status?.phase ?? 'Pending') === 'Pending') return [...(await explainPending(view, target, scheduling)).causes];
  if (ready?.status === 'True') return [];
  const causes = [...(await nodeCauses(view, target)), ...(await containerCauses(view, target))];
  for (const { conditionType } of spec?.readinessGates ?? []) {
    if (isEnough(causes)) break;
    const state = status?.conditions?.find(({ type }) => type === conditionType)?.status;
    if (state !== 'True')
      causes.push(
        causeOf(target, 'ReadinessGate', `Its readiness gate ${conditionType} is ${state ?? 'not set'}: a controller has to set it.`),
      );
  }
  if (causes.length === 0)
    causes.push(
      causeOf(target, 'NotReady', sentence(`Its node has not reported it as ready${ready?.message ? `: ${ready.message}` : ''}`)),
    );
  return causes;
}
