/** The status of containers. */
import { always, bool, type Infer, int32, int64, list, map, message, opt, ptr, quantity, req, string, time } from '@plat-dev/schema/types';
import { ResourceRequirements } from '../resources.ts';

const ContainerStateRunning = message('core.v1.ContainerStateRunning', {
  startedAt: always(1, time),
});

export const ContainerStateTerminated = message('core.v1.ContainerStateTerminated', {
  exitCode: req(1, int32),
  signal: opt(2, int32),
  reason: opt(3, string),
  message: opt(4, string),
  startedAt: always(5, time),
  finishedAt: always(6, time),
  containerID: opt(7, string),
});
export type ContainerStateTerminated = Infer<typeof ContainerStateTerminated>;

const ContainerStateWaiting = message('core.v1.ContainerStateWaiting', {
  reason: opt(1, string),
  message: opt(2, string),
});

export const ContainerState = message('core.v1.ContainerState', {
  waiting: ptr(1, ContainerStateWaiting),
  running: ptr(2, ContainerStateRunning),
  terminated: ptr(3, ContainerStateTerminated),
});
export type ContainerState = Infer<typeof ContainerState>;

const ImageVolumeStatus = message('core.v1.ImageVolumeStatus', {
  imageRef: opt(1, string, { required: true }),
});

const VolumeStatus = message('core.v1.VolumeStatus', {
  image: ptr(1, ImageVolumeStatus, { gate: 'ImageVolumeWithDigest' }),
});

const VolumeMountStatus = message('core.v1.VolumeMountStatus', {
  name: req(1, string),
  mountPath: req(2, string),
  readOnly: opt(3, bool),
  recursiveReadOnly: ptr(4, string),
  volumeStatus: ptr(5, VolumeStatus, { since: '1.36', gate: 'ImageVolumeWithDigest' }),
});

const LinuxContainerUser = message('core.v1.LinuxContainerUser', {
  uid: req(1, int64),
  gid: req(2, int64),
  supplementalGroups: opt(3, list(int64)),
});

const ContainerUser = message('core.v1.ContainerUser', {
  linux: ptr(1, LinuxContainerUser),
});

const ResourceHealth = message('core.v1.ResourceHealth', {
  resourceID: req(1, string),
  health: opt(2, string),
  message: ptr(6, string, { since: '1.36', gate: 'ResourceHealthStatusMessage' }),
});

const ResourceStatus = message('core.v1.ResourceStatus', {
  name: req(1, string),
  resources: opt(2, list(ResourceHealth, 'map', ['resourceID'])),
});

export const ContainerStatus = message('core.v1.ContainerStatus', {
  name: req(1, string),
  state: always(2, ContainerState),
  lastState: always(3, ContainerState),
  ready: req(4, bool),
  restartCount: req(5, int32),
  image: req(6, string),
  imageID: req(7, string),
  containerID: opt(8, string),
  started: ptr(9, bool),
  allocatedResources: opt(10, map(quantity), {
    since: '1.27',
    gate: 'InPlacePodVerticalScaling',
    from: { '1.32': { gate: 'InPlacePodVerticalScalingAllocatedStatus' }, '1.33': { gate: 'InPlacePodVerticalScaling' } },
  }),
  resources: ptr(11, ResourceRequirements, { since: '1.27', gate: 'InPlacePodVerticalScaling' }),
  volumeMounts: opt(12, list(VolumeMountStatus, 'map', ['mountPath']), {
    patch: 'merge',
    mergeKey: 'mountPath',
    since: '1.30',
    gate: 'RecursiveReadOnlyMounts',
  }),
  user: ptr(13, ContainerUser, { since: '1.31', gate: 'SupplementalGroupsPolicy' }),
  allocatedResourcesStatus: opt(14, list(ResourceStatus, 'map', ['name']), {
    patch: 'merge',
    mergeKey: 'name',
    since: '1.31',
    gate: 'ResourceHealthStatus',
  }),
  stopSignal: ptr(15, string, { since: '1.33' }),
});
export type ContainerStatus = Infer<typeof ContainerStatus>;
