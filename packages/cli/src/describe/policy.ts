/** Pod disruption budgets, priority classes and pod security policies. */

import type { PodSecurityPolicy } from '@plat-dev/kinds/policy/schema/pod-security-policy';
import type { PodDisruptionBudget } from '@plat-dev/kinds/policy/schema/v1';
import type { PriorityClass } from '@plat-dev/kinds/scheduling/schema/v1';
import type { Integer } from '@plat-dev/lib/integers';
import type { Describer } from './describer.ts';
import { labelsText, orNone, orUnset, selectorOrNone } from './values.ts';

export const describeDisruptionBudget: Describer<PodDisruptionBudget> = {
  versions: ['v1', 'v1beta1'],
  async write(page, { metadata, spec = {}, status = {} }) {
    page.field('Name', metadata.name).field('Namespace', metadata.namespace);
    if (spec.minAvailable !== undefined) page.field('Min available', spec.minAvailable);
    else page.fieldIfSet('Max unavailable', spec.maxUnavailable);
    page.field('Selector', spec.selector === undefined ? '<unset>' : selectorOrNone(spec.selector)).heading('Status');
    const below = page.at(2);
    below.field('Allowed disruptions', status.disruptionsAllowed ?? 0).field('Current', status.currentHealthy ?? 0);
    below.field('Desired', status.desiredHealthy ?? 0).field('Total', status.expectedPods ?? 0);
  },
};

export const describePriorityClass: Describer<PriorityClass> = {
  async write(page, { metadata, value = 0, globalDefault = false, preemptionPolicy, description }) {
    page.field('Name', metadata.name).field('Value', value).field('GlobalDefault', globalDefault);
    page.field('PreemptionPolicy', preemptionPolicy).field('Description', description);
    page.field('Annotations', labelsText(metadata.annotations));
  },
};

type Range = { readonly min?: Integer; readonly max?: Integer };
const listText = (values: readonly string[] = []): string => orNone(values.join(','));
const rangesText = (ranges: readonly Range[] = []): string => listText(ranges.map(({ min = 0, max = 0 }) => `${min}-${max}`));

export const describePodSecurityPolicy: Describer<PodSecurityPolicy> = {
  versions: ['v1beta1'],
  events: false,
  async write(page, { metadata, spec = {} }) {
    page.field('Name', metadata.name).write('\nSettings:\n');
    const below = page.at(1);
    below.field('Allow Privileged', spec.privileged ?? false).field('Allow Privilege Escalation', orUnset(spec.allowPrivilegeEscalation));
    below.field('Default Add Capabilities', listText(spec.defaultAddCapabilities));
    below.field('Required Drop Capabilities', listText(spec.requiredDropCapabilities));
    below.field('Allowed Capabilities', listText(spec.allowedCapabilities)).field('Allowed Volume Types', listText(spec.volumes));
    below.fieldIfSet('Allowed FlexVolume Types', spec.allowedFlexVolumes?.map(({ driver }) => `driver=${driver}`).join(','));
    below.fieldIfSet('Allowed CSI Drivers', spec.allowedCSIDrivers?.map(({ name }) => `driver=${name}`).join(','));
    below
      .fieldIfSet('Allowed Unsafe Sysctls', spec.allowedUnsafeSysctls?.join(','))
      .fieldIfSet('Forbidden Sysctls', spec.forbiddenSysctls?.join(','));
    below.field('Allow Host Network', spec.hostNetwork ?? false).field('Allow Host Ports', rangesText(spec.hostPorts));
    below.field('Allow Host PID', spec.hostPID ?? false).field('Allow Host IPC', spec.hostIPC ?? false);
    below.field('Read Only Root Filesystem', spec.readOnlyRootFilesystem ?? false);
    const { user, role, type, level } = spec.seLinux?.seLinuxOptions ?? {};
    const selinux = below.line(`SELinux Context Strategy: ${spec.seLinux?.rule ?? ''}`, '').at(1);
    selinux.field('User', orNone(user)).field('Role', orNone(role)).field('Type', orNone(type)).field('Level', orNone(level));
    const strategies = [
      ['Run As User', spec.runAsUser],
      ['FSGroup', spec.fsGroup],
      ['Supplemental Groups', spec.supplementalGroups],
    ] as const;
    for (const [name, strategy] of strategies)
      below
        .line(`${name} Strategy: ${strategy?.rule ?? ''}`, '')
        .at(1)
        .field('Ranges', rangesText(strategy?.ranges));
  },
};
