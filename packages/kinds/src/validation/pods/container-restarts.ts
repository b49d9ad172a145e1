/** Whether containers that ended run again: by their own rules and policy, else by the policy of their pod. */
import type { Container } from '../../core/schema/pods/containers.ts';
import type { PodSpec } from '../../core/schema/pods/pod.ts';

type Rule = NonNullable<Container['restartPolicyRules']>[number];
type Restarting = Pick<Container, 'restartPolicy' | 'restartPolicyRules'>;

/** The first rule that an exit code matches. */
export function matchingRule({ restartPolicyRules = [] }: Restarting, exitCode: number): Rule | undefined {
  return restartPolicyRules.find(({ exitCodes }) => {
    const { operator, values = [] } = exitCodes ?? {};
    return (operator === 'In' && values.includes(exitCode)) || (operator === 'NotIn' && !values.includes(exitCode));
  });
}

export function mayRestart(container: Restarting, { restartPolicy = 'Always' }: Pick<PodSpec, 'restartPolicy'>, exitCode: number): boolean {
  if (container.restartPolicy !== undefined && matchingRule(container, exitCode) !== undefined) return true;
  const policy = container.restartPolicy ?? restartPolicy;
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}

/** Whether the end of some container may restart all of them. */
export const restartsAll = ({ initContainers = [], containers = [] }: Pick<PodSpec, 'initContainers' | 'containers'>): boolean =>
  [...initContainers, ...containers].some(({ restartPolicyRules }) =>
    restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers'),
  );
