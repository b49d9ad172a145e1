/** Validation of bindings: which policy, with which parameters, for which requests, and what follows. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { nameIsSubdomain } from '@plat-dev/meta/names';
import type { ReleaseEnv } from '../kind.ts';
import { each, repeatedTexts } from '../validation/each.ts';
import { report } from '../validation/field-checks.ts';
import { validateMatchResources } from './match-resources-rules.ts';
import { validateParamRef } from './parameter-rules.ts';
import type { BindingSpec } from './schema/policies.ts';

const at = Path.of('spec');
export const matchResourcesAt = at.child('matchResources');
const actions = ['Audit', 'Deny', 'Warn'];

export function validateBinding({ policyName = '', paramRef, matchResources }: BindingSpec, errors: FieldErrors, env: ReleaseEnv): void {
  if (policyName === '') errors.required(at.child('policyName'));
  else report(errors, at.child('policyName'), policyName, nameIsSubdomain(policyName));
  validateParamRef(paramRef, at.child('paramRef'), errors, env);
  if (matchResources !== undefined) validateMatchResources(matchResources, matchResourcesAt, errors, env);
}

export function validateActions(chosen: readonly string[] = [], errors: FieldErrors, env: ReleaseEnv): void {
  if (!env.since('1.27')) return;
  const actionsAt = at.child('validationActions');
  const repeated = repeatedTexts(chosen);
  each(chosen, actionsAt, (action, here, i) => {
    if (!actions.includes(action)) errors.notSupported(here, action, actions);
    if (repeated[i]) errors.duplicate(here, action);
  });
  if (chosen.includes('Deny') && chosen.includes('Warn'))
    errors.invalid(
      actionsAt,
      chosen,
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
    );
  if (chosen.length === 0) errors.required(actionsAt, 'at least one validation action is required');
}
