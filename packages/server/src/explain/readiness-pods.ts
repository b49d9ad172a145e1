/** Why a pod is not ready. */
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { Wire } from '@plat-dev/kinds/wire';
import type { Target } from './callers-view.ts';
import { type Cause, commandOn, explained, sentence } from './cause.ts';
import { containerCauses } from './containers.ts';
import { explainPending, nodeCauses } from './pending.ts';
import type { Readiness } from './readiness-question.ts';

export async function podReadiness({ view, scheduling }: Readiness, target: Target): Promise<Cause[]> {
  const { metadata, spec, status } = target.object as Wire<Pod>;
  const cause = (reason: string, message: string, command = commandOn('describe', target)): Cause => ({
    reason,
    message,
    object: explained(target),
    command,
  });
  if (metadata.deletionTimestamp !== undefined) return [cause('Deleting', 'It is being deleted.', commandOn('why not deleted', target))];
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (status?.phase === 'Succeeded')
    return [cause('Completed', 'Its containers have ended successfully: a pod that is over is not ready.')];
  if (status?.phase === 'Failed') {
    if (status.reason)
      return [cause(status.reason, sentence(`It failed (${status.reason})${status.message ? `: ${status.message}` : ''}`))];
    const ended = await containerCauses(view, target);
    return ended.length > 0 ? ended : [cause('Failed', sentence(`It failed${status.message ? `: ${status.message}` : ''}`))];
  }
  if ((status?.phase ?? 'Pending') === 'Pending') return [...(await explainPending(view, target, scheduling)).causes];
  if (ready?.status === 'True') return [];
  const causes = [...(await nodeCauses(view, target)), ...(await containerCauses(view, target))];
  for (const { conditionType } of spec?.readinessGates ?? []) {
    const state = status?.conditions?.find(({ type }) => type === conditionType)?.status;
    if (state !== 'True')
      causes.push(cause('ReadinessGate', `Its readiness gate ${conditionType} is ${state ?? 'not set'}: a controller has to set it.`));
  }
  if (causes.length === 0)
    causes.push(cause('NotReady', sentence(`Its node has not reported it as ready${ready?.message ? `: ${ready.message}` : ''}`)));
  return causes;
}
