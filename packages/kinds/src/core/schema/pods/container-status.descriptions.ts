import type { Descriptions } from '../../../description-texts.ts';

const containerID = 'ID of the container in its runtime, in the form type://id.';

export const containerStatus: Descriptions = {
  'core.ContainerStatus': {
    $: 'The observed state of one container.',
    name: 'Name of the container that the status is about.',
    state: 'Present state: waiting, running or terminated.',
    lastState: 'State before the last restart, with the reason of the restart.',
    ready: 'Whether the container passes its readiness probe. Services send traffic only to pods whose containers are all ready.',
    restartCount:
      'How often the container was restarted. The count is kept from the containers on the node and may be too low after cleanup.',
    image: 'Image that the container runs. It may differ from the spec, where the runtime resolved it.',
    imageID: 'ID of the image in the runtime, usually with its digest.',
    containerID,
    started: 'Whether the startup probe has passed, or there is none and the container runs. False again after a restart.',
    allocatedResources: 'Resources that the node has set aside for the container. They follow the requests once a resize is admitted.',
    resources: 'Requests and limits that the running container has, as far as the node knows.',
    volumeMounts: 'State of the volumes that are mounted into the container.',
    user: 'Identity with which the first process of the container was started.',
    allocatedResourcesStatus: 'Health of the devices that are allocated to the container.',
    stopSignal: 'Signal that stops the container, as the runtime reports it.',
  },
  'core.VolumeMountStatus': {
    $: 'The observed state of a mounted volume.',
    name: 'Name of the mounted volume.',
    mountPath: 'Path of the mount in the container.',
    readOnly: 'Whether the mount is read-only.',
    recursiveReadOnly: 'Whether mounts inside are read-only too: Enabled or Disabled; unset for a mount that is not read-only.',
    volumeStatus: 'What is known of the volume itself.',
  },
  'core.VolumeStatus': { $: 'What is known of a mounted volume, by its source.', image: 'State of the image that the volume holds.' },
  'core.ImageVolumeStatus': {
    $: 'State of a volume that holds an image.',
    imageRef: 'Reference, with its digest, of the image that was mounted.',
  },
  'core.ContainerUser': { $: 'Identity of the first process of a container.', linux: 'User and groups of a process on Linux.' },
  'core.LinuxContainerUser': {
    $: 'User and groups of the first process of a container on Linux.',
    uid: 'User ID that the process was started with.',
    gid: 'Primary group ID that the process was started with.',
    supplementalGroups: 'Additional group IDs that the process was started with.',
  },
  'core.ResourceStatus': {
    $: 'Health of the devices of one resource.',
    name: 'Name of the resource, or claim:NAME/REQUEST for a claimed one. It must be among the resources of the container.',
    resources: 'Health of each device of the resource.',
  },
  'core.ResourceHealth': {
    $: 'Health of one device.',
    resourceID: 'Identifier of the device, unique among those of the node.',
    health: 'Healthy, Unhealthy or Unknown. Devices that report nothing are Unknown.',
    message: 'Why the device has this health, for people to read.',
  },
  'core.ContainerState': {
    $: 'State of a container; one of the three is set, and waiting is assumed if none is.',
    waiting: 'The container has not started yet: the image is pulled, or a restart is delayed.',
    running: 'The container runs.',
    terminated: 'The container ran and terminated, with success or not.',
  },
  'core.ContainerStateWaiting': {
    $: 'Details of a container that has not started.',
    reason: 'Why it waits, in one word, such as ContainerCreating or CrashLoopBackOff.',
    message: 'Why it waits, for people to read.',
  },
  'core.ContainerStateRunning': { $: 'Details of a running container.', startedAt: 'When the container was last started.' },
  'core.ContainerStateTerminated': {
    $: 'Details of a terminated container.',
    exitCode: 'Exit code of its last process; 0 means success.',
    signal: 'Signal that terminated it, if one did.',
    reason: 'Why it terminated, in one word, such as Completed, Error or OOMKilled.',
    message: 'Termination message that the container left behind.',
    startedAt: 'When this run of the container started.',
    finishedAt: 'When this run of the container terminated.',
    containerID,
  },
};
