/**
 * On which ports something in a pod listens. Ports that containers or their probes name are all there are; where none is named, web
 * servers have theirs, simulated commands have none, and what is not known may listen anywhere.
 */
import type { WorkloadPod } from '../shared/pods.ts';
import { argvOf, type Container, commandOf } from './container-command.ts';
import { type DiskWorld, environmentAtStart } from './disks.ts';
import { documentRootOf } from './images.ts';
import { containersOf, processOfCommand, workOf } from './lifecycle/process.ts';

const WEB_PORT = 80;

export function listens(pod: WorkloadPod, port: number, world: DiskWorld): boolean {
  const isRunning = ({ name }: Container): boolean =>
    pod.status?.containerStatuses?.some((status) => status.name === name && status.state?.running != null) === true;
  const running = (pod.spec?.containers ?? []).filter(isRunning);
  const named = new Set(running.flatMap(namedPorts));
  return named.size > 0 ? named.has(port) : running.some((container) => mayListen(pod, container, port, world));
}

function namedPorts({ ports, readinessProbe, livenessProbe, startupProbe }: Container): number[] {
  const declared = (ports ?? []).filter(({ protocol }) => (protocol ?? 'TCP') === 'TCP').map(({ containerPort }) => containerPort);
  const probed = [readinessProbe, livenessProbe, startupProbe].flatMap((probe) => {
    const port = probe?.httpGet?.port ?? probe?.tcpSocket?.port ?? probe?.grpc?.port;
    return typeof port === 'number' ? [port] : [];
  });
  return [...declared, ...probed];
}

function mayListen(pod: WorkloadPod, container: Container, port: number, world: DiskWorld): boolean {
  if (argvOf(container).length === 0) return documentRootOf(container.image ?? '') === undefined || port === WEB_PORT;
  const environment = environmentAtStart(pod, container, world);
  const work = workOf(containersOf(pod));
  return processOfCommand(commandOf(container, environment.variables), environment, { work }) === undefined;
}
