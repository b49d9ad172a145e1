/** Containers of pods and pod templates. */

import type { ContainerState, ContainerStatus } from '@plat-dev/kinds/core/schema/pods/container-status';
import type { Container, EnvVar } from '@plat-dev/kinds/core/schema/pods/containers';
import type { Probe } from '@plat-dev/kinds/core/schema/pods/probes';
import { own } from '@plat-dev/lib/own';
import { containerAmount } from './amounts.ts';
import { inOrder } from './order.ts';
import type { Page } from './page.ts';
import { bracketed, longTime, orNone, type ReadForm, yesNo } from './values.ts';

/** What a container's variable gets from a field of its pod; undefined in templates, where no pod is known. */
export type FieldValue = ((path: string, apiVersion: string) => string | undefined) | undefined;

export interface ContainerList {
  readonly title: string;
  readonly containers: readonly ReadForm<Container>[];
  readonly statuses?: readonly ReadForm<ContainerStatus>[];
  readonly fieldValue?: FieldValue;
  /** Two spaces in a pod template: title and names are written further to the right. */
  readonly space?: string;
}

export function writeContainers(page: Page, { title, containers, statuses = [], fieldValue, space = '' }: ContainerList): void {
  page.line(`${space}${title}:${containers.length === 0 ? ' <none>' : ''}`);
  for (const container of containers) {
    const status = statuses.findLast(({ name }) => name === container.name);
    page.at(1).heading(`${space === '' ? '' : ' '}${container.name ?? ''}`);
    const fields = page.at(2);
    writeImage(fields, container, status);
    writeLines(fields, 'Command', container.command);
    writeLines(fields, 'Args', container.args);
    if (status !== undefined) writeStatus(fields, status);
    writeAmounts(fields, 'Limits', container.resources?.limits);
    writeAmounts(fields, 'Requests', container.resources?.requests);
    writeProbes(fields, container);
    writeEnvironment(fields, container, fieldValue);
    writeMounts(fields, container);
  }
}

function writeImage(page: Page, { image, ports = [] }: ReadForm<Container>, status: ReadForm<ContainerStatus> | undefined): void {
  if (status !== undefined) page.field('Container ID', status.containerID);
  page.field('Image', image);
  if (status !== undefined) page.field('Image ID', status.imageID);
  writePorts(
    page,
    'Port',
    ports.map(({ containerPort = 0, protocol = '' }) => `${containerPort}/${protocol}`),
  );
  writePorts(
    page,
    'Host Port',
    ports.map(({ hostPort = 0, protocol = '' }) => `${hostPort}/${protocol}`),
  );
}
const writePorts = (page: Page, label: string, ports: readonly string[]): Page =>
  page.field(ports.length > 1 ? `${label}s` : label, orNone(ports.join(', ')));

function writeLines(page: Page, label: string, values: readonly string[] = []): void {
  if (values.length > 0) page.heading(label);
  for (const value of values) for (const line of value.split('\n')) page.at(1).line(line);
}

function writeStatus(page: Page, { state = {}, lastState, ready, restartCount = 0 }: ReadForm<ContainerStatus>): void {
  writeState(page, 'State', state);
  if (lastState?.terminated !== undefined) writeState(page, 'Last State', lastState);
  page.field('Ready', yesNo(ready)).field('Restart Count', restartCount);
}
function writeState(page: Page, label: string, { running, waiting, terminated }: ReadForm<ContainerState>): void {
  const below = page.at(1);
  if (running !== undefined) {
    page.field(label, 'Running');
    below.field('Started', longTime(running.startedAt));
  } else if (terminated !== undefined && waiting === undefined) {
    page.field(label, 'Terminated');
    below
      .fieldIfSet('Reason', terminated.reason)
      .fieldIfSet('Message', terminated.message)
      .field('Exit Code', terminated.exitCode ?? 0);
    if ((terminated.signal ?? 0) > 0) below.field('Signal', terminated.signal);
    below.field('Started', longTime(terminated.startedAt)).field('Finished', longTime(terminated.finishedAt));
  } else {
    page.field(label, 'Waiting');
    below.fieldIfSet('Reason', waiting?.reason);
  }
}

function writeAmounts(page: Page, label: string, amounts: Readonly<Record<string, string>> = {}): void {
  const names = Object.keys(amounts).sort();
  if (names.length > 0) page.heading(label);
  for (const name of names) page.at(1).field(name, own(amounts, name));
}

// ---- probes ------------------------------------------------------------------------------------------------------

