/** Defaults that a pod security policy sets in pods. */

import type { Container, EphemeralContainer } from '@plat-dev/kinds/core/schema/pods/containers';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { IDRange, PodSecurityPolicy } from '@plat-dev/kinds/policy/schema/pod-security-policy';
import type { Integer } from '@plat-dev/lib/integers';
import { eachContainer } from '../pods.ts';

interface IdRule {
  readonly rule?: string;
  readonly ranges?: readonly IDRange[];
}
/** The one id that a rule prescribes. */
const prescribed = (rule: IdRule | undefined): Integer | undefined => (rule?.rule === 'MustRunAs' ? rule.ranges?.[0]?.min : undefined);

export function fillPod(pod: Pod, { spec: policy }: PodSecurityPolicy): void {
  const { spec } = pod;
  spec.securityContext ??= {};
  const context = spec.securityContext;
  if (context.supplementalGroups === undefined) {
    const group = prescribed(policy.supplementalGroups);
    if (group !== undefined) context.supplementalGroups = [group];
  }
  const owner = prescribed(policy.fsGroup);
  if (context.fsGroup === undefined && owner !== undefined) context.fsGroup = owner;
  if (context.seLinuxOptions === undefined && policy.seLinux.rule === 'MustRunAs' && policy.seLinux.seLinuxOptions !== undefined)
    context.seLinuxOptions = { ...policy.seLinux.seLinuxOptions };
  const runtime = policy.runtimeClass?.defaultRuntimeClassName;
  if (spec.runtimeClassName === undefined && runtime !== undefined) spec.runtimeClassName = runtime;
  eachContainer(spec, (container) => fillContainer(container, pod, policy));
}

function fillContainer(container: Container | EphemeralContainer, { spec }: Pod, policy: PodSecurityPolicy['spec']): void {
  container.securityContext ??= {};
  const context = container.securityContext;
  const user = context.runAsUser ?? spec.securityContext?.runAsUser;
  const wantedUser = prescribed(policy.runAsUser);
  if (user === undefined && wantedUser !== undefined) context.runAsUser = wantedUser;
  const wantedGroup = prescribed(policy.runAsGroup);
  if ((context.runAsGroup ?? spec.securityContext?.runAsGroup) === undefined && wantedGroup !== undefined) context.runAsGroup = wantedGroup;
  const nonRoot = context.runAsNonRoot ?? spec.securityContext?.runAsNonRoot;
  if (policy.runAsUser.rule === 'MustRunAsNonRoot' && nonRoot === undefined && user === undefined) context.runAsNonRoot = true;
  fillCapabilities(context, policy);
  if (policy.readOnlyRootFilesystem && context.readOnlyRootFilesystem === undefined) context.readOnlyRootFilesystem = true;
  if (context.allowPrivilegeEscalation === undefined) {
    if (policy.defaultAllowPrivilegeEscalation !== undefined) context.allowPrivilegeEscalation = policy.defaultAllowPrivilegeEscalation;
    else if (policy.allowPrivilegeEscalation === false) context.allowPrivilegeEscalation = false;
  }
  if (Object.keys(context).length === 0) delete container.securityContext;
}

function fillCapabilities(context: NonNullable<Container['securityContext']>, policy: PodSecurityPolicy['spec']): void {
  const capabilities = context.capabilities;
  const dropped = capabilities?.drop ?? [];
  const add = (policy.defaultAddCapabilities ?? []).filter((name) => !dropped.includes(name) && !capabilities?.add?.includes(name));
  const drop = (policy.requiredDropCapabilities ?? []).filter((name) => !dropped.includes(name));
  if (add.length === 0 && drop.length === 0) return;
  context.capabilities = {
    ...capabilities,
    ...(add.length > 0 && { add: [...(capabilities?.add ?? []), ...add] }),
    ...(drop.length > 0 && { drop: [...dropped, ...drop] }),
  };
}
