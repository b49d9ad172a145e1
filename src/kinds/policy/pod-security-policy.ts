/** Pod security policies. */
import { nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { PodSecurityPolicy } from './schema/pod-security-policy.ts';

export const PodSecurityPolicyKind = kind<PodSecurityPolicy>({
  group: 'policy',
  kind: 'PodSecurityPolicy',
  plural: 'podsecuritypolicies',
  short: ['psp'],
  scope: 'Cluster',
  versions: { v1beta1: { schema: PodSecurityPolicy, deprecation: { deprecated: '1.21', removed: '1.25' } } },
  hub: 'v1beta1',
  deleteReturnsObject: true,
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
});
