/** Security contexts of containers and pods. */
import { bool, type Infer, int64, list, message, opt, ptr, req, string } from '@plat-dev/schema/types';

const Capabilities = message('core.v1.Capabilities', {
  add: opt(1, list(string)),
  drop: opt(2, list(string)),
});

export const SELinuxOptions = message('core.v1.SELinuxOptions', {
  user: opt(1, string),
  role: opt(2, string),
  type: opt(3, string),
  level: opt(4, string),
});
export type SELinuxOptions = Infer<typeof SELinuxOptions>;

export const SeccompProfile = message('core.v1.SeccompProfile', {
  type: req(1, string, { enum: ['Localhost', 'RuntimeDefault', 'Unconfined'] }),
  localhostProfile: ptr(2, string),
});
export type SeccompProfile = Infer<typeof SeccompProfile>;

export const AppArmorProfile = message('core.v1.AppArmorProfile', {
  type: req(1, string, { enum: ['Localhost', 'RuntimeDefault', 'Unconfined'] }),
  localhostProfile: ptr(2, string),
});

export type AppArmorProfile = Infer<typeof AppArmorProfile>;

export const WindowsSecurityContextOptions = message('core.v1.WindowsSecurityContextOptions', {
  gmsaCredentialSpecName: ptr(1, string),
  gmsaCredentialSpec: ptr(2, string),
  runAsUserName: ptr(3, string),
  hostProcess: ptr(4, bool),
});
export type WindowsSecurityContextOptions = Infer<typeof WindowsSecurityContextOptions>;

export const SecurityContext = message('core.v1.SecurityContext', {
  capabilities: ptr(1, Capabilities),
  privileged: ptr(2, bool),
  seLinuxOptions: ptr(3, SELinuxOptions),
  windowsOptions: ptr(10, WindowsSecurityContextOptions),
  runAsUser: ptr(4, int64),
  runAsGroup: ptr(8, int64),
  runAsNonRoot: ptr(5, bool),
  readOnlyRootFilesystem: ptr(6, bool),
  allowPrivilegeEscalation: ptr(7, bool),
  // Old servers filled in the field: it is set to its default rather than cleared.
  procMount: ptr(9, string, { gate: { name: 'ProcMountType', off: 'Default' } }),
  seccompProfile: ptr(11, SeccompProfile),
  appArmorProfile: ptr(12, AppArmorProfile, { since: '1.30', gate: 'AppArmorFields' }),
});
export type SecurityContext = Infer<typeof SecurityContext>;

export const Sysctl = message('core.v1.Sysctl', {
  name: req(1, string),
  value: req(2, string),
});
export type Sysctl = Infer<typeof Sysctl>;

export const PodSecurityContext = message('core.v1.PodSecurityContext', {
  seLinuxOptions: ptr(1, SELinuxOptions),
  windowsOptions: ptr(8, WindowsSecurityContextOptions),
  runAsUser: ptr(2, int64),
  runAsGroup: ptr(6, int64),
  runAsNonRoot: ptr(3, bool),
  supplementalGroups: opt(4, list(int64)),
  supplementalGroupsPolicy: ptr(12, string, { since: '1.31', gate: 'SupplementalGroupsPolicy' }),
  fsGroup: ptr(5, int64),
  sysctls: opt(7, list(Sysctl)),
  fsGroupChangePolicy: ptr(9, string),
  seccompProfile: ptr(10, SeccompProfile),
  appArmorProfile: ptr(11, AppArmorProfile, { since: '1.30', gate: 'AppArmorFields' }),
  seLinuxChangePolicy: ptr(13, string, { since: '1.32', gate: 'SELinuxChangePolicy' }),
});
export type PodSecurityContext = Infer<typeof PodSecurityContext>;
