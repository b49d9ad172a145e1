/**
 * PodSecurityPolicy: a pod runs only if a policy that its author or its service account may `use` allows it. Of several
 * that do, one that does not change the pod comes before those that do, then the first by name.
 */

import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { PodSecurityPolicy } from '@plat-dev/kinds/policy/schema/pod-security-policy';
import { equal } from '@plat-dev/lib/equal';
import { domainName } from '@plat-dev/meta/identity';
import { authenticated, serviceAccountGroups, serviceAccountName } from '../../../auth/authn/users.ts';
import { kinds, type MakePlugin, type PluginEnv } from '../../plugin.ts';
import { violationsOf } from '../../pod-security-policy/check.ts';
import { fillPod } from '../../pod-security-policy/fill.ts';
import { refusal } from '../../refusal.ts';
import type { AdmissionRequest } from '../../types.ts';

export const podSecurityPolicy: MakePlugin = (env) => {
  const policies = env.live<PodSecurityPolicy>('policy', 'podsecuritypolicies');
  const annotation = domainName(env.identity, 'psp');
  /** Terminating pods may still be changed, so that their finalizers can be removed. */
  const concerned = ({ subresource, operation, oldObject }: AdmissionRequest): boolean =>
    (subresource === '' || (subresource === 'ephemeralcontainers' && operation === 'UPDATE')) &&
    oldObject?.metadata.deletionTimestamp === undefined;
  return {
    name: 'PodSecurityPolicy',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    concerns: kinds('pods'),
    async admit(request) {
      if (request.operation !== 'CREATE' || !concerned(request)) return;
      const { policy, pod } = await choose(env, policies.list(), request, true);
      pod.metadata.annotations = { ...pod.metadata.annotations, [annotation]: policy.metadata.name as string };
      request.object = pod as unknown as ApiObject;
      request.annotate(`podsecuritypolicy.policy.${env.identity.groupSuffix}/admit-policy`, policy.metadata.name as string);
    },
    async validate(request) {
      if (!concerned(request)) return;
      const { policy } = await choose(env, policies.list(), request, false);
      request.annotate(`podsecuritypolicy.policy.${env.identity.groupSuffix}/validate-policy`, policy.metadata.name as string);
    },
  };
};

async function choose(
  env: PluginEnv,
  policies: readonly PodSecurityPolicy[],
  request: AdmissionRequest,
  mayFill: boolean,
): Promise<{ policy: PodSecurityPolicy; pod: Pod }> {
  const submittedPod = request.object as unknown as Pod;
  const problems: string[] = [];
  let filled: { policy: PodSecurityPolicy; pod: Pod } | undefined;
  for (const policy of policies) {
    if (!(await mayUse(env, request, submittedPod, policy.metadata.name ?? ''))) continue;
    const pod = mayFill ? structuredClone(submittedPod) : submittedPod;
    if (mayFill) fillPod(pod, policy);
    const wrong = violationsOf(pod, policy, env.identity);
    if (wrong.length > 0) {
      problems.push(...wrong);
      continue;
    }
    if (!mayFill || equal(pod, submittedPod)) return { policy, pod };
    filled ??= { policy, pod };
  }
  if (filled !== undefined) return filled;
  const action = request.operation === 'CREATE' ? 'admit pod' : 'validate pod';
  throw refusal(request, `PodSecurityPolicy: unable to ${action}: [${problems.join(' ')}]`);
}

/** The user that writes the pod may use the policy, or the service account of the pod. */
async function mayUse(env: PluginEnv, { user, namespace }: AdmissionRequest, { spec }: Pod, name: string): Promise<boolean> {
  const action = { verb: 'use', group: 'policy', resource: 'podsecuritypolicies', namespace, name };
  if (await env.may(user, action)) return true;
  const account = spec.serviceAccountName ?? '';
  if (account === '') return false;
  const runsAs = authenticated({ name: serviceAccountName(namespace, account), groups: serviceAccountGroups(namespace) });
  return env.may(runsAs, action);
}
