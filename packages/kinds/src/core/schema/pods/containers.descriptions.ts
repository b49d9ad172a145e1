import type { Descriptions } from '../../../description-texts.ts';

/** Fields of containers, whether they are there from the start or added later. */
const container = {
  name: 'Name of the container: a DNS label, unique among all containers of the pod. Cannot be changed.',
  image: 'Container image to run, such as registry.example.com/app:1.2 or one with a digest after @. Workload templates may leave it out.',
  command:
    'Executable and first arguments, instead of the entry point of the image; no shell interprets it. $(NAME) stands for an environment variable, $$ for a dollar sign.',
  args: 'Arguments, instead of the default command of the image. $(NAME) stands for an environment variable, $$ for a dollar sign.',
  workingDir: 'Directory in which the process starts. Defaults to that of the image.',
  ports: 'Ports that the container listens on. The list informs others; a port that is missing from it can still be reached.',
  envFrom:
    'ConfigMaps and Secrets whose entries all become environment variables. Later sources win over earlier ones, and env over all of them.',
  env: 'Environment variables of the container.',
  resources: 'CPU, memory and other resources that the container requests and is limited to.',
  resizePolicy: 'What happens to the container when one of its resources is changed while it runs.',
  restartPolicy:
    'When this container is restarted, instead of the restartPolicy of the pod. An init container with Always keeps running beside the others until they are done.',
  restartPolicyRules: 'Rules for single exit codes. The first one that matches decides; if none does, restartPolicy does.',
  volumeMounts: 'Volumes of the pod to mount into the file system of the container.',
  volumeDevices: 'Block devices of the pod to make available in the container.',
  livenessProbe: 'Periodic check of the running container: when it fails, the container is restarted.',
  readinessProbe: 'Periodic check whether the container can serve: while it fails, services send it no traffic.',
  startupProbe:
    'Check that the application has started. The other probes begin after it has succeeded; when it fails, the container is restarted.',
  lifecycle: 'Actions to run right after the container starts and before it is stopped.',
  terminationMessagePath:
    'File in the container whose content becomes its termination message, at most 4096 bytes. Defaults to /dev/termination-log.',
  terminationMessagePolicy:
    'File reads the message from terminationMessagePath; FallbackToLogsOnError takes the end of the log if that is empty and the container failed. Defaults to File.',
  imagePullPolicy:
    'When to pull the image: Always, IfNotPresent or Never. Defaults to Always for the tag latest, and to IfNotPresent otherwise.',
  securityContext: 'Security settings of this container. They win over those of the pod.',
  stdin: 'Keep a buffer for standard input open. If false, reads from it always end at once. Defaults to false.',
  stdinOnce: 'Close standard input after the first client that attached to it has left. Defaults to false.',
  tty: 'Allocate a terminal for the container; requires stdin. Defaults to false.',
};

