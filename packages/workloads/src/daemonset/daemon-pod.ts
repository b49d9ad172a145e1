/** The pod of a daemon set on a node: it tolerates what the state of a node does, and its affinity names the node. */
import { templateGeneration } from '@plat-dev/kinds/apps/daemon-set';
import type { DaemonSet } from '@plat-dev/kinds/apps/schema/daemon-set';
import type { Toleration } from '@plat-dev/kinds/core/schema/pods/scheduling';
import type { Part, Wire } from '@plat-dev/kinds/wire';
import { domainName, type Identity } from '@plat-dev/meta/identity';
import { revisionLabel } from '../revisions/revision.ts';
import type { About } from '../shared/events.ts';
import { podFrom, type Template } from '../shared/pod-control.ts';
import type { WorkloadPod } from '../shared/pods.ts';

export type DaemonSetObject = Wire<DaemonSet>;
type Tolerations = Part<Toleration>[];

export const aboutSet = ({ metadata }: DaemonSetObject): About => ({ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata });
export const templateOf = ({ spec }: DaemonSetObject): Template => spec?.template ?? ({} as Template);

/** The label that counted the changes of the template before there were revisions. */
const generationLabel = 'pod-template-generation';
const generationOf = ({ metadata }: DaemonSetObject): string | undefined => metadata.annotations?.[templateGeneration];

/** Taints that pods of daemon sets tolerate, by name and effect. */
const tolerated: readonly (readonly [string, string])[] = [
  ['not-ready', 'NoExecute'],
  ['unreachable', 'NoExecute'],
  ['disk-pressure', 'NoSchedule'],
  ['memory-pressure', 'NoSchedule'],
  ['pid-pressure', 'NoSchedule'],
  ['unschedulable', 'NoSchedule'],
];
const toleratedByHostNetwork = ['network-unavailable', 'NoSchedule'] as const;

/** The tolerations of a template with those that the pods of daemon sets have. */
export function daemonTolerations({ spec }: Template, identity: Identity): Tolerations {
  const tolerations: Tolerations = [...(spec?.tolerations ?? [])];
  for (const [name, effect] of spec?.hostNetwork === true ? [...tolerated, toleratedByHostNetwork] : tolerated) {
    const toleration = { key: domainName(identity, name, 'node'), operator: 'Exists', effect };
    const at = tolerations.findIndex(
      ({ key, operator, effect: tolerated, value = '' }) =>
        key === toleration.key && operator === toleration.operator && tolerated === effect && value === '',
    );
    if (at < 0) tolerations.push(toleration);
    else tolerations[at] = toleration;
  }
  return tolerations;
}

/** The pod on a node. `tolerations` are those of the template with the others. */
export function daemonPod(set: DaemonSetObject, node: string, hash: string, tolerations: Tolerations): WorkloadPod {
  const pod = podFrom(templateOf(set), aboutSet(set));
  const generation = generationOf(set);
  const { affinity } = pod.spec ?? {};
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { ...pod.metadata.labels, ...(generation !== undefined && { [generationLabel]: generation }), [revisionLabel]: hash },
    },
    spec: {
      ...pod.spec,
      tolerations,
      affinity: {
        ...affinity,
        nodeAffinity: { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: only(node) },
      },
    },
  } as WorkloadPod;
}
const only = (node: string) => ({ nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }] });

/** The node that a pod of a daemon set runs on or is made for; empty for a pod that names none. */
export function nodeOf({ spec }: WorkloadPod): string {
  const { nodeName = '', affinity } = spec ?? {};
  if (nodeName !== '') return nodeName;
  for (const { matchFields } of affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [])
    for (const { key, operator, values } of matchFields ?? [])
      if (key === 'metadata.name' && operator === 'In' && values?.length === 1) return values[0] ?? '';
  return '';
}

/** Whether a pod is of the newest template, by the hash of its revision or by the older count. */
export function isUpdated({ metadata }: WorkloadPod, set: DaemonSetObject, hash: string): boolean {
  const { labels } = metadata;
  const generation = generationOf(set);
  return labels?.[revisionLabel] === hash || (generation !== undefined && labels?.[generationLabel] === generation);
}
