/** Pod security policies. */
import { always, bool, type Infer, int32, int64, list, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { SELinuxOptions } from '../../core/schema/pods/security-context.ts';
import { ObjectMeta } from '../../meta.ts';

const AllowedCSIDriver = message('policy.v1beta1.AllowedCSIDriver', {
  name: req(1, string),
});

const AllowedFlexVolume = message('policy.v1beta1.AllowedFlexVolume', {
  driver: req(1, string),
});

const AllowedHostPath = message('policy.v1beta1.AllowedHostPath', {
  pathPrefix: opt(1, string),
  readOnly: opt(2, bool),
});

export const IDRange = message('policy.v1beta1.IDRange', {
  min: req(1, int64),
  max: req(2, int64),
});
export type IDRange = Infer<typeof IDRange>;

const FSGroupStrategyOptions = message('policy.v1beta1.FSGroupStrategyOptions', {
  rule: opt(1, string),
  ranges: opt(2, list(IDRange)),
});

const HostPortRange = message('policy.v1beta1.HostPortRange', {
  min: req(1, int32),
  max: req(2, int32),
});

const SELinuxStrategyOptions = message('policy.v1beta1.SELinuxStrategyOptions', {
  rule: req(1, string),
  seLinuxOptions: ptr(2, SELinuxOptions),
});

const RunAsUserStrategyOptions = message('policy.v1beta1.RunAsUserStrategyOptions', {
  rule: req(1, string),
  ranges: opt(2, list(IDRange)),
});

export const RunAsGroupStrategyOptions = message('policy.v1beta1.RunAsGroupStrategyOptions', {
  rule: req(1, string),
  ranges: opt(2, list(IDRange)),
});
export type RunAsGroupStrategyOptions = Infer<typeof RunAsGroupStrategyOptions>;

const SupplementalGroupsStrategyOptions = message('policy.v1beta1.SupplementalGroupsStrategyOptions', {
  rule: opt(1, string),
  ranges: opt(2, list(IDRange)),
});

export const RuntimeClassStrategyOptions = message('policy.v1beta1.RuntimeClassStrategyOptions', {
  allowedRuntimeClassNames: req(1, list(string)),
  defaultRuntimeClassName: ptr(2, string),
});
export type RuntimeClassStrategyOptions = Infer<typeof RuntimeClassStrategyOptions>;

export const PodSecurityPolicySpec = message('policy.v1beta1.PodSecurityPolicySpec', {
  privileged: opt(1, bool),
  defaultAddCapabilities: opt(2, list(string)),
  requiredDropCapabilities: opt(3, list(string)),
  allowedCapabilities: opt(4, list(string)),
  volumes: opt(5, list(string)),
  hostNetwork: opt(6, bool),
  hostPorts: opt(7, list(HostPortRange)),
  hostPID: opt(8, bool),
  hostIPC: opt(9, bool),
  seLinux: req(10, SELinuxStrategyOptions),
  runAsUser: req(11, RunAsUserStrategyOptions),
  runAsGroup: ptr(22, RunAsGroupStrategyOptions),
  supplementalGroups: req(12, SupplementalGroupsStrategyOptions),
  fsGroup: req(13, FSGroupStrategyOptions),
  readOnlyRootFilesystem: opt(14, bool),
  defaultAllowPrivilegeEscalation: ptr(15, bool),
  allowPrivilegeEscalation: ptr(16, bool, { default: true }),
  allowedHostPaths: opt(17, list(AllowedHostPath)),
  allowedFlexVolumes: opt(18, list(AllowedFlexVolume)),
  allowedCSIDrivers: opt(23, list(AllowedCSIDriver), { gate: 'CSIInlineVolume' }),
  allowedUnsafeSysctls: opt(19, list(string)),
  forbiddenSysctls: opt(20, list(string)),
  allowedProcMountTypes: opt(21, list(string), { gate: 'ProcMountType' }),
  runtimeClass: ptr(24, RuntimeClassStrategyOptions),
});
export type PodSecurityPolicySpec = Infer<typeof PodSecurityPolicySpec>;

export const PodSecurityPolicy = object('policy.v1beta1.PodSecurityPolicy', {
  metadata: always(1, ObjectMeta),
  spec: always(2, PodSecurityPolicySpec),
});
export type PodSecurityPolicy = Infer<typeof PodSecurityPolicy>;
