import type { Descriptions } from '../../../description-texts.ts';

const identity = {
  seLinuxOptions: 'SELinux context of the processes. Without it the runtime assigns a random one to each container.',
  windowsOptions: 'Settings for Windows containers. Must be empty for Linux.',
  runAsUser: 'User ID that the processes start with. Defaults to the user that the image names.',
  runAsGroup: 'Primary group ID of the processes. Without it the default of the runtime applies.',
  runAsNonRoot: 'Refuse to start a container that would run as user ID 0. Defaults to false: not checked.',
  seccompProfile: 'Seccomp profile, which limits the system calls of the processes.',
  appArmorProfile: 'AppArmor profile, which limits what the processes may do. Linux only.',
};

export const securityContext: Descriptions = {
  'core.SecurityContext': {
    $: 'Security settings of one container. A field that is set here wins over the same field of the pod.',
    ...identity,
    capabilities: 'Linux capabilities that are added to and removed from the default set of the runtime.',
    privileged: 'Run privileged: processes are in essence root on the node. Defaults to false.',
    readOnlyRootFilesystem: 'Mount the root file system of the container read-only. Defaults to false.',
    allowPrivilegeEscalation:
      'Whether a process can gain more privileges than its parent. Always true for privileged containers and those with the capability SYS_ADMIN.',
    procMount: 'How /proc is mounted: Default masks parts of it, Unmasked shows all. Defaults to Default.',
  },
  'core.PodSecurityContext': {
    $: 'Security settings for all containers of a pod, and for the pod as a whole.',
    ...identity,
    supplementalGroups: 'Additional group IDs of the first process of each container, besides its primary group and those of the image.',
    fsGroup:
      'Group ID that owns the volumes: it is given access to their files, and new files belong to it. Only for volumes that support ownership.',
    supplementalGroupsPolicy:
      'Merge adds the groups of the user in the image to supplementalGroups, Strict uses the listed ones only. Defaults to Merge.',
    seLinuxChangePolicy:
      'How volumes get the SELinux label of the pod: Recursive relabels every file, MountOption mounts with the label. Defaults to MountOption where possible.',
    sysctls: 'Kernel parameters to set for the pod. A pod with parameters that its node does not support may fail to start.',
    fsGroupChangePolicy:
      'When the ownership of a volume is changed: OnRootMismatch only if its root differs, or Always. Defaults to Always.',
  },
  'core.Capabilities': {
    $: 'Changes to the Linux capabilities of a container.',
    add: 'Capabilities to grant in addition, such as NET_ADMIN.',
    drop: 'Capabilities to remove; ALL removes every one.',
  },
  'core.SELinuxOptions': {
    $: 'An SELinux context, in its four parts.',
    user: 'SELinux user of the context.',
    role: 'SELinux role of the context.',
    type: 'SELinux type of the context.',
    level: 'SELinux level of the context, such as s0:c123,c456.',
  },
  'core.SeccompProfile': {
    $: 'Which system calls processes may use.',
    type: 'Which profile applies: RuntimeDefault, Unconfined for no limits, or Localhost for a file on the node.',
    localhostProfile:
      'Path of the profile on the node, relative to the seccomp directory of its agent. Required for Localhost, not allowed otherwise.',
  },
  'core.AppArmorProfile': {
    $: 'Which AppArmor profile confines processes.',
    type: 'Which profile is used: RuntimeDefault, Unconfined for none, or Localhost for one that is loaded on the node.',
    localhostProfile: 'Name of a profile that is loaded on the node. Required for Localhost, not allowed otherwise.',
  },
  'core.WindowsSecurityContextOptions': {
    $: 'Security settings of Windows containers.',
    gmsaCredentialSpecName: 'Name of the GMSA credential spec to use.',
    gmsaCredentialSpec: 'Contents of the GMSA credential spec; an admission webhook fills it in from its name.',
    runAsUserName: 'Windows user that runs the entry point. Defaults to the user that the image names.',
    hostProcess: 'Run as a host process container. All containers of a pod must agree, and it requires hostNetwork.',
  },
  'core.Sysctl': {
    $: 'A kernel parameter to set.',
    name: 'Dotted name of the parameter, such as net.core.somaxconn.',
    value: 'Text to write to the parameter.',
  },
};