function writeProbes(page: Page, { livenessProbe, readinessProbe, startupProbe }: ReadForm<Container>): void {
  if (livenessProbe !== undefined) page.field('Liveness', probeText(livenessProbe));
  if (readinessProbe !== undefined) page.field('Readiness', probeText(readinessProbe));
  if (startupProbe !== undefined) page.field('Startup', probeText(startupProbe));
}
export function probeText(probe: ReadForm<Probe>): string {
  const { initialDelaySeconds = 0, timeoutSeconds = 0, periodSeconds = 0, successThreshold = 0, failureThreshold = 0 } = probe;
  const times = `delay=${initialDelaySeconds}s timeout=${timeoutSeconds}s period=${periodSeconds}s`;
  return `${probeTarget(probe)} ${times} #success=${successThreshold} #failure=${failureThreshold}`;
}
function probeTarget({ exec, httpGet, tcpSocket, grpc }: ReadForm<Probe>): string {
  if (exec !== undefined) return `exec ${bracketed(exec.command)}`;
  if (httpGet !== undefined) {
    const { scheme = '', host = '', port = 0, path = '' } = httpGet;
    const address = `${/[:%]/.test(host) ? `[${host}]` : host}:${port}`;
    return `http-get ${scheme.toLowerCase()}://${address}${path === '' || path.startsWith('/') ? '' : '/'}${escapedPath(path)}`;
  }
  if (tcpSocket !== undefined) return `tcp-socket ${tcpSocket.host ?? ''}:${tcpSocket.port ?? 0}`;
  if (grpc !== undefined) return `grpc <pod>:${grpc.port ?? 0} ${grpc.service ?? ''}`;
  return 'unknown';
}
/** As the stock client escapes it: of the reserved characters only `?`, `#`, brackets and some more. */
const escapedPath = (path: string): string =>
  encodeURI(path).replace(/[?#!'()*[\]]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

// ---- environment -------------------------------------------------------------------------------------------------

function writeEnvironment(page: Page, container: ReadForm<Container>, fieldValue: FieldValue): void {
  const { env = [], envFrom = [] } = container;
  const below = page.at(1);
  if (envFrom.length > 0) page.heading('Environment Variables from');
  for (const { configMapRef, secretRef, prefix = '' } of envFrom) {
    const kind = configMapRef !== undefined ? 'ConfigMap' : secretRef !== undefined ? 'Secret' : '';
    const source = configMapRef ?? secretRef;
    const from = prefix === '' ? kind : `${kind} with prefix '${prefix}'`;
    below.line(source?.name, from, `Optional: ${source?.optional === true}`);
  }
  page.line(...(env.length === 0 ? ['Environment:', '<none>'] : ['Environment:']));
  for (const variable of env) writeVariable(below, variable, container, fieldValue);
}

function writeVariable(
  page: Page,
  { name, value = '', valueFrom }: ReadForm<EnvVar>,
  container: ReadForm<Container>,
  fieldValue: FieldValue,
): void {
  if (valueFrom === undefined) {
    value.split('\n').forEach((line, i) => {
      page.line(i === 0 ? `${name}:` : '', line);
    });
    return;
  }
  const { fieldRef, resourceFieldRef, secretKeyRef, configMapKeyRef } = valueFrom;
  if (fieldRef !== undefined) {
    const { apiVersion = '', fieldPath = '' } = fieldRef;
    page.field(name ?? '', `${fieldValue?.(fieldPath, apiVersion) ?? ''} (${apiVersion}:${fieldPath})`);
  } else if (resourceFieldRef !== undefined) {
    const { resource = '', divisor } = resourceFieldRef;
    const amount = containerAmount(container, resource, divisor);
    const unlimited = amount === '0' && (resource === 'limits.cpu' || resource === 'limits.memory');
    page.field(name ?? '', `${unlimited ? 'node allocatable' : amount} (${resource})`);
  } else if (secretKeyRef !== undefined) {
    page.line(
      `${name}:`,
      `<set to the key '${secretKeyRef.key}' in secret '${secretKeyRef.name}'>`,
      `Optional: ${secretKeyRef.optional === true}`,
    );
  } else if (configMapKeyRef !== undefined) {
    const { key, name: map, optional } = configMapKeyRef;
    page.line(`${name}:`, `<set to the key '${key}' of config map '${map}'>`, `Optional: ${optional === true}`);
  }
}

// ---- volumes -----------------------------------------------------------------------------------------------------

function writeMounts(page: Page, { volumeMounts = [], volumeDevices = [] }: ReadForm<Container>): void {
  const none = volumeMounts.length === 0 ? ['<none>'] : [];
  page.line('Mounts:', ...none);
  for (const { mountPath, name, readOnly, subPath } of [...volumeMounts].sort((a, b) => inOrder(a.mountPath, b.mountPath))) {
    const how = [readOnly ? 'ro' : 'rw', ...(subPath ? [`path=${JSON.stringify(subPath)}`] : [])];
    page.at(1).line(`${mountPath} from ${name} (${how.join(',')})`);
  }
  if (volumeDevices.length === 0) return;
  // The stock client says that there are none where there are no mounts, and lists the devices below.
  page.line('Devices:', ...none);
  for (const { devicePath, name } of [...volumeDevices].sort((a, b) => inOrder(a.devicePath, b.devicePath)))
    page.at(1).line(`${devicePath} from ${name}`);
}
