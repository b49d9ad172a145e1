import type { Descriptions } from '../../../description-texts.ts';

const streams = {
  container: 'Container to address by name. Defaults to the only container of the pod, and is required if there are several.',
  stdin: 'Pass the standard input of the client on to the process. Defaults to false.',
  stdout: 'Send the standard output of the process to the client.',
  stderr: 'Send the standard error of the process to the client.',
  tty: 'Connect through a terminal, in which standard error is part of standard output. Defaults to false.',
};
const path = 'Path and query to request from the proxied server, such as /metrics. Without it the root is requested.';

/** Parameters of queries; the kinds themselves are published nowhere. */
export const podOptions: Descriptions = {
  'core.PodAttachOptions': { ...streams, tty: 'Connect through the terminal of the container, if it has one. Defaults to false.' },
  'core.PodExecOptions': {
    ...streams,
    command: 'Executable and arguments to run, each as a parameter of its own. No shell interprets them.',
  },
  'core.PodPortForwardOptions': { ports: 'Ports of the pod to forward to. Required for connections over WebSocket.' },
  'core.PodProxyOptions': { path },
  'core.NodeProxyOptions': { path },
  'core.ServiceProxyOptions': { path },
  'core.PodLogOptions': {
    container: 'Container to read the log of. Defaults to the only container of the pod, and is required if there are several.',
    follow: 'Keep the response open and send further log lines of the container. Defaults to false.',
    previous: 'Read the log of the container before its last restart. Defaults to false.',
    sinceSeconds: 'Only lines that were logged in this many last seconds. Must be positive, and excludes sinceTime.',
    sinceTime: 'Only lines that were logged since this time, in the form of RFC 3339. Excludes sinceSeconds.',
    timestamps: 'Put the time at which it was logged before every line, in the form of RFC 3339. Defaults to false.',
    tailLines: 'Number of lines from the end to begin with. Without it everything is sent, or everything since the given time.',
    limitBytes: 'Number of bytes after which the answer ends, possibly within a line. Must be positive; there is no limit by default.',
    stream: 'Which output to read: Stdout, Stderr or All, which is the default. A single one excludes tailLines.',
    insecureSkipTLSVerifyBackend: 'Do not verify the serving certificate of the node agent that the log comes from. Defaults to false.',
  },
};
