/** Parameters of the operations on pods, nodes and services; clients send them in the query. */
import { always, bool, type Infer, int32, int64, list, object, opt, ptr, string, time } from '@plat-dev/schema/types';

export const PodAttachOptions = object('core.v1.PodAttachOptions', {
  stdin: opt(1, bool),
  stdout: opt(2, bool),
  stderr: opt(3, bool),
  tty: opt(4, bool),
  container: opt(5, string),
});
export type PodAttachOptions = Infer<typeof PodAttachOptions>;

export const PodExecOptions = object('core.v1.PodExecOptions', {
  stdin: opt(1, bool),
  stdout: opt(2, bool),
  stderr: opt(3, bool),
  tty: opt(4, bool),
  container: opt(5, string),
  command: always(6, list(string)),
});
export type PodExecOptions = Infer<typeof PodExecOptions>;

export const PodLogOptions = object('core.v1.PodLogOptions', {
  container: opt(1, string),
  follow: opt(2, bool),
  previous: opt(3, bool),
  sinceSeconds: ptr(4, int64),
  sinceTime: ptr(5, time),
  timestamps: opt(6, bool),
  tailLines: ptr(7, int64),
  limitBytes: ptr(8, int64),
  insecureSkipTLSVerifyBackend: opt(9, bool),
  stream: ptr(10, string, { since: '1.32' }),
});
export type PodLogOptions = Infer<typeof PodLogOptions>;

export const PodPortForwardOptions = object('core.v1.PodPortForwardOptions', {
  ports: opt(1, list(int32)),
});
export type PodPortForwardOptions = Infer<typeof PodPortForwardOptions>;

export const PodProxyOptions = object('core.v1.PodProxyOptions', {
  path: opt(1, string),
});
export type PodProxyOptions = Infer<typeof PodProxyOptions>;

export const NodeProxyOptions = object('core.v1.NodeProxyOptions', {
  path: opt(1, string),
});
export type NodeProxyOptions = Infer<typeof NodeProxyOptions>;

export const ServiceProxyOptions = object('core.v1.ServiceProxyOptions', {
  path: opt(1, string),
});
export type ServiceProxyOptions = Infer<typeof ServiceProxyOptions>;
