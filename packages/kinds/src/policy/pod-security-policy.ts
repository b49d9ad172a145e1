/** Pod security policies. */
import { nameCell } from '../cells.ts';
import { nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { validatePodSecurityPolicy } from './pod-security-policy-rules.ts';
import { PodSecurityPolicy } from './schema/pod-security-policy.ts';

export const PodSecurityPolicyKind = kind<PodSecurityPolicy>({
  group: 'policy',
  kind: 'PodSecurityPolicy',
  plural: 'podsecuritypolicies',
  short: ['psp'],
  scope: 'Cluster',
  versions: { v1beta1: { schema: PodSecurityPolicy } },
  hub: 'v1beta1',
  deleteReturnsObject: true,
  strategy: {
    validate: validatePodSecurityPolicy,
    validateUpdate(policy, old, errors, env) {
      metadataUpdateAgain(policy, old, errors, env);
      validatePodSecurityPolicy(policy, errors, env);
    },
  },
  columns: [
    nameColumn,
    { name: 'Priv', type: 'string', description: 'Whether privileged containers are allowed.' },
    { name: 'Caps', type: 'string', description: 'The capabilities that containers may add.' },
    { name: 'SELinux', type: 'string', description: 'The rule for SELinux labels.' },
    { name: 'RunAsUser', type: 'string', description: 'The rule for user ids.' },
    { name: 'FsGroup', type: 'string', description: 'The rule for the group that owns volumes.' },
    { name: 'SupGroup', type: 'string', description: 'The rule for supplemental groups.' },
    { name: 'ReadOnlyRootFs', type: 'string', description: 'Whether containers must have a read-only root file system.' },
    { name: 'Volumes', type: 'string', description: 'The kinds of volumes that are allowed.' },
  ],
  cells: (policy) => [
    nameCell(policy),
    String(policy.spec.privileged ?? false),
    (policy.spec.allowedCapabilities ?? []).join(','),
    policy.spec.seLinux.rule,
    policy.spec.runAsUser.rule,
    policy.spec.fsGroup.rule ?? '',
    policy.spec.supplementalGroups.rule ?? '',
    policy.spec.readOnlyRootFilesystem ?? false,
    (policy.spec.volumes ?? []).join(','),
  ],
});
