/** Pods. */
import { qosClass } from '@plat-dev/kinds/core/pods/pod-resources';
import type { Pod, PodSpec } from '@plat-dev/kinds/core/schema/pods/pod';
import type { Toleration } from '@plat-dev/kinds/core/schema/pods/scheduling';
import { domainName } from '@plat-dev/meta/identity';
import { terminating } from './claims.ts';
import { type FieldValue, writeContainers } from './containers.ts';
import type { Describer } from './describer.ts';
import { inOrder } from './order.ts';
import type { Page } from './page.ts';
import { controllerOf, type Described, longTime, type ReadForm } from './values.ts';
import { writeVolumes } from './volumes.ts';

export const describePod: Describer<Pod> = {
  async write(page, pod, { now }) {
    writeHead(page, pod, now);
    writeAllContainers(page, pod);
    writeConditions(page, pod);
    const { spec = {}, status = {} } = pod;
    writeVolumes(page, spec.volumes);
    page.field('QoS Class', status.qosClass || qosClass(withResources(spec)));
    page.labels('Node-Selectors', spec.nodeSelector);
    page.list('Tolerations', tolerationLines(spec.tolerations));
  },
  // Those of any kind; those of a pod that a node made of a file have the UID that the node knows.
  events: ({ metadata }, { kind: _, ...about }, { identity }) => {
    const mirrored = metadata.annotations?.[domainName(identity, 'config.mirror')];
    return [mirrored === undefined ? about : { ...about, uid: mirrored }];
  },
};

function writeHead(page: Page, { metadata, spec = {}, status = {} }: Described<Pod>, now: number): void {
  page.field('Name', metadata.name).field('Namespace', metadata.namespace);
  page.fieldIfSet('Priority', spec.priority).fieldIfSet('Priority Class Name', spec.priorityClassName);
  page.field('Node', spec.nodeName ? `${spec.nodeName}/${status.hostIP ?? ''}` : '<none>');
  if (status.startTime !== undefined) page.field('Start Time', longTime(status.startTime));
  page.labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
  const ending = terminating(metadata.deletionTimestamp, now);
  page.field('Status', ending ?? status.phase);
  if (ending !== undefined) page.field('Termination Grace Period', `${metadata.deletionGracePeriodSeconds ?? 0}s`);
  page.fieldIfSet('Reason', status.reason).fieldIfSet('Message', status.message);
  page.field('IP', status.podIP);
  const addresses = status.podIPs ?? [];
  if (addresses.length === 0) page.field('IPs', '<none>');
  else page.heading('IPs');
  for (const { ip } of addresses) page.at(1).field('IP', ip);
  page.fieldIfSet('Controlled By', controllerOf(metadata)).fieldIfSet('NominatedNodeName', status.nominatedNodeName);
}

function writeAllContainers(page: Page, pod: Described<Pod>): void {
  const { spec = {}, status = {} } = pod;
  const fieldValue = fieldValueOf(pod);
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec;
  if (initContainers.length > 0)
    writeContainers(page, { title: 'Init Containers', containers: initContainers, statuses: status.initContainerStatuses, fieldValue });
  writeContainers(page, { title: 'Containers', containers, statuses: status.containerStatuses, fieldValue });
  if (ephemeralContainers.length > 0)
    writeContainers(page, {
      title: 'Ephemeral Containers',
      containers: ephemeralContainers,
      statuses: status.ephemeralContainerStatuses,
      fieldValue,
    });
}

function writeConditions(page: Page, { spec = {}, status = {} }: Described<Pod>): void {
  const { conditions = [] } = status;
  const { readinessGates = [] } = spec;
  const below = page.at(1);
  if (readinessGates.length > 0) {
    page.heading('Readiness Gates');
    below.line('Type', 'Status');
    for (const { conditionType } of readinessGates) {
      const met = conditions.find(({ type }) => type === conditionType);
      below.line(`${conditionType} `, `${met?.status ?? '<none>'} `);
    }
  }
  if (conditions.length === 0) return;
  page.heading('Conditions');
  below.line('Type', 'Status');
  for (const { type, status: word } of conditions) below.line(`${type} `, `${word} `);
}

/** Containers as the function of the server wants them. */
const withResources = (spec: ReadForm<PodSpec>): PodSpec => {
  const whole = (list: ReadForm<PodSpec>['containers'] = []) =>
    list.map((container) => ({ ...container, resources: container.resources ?? {} }));
  return { containers: whole(spec.containers), initContainers: whole(spec.initContainers) } as unknown as PodSpec;
};

/** Of the fields that variables of a container can have, the stock client shows the values of these. */
const fieldValueOf =
  ({ metadata }: Described<Pod>): FieldValue =>
  (path, apiVersion) =>
    apiVersion !== 'v1'
      ? undefined
      : path === 'metadata.name'
        ? metadata.name
        : path === 'metadata.namespace'
          ? metadata.namespace
          : undefined;

/** `node.example/not-ready:NoExecute op=Exists for 300s` */
export const tolerationLines = (tolerations: readonly ReadForm<Toleration>[] = []): string[] =>
  [...tolerations]
    .sort((a, b) => inOrder(a.key, b.key))
    .map(({ key = '', value = '', effect = '', operator, tolerationSeconds }) => {
      const head = `${key}${value === '' ? '' : `=${value}`}${effect === '' ? '' : `:${effect}`}`;
      const exists = operator === 'Exists' && value === '' ? `${key === '' && effect === '' ? '' : ' '}op=Exists` : '';
      return `${head}${exists}${tolerationSeconds === undefined ? '' : ` for ${tolerationSeconds}s`}`;
    });
