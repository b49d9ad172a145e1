/** The status of containers. */
import { always, bool, type Infer, int32, message, opt, ptr, req, string, time } from '@plat-dev/schema/types';

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
});
export type ContainerStatus = Infer<typeof ContainerStatus>;
