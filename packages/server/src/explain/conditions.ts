/** Readiness by conditions, as most kinds have them, and by the objects that an object owns. */
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Target } from './callers-view.ts';
import { type Cause, causeOf, commandOn, isEnough, MOST_CAUSES, sentence } from './cause.ts';
import { dependentsOf } from './dependents.ts';
import type { Readiness } from './readiness-question.ts';
import type { Reason } from './reasons.ts';

export interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}
type Conditioned = ApiObject & {
  readonly status?: { readonly conditions?: readonly Condition[]; readonly observedGeneration?: number };
};

/** Conditions that are good when they are true, and those that are bad. */
const good = /^(Ready|Available|Healthy|Synced|Succeeded|Established|Reconciled|Installed|Deployed|Initialized|Accepted|Programmed|Valid)$/;
const bad = /(Degraded|Failed|Failure|Error|Stalled|Unavailable|Unhealthy|Pressure|Conflict)$/;

export const conditionsOf = (object: ApiObject): readonly Condition[] => {
  const conditions: unknown = (object as Conditioned).status?.conditions;
  return Array.isArray(conditions) ? conditions.filter(isCondition) : [];
};
/** Custom objects may have anything there. */
function isCondition(value: unknown): value is Condition {
  if (typeof value !== 'object' || value === null) return false;
  const { type, status, reason, message } = value as Record<keyof Condition, unknown>;
  return [type, status, reason, message].every((text) => text === undefined || text === null || typeof text === 'string');
}

/** Causes of conditions, the readiness itself first. */
export function unmetConditions(target: Target, isUnmet = isUnmetUsually, word: Reason = 'Condition'): Cause[] {
  return conditionsOf(target.object)
    .filter(isUnmet)
    .sort((a, b) => Number(b.type === 'Ready') - Number(a.type === 'Ready'))
    .slice(0, MOST_CAUSES + 1)
    .map(({ type, status, reason, message }) => {
      const why = [reason, message].filter((text) => text).join(': ');
      return causeOf(target, word, sentence(`Its condition ${type ?? ''} is ${status ?? ''}${why === '' ? '' : `: ${why}`}`));
    });
}
const isUnmetUsually = ({ type, status }: Condition): boolean =>
  (good.test(type ?? '') && status !== 'True') || (bad.test(type ?? '') && status === 'True');

/** The controller of an object has not seen its newest spec. */
export function notObserved(target: Target): Cause[] {
  const { metadata, status } = target.object as Conditioned;
  const seen = status?.observedGeneration;
  if (seen === undefined || Number(seen) >= Number(metadata.generation ?? 0)) return [];
  return [behind(target)];
}
export const behind = (target: Target): Cause =>
  causeOf(
    target,
    'NotObserved',
    'Its controller has not looked at its newest spec: it does not run, or is behind.',
    commandOn('get', target, '-o yaml'),
  );

/** Any kind: owned objects that are not ready come first, as they are the cause. */
export async function conditionCauses({ view, of }: Readiness, target: Target): Promise<Cause[]> {
  const own = [...notObserved(target), ...unmetConditions(target)];
  if (own.length === 0) return [];
  const owned: Cause[] = [];
  for (const dependent of await dependentsOf(view, target)) {
    if (isEnough(owned)) break;
    owned.push(...(await of(dependent, target)));
  }
  return [...owned, ...own];
}
