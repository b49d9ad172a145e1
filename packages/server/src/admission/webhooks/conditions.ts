/** The match conditions of webhooks: compiled once for each version of a configuration, and evaluated for each request. */
import type { MatchCondition } from '@plat-dev/kinds/admissionregistration/schema/policies';
import { admissionExpressions } from '@plat-dev/kinds/expressions/load-admission-expressions';
import type { MatchConditions } from '@plat-dev/kinds/expressions/match-conditions';
import type { Work } from '@plat-dev/lib/slices';
import type { ApiRelease } from '@plat-dev/lib/version';
import { forbidden } from '@plat-dev/meta/errors';
import type { RequestValues } from '../expressions/request-values.ts';
import type { AdmissionRequest } from '../types.ts';
import type { Call } from './webhook.ts';

const compiledConditions = new WeakMap<readonly MatchCondition[], MatchConditions>();

function* conditionsOf(conditions: readonly MatchCondition[], release: ApiRelease): Work<MatchConditions> {
  let compiled = compiledConditions.get(conditions);
  if (compiled === undefined) {
    const { MatchConditions } = yield* admissionExpressions();
    compiled = yield* MatchConditions.compiled(conditions, false, release);
    compiledConditions.set(conditions, compiled);
  }
  return compiled;
}

/** Whether the webhook is called. Throws `forbidden` where that cannot be found out and the failure policy says so. */
export function* conditionsMet({ webhook, served }: Call, request: AdmissionRequest, values: RequestValues): Work<boolean> {
  const { conditions, failOpen } = webhook;
  if (conditions.length === 0) return true;
  const compiled = yield* conditionsOf(conditions, request.served.release);
  const outcome = yield* compiled.evaluate(yield* values.in(served));
  if (outcome.met === undefined && !failOpen) throw forbidden(request.served.resource, request.name, outcome.fault);
  return outcome.met === true;
}
