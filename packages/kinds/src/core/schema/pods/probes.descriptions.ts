import type { Descriptions } from '../../../description-texts.ts';

const port = 'Port to connect to, by number from 1 to 65535 or by the name of a container port.';

export const probes: Descriptions = {
  'core.Probe': {
    $: 'A periodic check of a container: what is done, how often, and how many results count.',
    exec: 'Run a command in the container; it succeeds with exit code 0.',
    httpGet: 'Send an HTTP GET request; it succeeds with a status from 200 to 399.',
    tcpSocket: 'Open a TCP connection; it succeeds if the port accepts it.',
    grpc: 'Call the gRPC health checking service; it succeeds if the status is SERVING.',
    initialDelaySeconds: 'Seconds after the start of the container before the first check. Defaults to 0.',
    timeoutSeconds: 'Seconds after which a check without an answer has failed. Defaults to 1, which is the least.',
    periodSeconds: 'Seconds between two checks. Defaults to 10; the least is 1.',
    successThreshold:
      'Successes in a row after a failure before the check counts as passed. Defaults to 1, and must be 1 for liveness and startup.',
    failureThreshold: 'Failures in a row after a success before the check counts as failed. Defaults to 3; the least is 1.',
    terminationGracePeriodSeconds:
      'Seconds that the container has to stop after this check failed, instead of those of the pod. Must be at least 1; not allowed for readiness.',
  },
  'core.Lifecycle': {
    $: 'Actions at the start and at the end of a container.',
    postStart:
      'Action right after the container was created, in parallel with its own process. If it fails, the container is killed, and restartPolicy decides about a restart.',
    preStop:
      'Action before the container is stopped by the cluster, not when it ends by itself. It counts against the grace period of the pod.',
    stopSignal: 'Signal that stops the container, such as SIGTERM. Needs spec.os.name. Defaults to that of the image or of the runtime.',
  },
  'core.LifecycleHandler': {
    $: 'An action of a lifecycle hook; exactly one is set.',
    exec: 'Command to run in the container.',
    httpGet: 'HTTP GET request to send.',
    tcpSocket: 'Deprecated: not supported as an action and fails when it runs.',
    sleep: 'Time to wait.',
  },
  'core.SleepAction': { $: 'A time to wait.', seconds: 'Seconds to wait, at most the grace period of the pod.' },
  'core.ExecAction': {
    $: 'A command that is run in the container.',
    command: 'Executable and arguments, run in the root directory of the container. No shell interprets them; exit code 0 is success.',
  },
  'core.HTTPGetAction': {
    $: 'An HTTP GET request.',
    path: 'Path of the URL to request. Defaults to /.',
    port,
    host: 'Host to connect to. Defaults to the IP address of the pod; use a Host header to name a virtual host.',
    scheme: 'HTTP or HTTPS, whose certificate is not verified. Defaults to HTTP.',
    httpHeaders: 'Headers to set in the request; a name may be repeated.',
  },
  'core.HTTPHeader': {
    $: 'A header of an HTTP request.',
    name: 'Header field name, such as Accept.',
    value: 'Text of the header field.',
  },
  'core.TCPSocketAction': {
    $: 'A TCP connection that is opened and closed again.',
    port,
    host: 'Host to connect to. Defaults to the IP address of the pod.',
  },
  'core.GRPCAction': {
    $: 'A call of the gRPC health checking protocol.',
    port: 'Port of the gRPC service, from 1 to 65535.',
    service: 'Service name to put into the HealthCheckRequest. Without it the health of the whole server is requested.',
  },
};
