/**
 * On which ports something in a pod listens. Ports that containers or their probes name are all there are; where none is named, web
 * servers have theirs, simulated commands have none, and what is not known may listen anywhere.
 */
import type { Work } from '@plat-dev/lib/slices';
import type { WorkloadPod } from '../shared/pods.ts';
import { argvOf, type Container, commandOf } from './container-command.ts';
import { type DiskWorld, environmentAtStart } from './disks.ts';
import { documentRootOf } from './images.ts';
import { containersOf, processOfCommand, workOf } from './lifecycle/process.ts';

const WEB_PORT = 80;

export function* listening(pod: WorkloadPod, world: DiskWorld): Work<(port: number) => boolean> {
  const isRunning = ({ name }: Container): boolean =>
    pod.status?.containerStatuses?.some((status) => status.name === name && status.state?.running != null) === true;
  const running = (pod.spec?.containers ?? []).filter(isRunning);
  const portNumbers = new Set(running.flatMap(namedPorts));
  if (portNumbers.size > 0) return (port) => portNumbers.has(port);
  let isWebServer = false;
  for (const container of running) {
    if (argvOf(container).length === 0 && documentRootOf(container.image ?? '') !== undefined) isWebServer = true;
    else if (yield* isUnknown(pod, container, world)) return () => true;
  }
  return (port) => isWebServer && port === WEB_PORT;
}

function namedPorts({ ports, readinessProbe, livenessProbe, startupProbe }: Container): number[] {
  const declared = (ports ?? []).filter(({ protocol }) => (protocol ?? 'TCP') === 'TCP').map(({ containerPort }) => containerPort);
  const probed = [readinessProbe, livenessProbe, startupProbe].flatMap((probe) => {
    const port = probe?.httpGet?.port ?? probe?.tcpSocket?.port ?? probe?.grpc?.port;
    return typeof port === 'number' ? [port] : [];
  });
  return [...declared, ...probed];
}

/** Whether it is not known what a container runs. */
function* isUnknown(pod: WorkloadPod, container: Container, world: DiskWorld): Work<boolean> {
  if (argvOf(container).length === 0) return true;
  const environment = environmentAtStart(pod, container, world);
  const work = workOf(containersOf(pod));
  return (yield* processOfCommand(commandOf(container, environment.variables), environment, { work })) === undefined;
}
