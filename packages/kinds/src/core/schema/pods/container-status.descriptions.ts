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