export const containers: Descriptions = {
  'core.Container': { $: 'A single application container of a pod.', ...container },
  'core.EphemeralContainer': {
    $: 'A container that is added to a running pod for debugging. It has no guaranteed resources, and is never restarted nor removed.',
    ...container,
    ports: 'Ports are not allowed for ephemeral containers.',
    resizePolicy: 'Resize policies are not allowed for ephemeral containers.',
    restartPolicy: 'Restart policies are not allowed for ephemeral containers.',
    restartPolicyRules: 'Restart rules are not allowed for ephemeral containers.',
    resources: 'Requests and limits are not allowed for ephemeral containers, which use what the pod has to spare.',
    livenessProbe: 'Liveness probes are not allowed for ephemeral containers.',
    readinessProbe: 'Readiness probes are not allowed for ephemeral containers.',
    startupProbe: 'Startup probes are not allowed for ephemeral containers.',
    lifecycle: 'Lifecycle actions are not allowed for ephemeral containers.',
    targetContainerName: 'Container of the pod whose process namespace the new one joins. Without it the namespaces of the pod spec apply.',
  },
  'core.ContainerPort': {
    $: 'A port that a container listens on.',
    name: 'Name by which services and probes can refer to the port: at most 15 lower case letters, digits and dashes, unique within the pod.',
    hostPort:
      'Port of the node that leads to this one, from 1 to 65535. With hostNetwork it must equal containerPort. Most containers do not need it.',
    containerPort: 'Number of the port inside the pod, from 1 to 65535.',
    protocol: 'Protocol of the port: TCP, UDP or SCTP. Defaults to TCP.',
    hostIP: 'Address of the node to which hostPort is bound. Without it every address of the node is used.',
  },
  'core.EnvVar': {
    $: 'An environment variable of a container.',
    name: 'Name of the variable: letters, digits, underscores, dashes and dots, not starting with a digit.',
    value: 'Value of the variable; $(NAME) stands for a variable that was defined before. Defaults to the empty text.',
    valueFrom: 'Source that the value is taken from when the container starts. Must not be set together with a value.',
  },
  'core.EnvVarSource': {
    $: 'Source of the value of an environment variable; exactly one is set.',
    fieldRef: 'A field of the pod: its name, namespace, a label or annotation, its node, service account or addresses.',
    resourceFieldRef: 'A request or limit of a container, such as limits.cpu.',
    configMapKeyRef: 'An entry of a ConfigMap of the same namespace.',
    secretKeyRef: 'An entry of a Secret of the same namespace.',
    fileKeyRef: 'A variable of a file that an init container wrote into a volume.',
  },
  'core.FileKeySelector': {
    $: 'A variable in a file of a volume of the pod.',
    volumeName: 'Name of the volume, which must be an emptyDir, in the spec of the pod.',
    path: 'Path of the file in the volume. It must be relative and without "..".',
    key: 'Name of the variable in the file.',
    optional: 'Start the container even if the file or the variable is missing. Defaults to false.',
  },
  'core.ContainerResizePolicy': {
    $: 'How a change of one resource is carried out in a running container.',
    resourceName: 'Resource that the policy is for: cpu or memory.',
    restartPolicy: 'NotRequired changes the resource while the container runs; RestartContainer restarts it. Defaults to NotRequired.',
  },
  'core.ContainerRestartRule': {
    $: 'What is done when a container exits in a certain way.',
    action: 'Restart restarts this container, RestartAllContainers every container of the pod.',
    exitCodes: 'Exit codes that the rule is for.',
  },
  'core.ContainerRestartRuleOnExitCodes': {
    $: 'A set of exit codes.',
    operator: 'In matches the codes of the list, NotIn all others.',
    values: 'Exit codes to compare with, at most 255 of them.',
  },
  'core.EnvFromSource': {
    $: 'A ConfigMap or Secret whose entries all become environment variables.',
    prefix: 'Text that is put before the name of each entry.',
    configMapRef: 'ConfigMap whose entries become variables.',
    secretRef: 'Secret whose entries become variables.',
  },
  'core.ConfigMapEnvSource': {
    $: 'A ConfigMap whose entries become environment variables.',
    name: 'Name of the ConfigMap, in the namespace of the pod.',
    optional: 'Start the container even if the ConfigMap does not exist. Defaults to false.',
  },
  'core.SecretEnvSource': {
    $: 'A Secret whose entries become environment variables.',
    name: 'Name of the Secret, in the namespace of the pod.',
    optional: 'Start the container even if the Secret does not exist. Defaults to false.',
  },
  'core.VolumeMount': {
    $: 'A volume that is mounted into a container.',
    name: 'Name of the volume in spec.volumes of the pod.',
    readOnly: 'Mount the volume read-only. Defaults to false.',
    recursiveReadOnly:
      'Whether mounts inside a read-only volume are read-only too: Disabled, IfPossible or Enabled, which fails where the node cannot do it. Defaults to Disabled.',
    mountPath: 'Path in the container at which the volume appears. It must not contain a colon.',
    subPath: 'Path inside the volume that is mounted instead of its root. It must be relative and without "..".',
    mountPropagation:
      'Whether later mounts are passed on between node and container: None, HostToContainer or Bidirectional. Defaults to None.',
    subPathExpr: 'Like subPath, with $(NAME) replaced by environment variables of the container. Excludes subPath.',
  },
  'core.VolumeDevice': {
    $: 'A block device that is made available in a container.',
    name: 'Name of a volume of the pod that comes from a claim.',
    devicePath: 'Path in the container at which the device appears.',
  },
};
