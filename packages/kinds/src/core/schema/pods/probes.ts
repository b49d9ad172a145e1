/** Probes and life-cycle hooks of a container. */
import { always, type Infer, inline, int32, int64, intOrString, list, message, opt, ptr, req, string } from '@plat-dev/schema/types';

const ExecAction = message('core.v1.ExecAction', {
  command: opt(1, list(string)),
});

const GRPCAction = message('core.v1.GRPCAction', {
  port: req(1, int32),
  service: always(2, string, { nullable: true }),
});

const HTTPHeader = message('core.v1.HTTPHeader', {
  name: req(1, string),
  value: req(2, string),
});

export const HTTPGetAction = message('core.v1.HTTPGetAction', {
  path: opt(1, string),
  port: req(2, intOrString),
  host: opt(3, string),
  scheme: opt(4, string, { enum: ['HTTP', 'HTTPS'] }),
  httpHeaders: opt(5, list(HTTPHeader)),
});
export type HTTPGetAction = Infer<typeof HTTPGetAction>;

const TCPSocketAction = message('core.v1.TCPSocketAction', {
  port: req(1, intOrString),
  host: opt(2, string),
});

const ProbeHandler = message('core.v1.ProbeHandler', {
  exec: ptr(1, ExecAction),
  httpGet: ptr(2, HTTPGetAction),
  tcpSocket: ptr(3, TCPSocketAction),
  grpc: ptr(4, GRPCAction, { gate: 'GRPCContainerProbe' }),
});

export const Probe = message('core.v1.Probe', {
  handler: inline(1, ProbeHandler),
  initialDelaySeconds: opt(2, int32),
  timeoutSeconds: opt(3, int32),
  periodSeconds: opt(4, int32),
  successThreshold: opt(5, int32),
  failureThreshold: opt(6, int32),
  terminationGracePeriodSeconds: ptr(7, int64, { gate: { name: 'ProbeTerminationGracePeriod', notIn: ['readinessProbe'] } }),
});
export type Probe = Infer<typeof Probe>;

const SleepAction = message('core.v1.SleepAction', {
  seconds: req(1, int64),
});

export const LifecycleHandler = message('core.v1.LifecycleHandler', {
  exec: ptr(1, ExecAction),
  httpGet: ptr(2, HTTPGetAction),
  tcpSocket: ptr(3, TCPSocketAction),
  sleep: ptr(4, SleepAction, { since: '1.29', gate: { name: 'PodLifecycleSleepAction', withMessage: true } }),
});
export type LifecycleHandler = Infer<typeof LifecycleHandler>;

export const Lifecycle = message('core.v1.Lifecycle', {
  postStart: ptr(1, LifecycleHandler),
  preStop: ptr(2, LifecycleHandler),
  stopSignal: ptr(3, string, { since: '1.33', gate: { name: 'ContainerStopSignals', withMessage: true } }),
});
export type Lifecycle = Infer<typeof Lifecycle>;
