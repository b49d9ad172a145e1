/** What containers say about their own restarts: a policy, rules by exit code, and whether a resize restarts them. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { isSidecar } from '../../core/pods/pod-amounts.ts';
import type { Container } from '../../core/schema/pods/containers.ts';
import type { KindEnv } from '../../kind.ts';

const policies = ['Always', 'Never', 'OnFailure'];
const operators = ['In', 'NotIn'];
const mostRules = 20;
const mostExitCodes = 255;

type Restarting = Pick<Container, 'restartPolicy' | 'restartPolicyRules'>;

export function validateRestartPolicy(container: Restarting, at: Path, errors: FieldErrors, env: KindEnv): void {
  const { restartPolicy, restartPolicyRules = [] } = container;
  if (!env.feature('ContainerRestartRules')) {
    if (restartPolicy !== undefined) errors.forbidden(at.child('restartPolicy'), 'may not be set for non-init containers');
    return;
  }
  const policyAt = at.child('restartPolicy');
  if (restartPolicy === undefined) {
    if (restartPolicyRules.length === 0) return;
    errors.required(policyAt, 'must specify restartPolicy when restart rules are used');
  } else if (!policies.includes(restartPolicy)) errors.notSupported(policyAt, restartPolicy, policies);
  validateRules(restartPolicyRules, at.child('restartPolicyRules'), errors, env);
}

/** An init container may keep running as a sidecar; rules for others came later. */
export function validateInitRestartPolicy(container: Restarting, at: Path, errors: FieldErrors, env: KindEnv): void {
  const { restartPolicy, restartPolicyRules = [] } = container;
  if (restartPolicy === undefined) {
    if (restartPolicyRules.length > 0) errors.required(at.child('restartPolicy'), 'must specify restartPolicy when restart rules are used');
  } else if (!env.feature('ContainerRestartRules')) {
    if (!isSidecar(container)) errors.notSupported(at.child('restartPolicy'), restartPolicy, ['Always']);
  } else if (!isSidecar(container) || env.feature('RestartAllContainersOnContainerExits'))
    validateRestartPolicy(container, at, errors, env);
  else if (restartPolicyRules.length > 0)
    errors.forbidden(at.child('restartPolicyRules'), 'restartPolicyRules are not allowed for init containers with restart policy Always');
}

function validateRules(rules: NonNullable<Container['restartPolicyRules']>, at: Path, errors: FieldErrors, env: KindEnv): void {
  const actions = env.feature('RestartAllContainersOnContainerExits') ? ['Restart', 'RestartAllContainers'] : ['Restart'];
  if (rules.length > mostRules) errors.tooMany(at, rules.length, mostRules);
  rules.forEach(({ action = '', exitCodes }, i) => {
    const here = at.index(i);
    if (!actions.includes(action)) errors.notSupported(here.child('action'), action, actions);
    const codesAt = here.child('exitCodes');
    if (exitCodes === undefined) {
      errors.required(codesAt, 'must be specified');
      return;
    }
    const { operator = '', values = [] } = exitCodes;
    if (!operators.includes(operator)) errors.notSupported(codesAt.child('operator'), operator, operators);
    if (values.length > mostExitCodes) errors.tooMany(codesAt.child('values'), values.length, mostExitCodes);
  });
}

// ---- resizes -----------------------------------------------------------------------------------------------------

const resizableResources = ['cpu', 'memory'];
const resizePolicies = ['NotRequired', 'RestartContainer'];

/** These errors name the list, not the policy, as in a stock server. */
export function validateResizePolicy(
  resizePolicy: NonNullable<Container['resizePolicy']>,
  podRestartPolicy: string | undefined,
  at: Path,
  errors: FieldErrors,
): void {
  const names = new Set<string>();
  resizePolicy.forEach(({ resourceName, restartPolicy }, i) => {
    if (names.has(resourceName)) errors.duplicate(at.index(i), resourceName);
    names.add(resourceName);
    if (resourceName === '') errors.required(at);
    else if (!resizableResources.includes(resourceName)) errors.notSupported(at, resourceName, resizableResources);
    if (restartPolicy === '') errors.required(at);
    else if (!resizePolicies.includes(restartPolicy)) errors.notSupported(at, restartPolicy, resizePolicies);
    if (podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired')
      errors.invalid(at, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
  });
}

/** Init containers may have resize policies since sidecars can be resized; only sidecars may be restarted for a resize. */
export function validateInitResizePolicy(container: Container, at: Path, errors: FieldErrors, env: KindEnv): void {
  const { resizePolicy } = container;
  if (resizePolicy === undefined) return;
  const policyAt = at.child('resizePolicy');
  if (!env.since('1.32') || !env.feature('InPlacePodVerticalScaling'))
    errors.invalid(policyAt, resizePolicy, 'must not be set for init containers');
  if (isSidecar(container) || !env.since('1.36') || env.feature(restartingInitContainers)) return;
  resizePolicy.forEach(({ restartPolicy }, i) => {
    if (restartPolicy === 'RestartContainer')
      errors.invalid(
        policyAt.index(i).child('restartPolicy'),
        restartPolicy,
        "must not be set to 'RestartContainer' for non-sidecar initContainers",
      );
  });
}
/** What is stored may stay: no gate of its own, but a rule of pod-gates.ts says when an update may keep it. */
export const restartingInitContainers = 'restartingInitContainers';
