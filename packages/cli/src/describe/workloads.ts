/** Replication controllers, replica sets, deployments, stateful sets and daemon sets. */
import { isDeepStrictEqual } from 'node:util';
import type { DaemonSet } from '@plat-dev/kinds/apps/schema/daemon-set';
import type { Deployment } from '@plat-dev/kinds/apps/schema/deployment';
import type { ReplicaSet } from '@plat-dev/kinds/apps/schema/replica-set';
import type { StatefulSet } from '@plat-dev/kinds/apps/schema/stateful-set';
import type { Pod, PodTemplateSpec } from '@plat-dev/kinds/core/schema/pods/pod';
import type { ReplicationController } from '@plat-dev/kinds/core/schema/replication-controller';
import type { ObjectMeta } from '@plat-dev/kinds/meta';
import { writeClaimTemplates } from './claims.ts';
import { builtIns, type Cluster } from './cluster.ts';
import type { Describer } from './describer.ts';
import { inOrder } from './order.ts';
import type { Page } from './page.ts';
import { writePodTemplate } from './pod-template.ts';
import { controllerOf, type Described, labelsText, longTime, type ReadForm, selectorOrNone, selectorText } from './values.ts';

/** `1 Running / 0 Waiting / 0 Succeeded / 0 Failed`: phases of the pods that an object controls. */
async function podPhases(cluster: Cluster, { namespace = '', uid }: ReadForm<ObjectMeta>, labelSelector: string): Promise<string> {
  const pods = await cluster.list<Pod>(builtIns.pods, namespace, { labelSelector });
  const own = pods.filter(({ metadata }) => metadata.ownerReferences?.find(({ controller }) => controller)?.uid === uid);
  const count = (phase: string): number => own.filter(({ status }) => status?.phase === phase).length;
  return `${count('Running')} Running / ${count('Pending')} Waiting / ${count('Succeeded')} Succeeded / ${count('Failed')} Failed`;
}

type Condition = { readonly type?: string; readonly status?: string; readonly reason?: string };
function writeConditions(page: Page, conditions: readonly Condition[] = []): void {
  if (conditions.length === 0) return;
  const rows = conditions.map(({ type, status, reason }) => [`${type} `, status, reason]);
  page.heading('Conditions').at(1).table(['Type', 'Status', 'Reason'], rows);
}

export const describeReplicationController: Describer<ReplicationController> = {
  async write(page, { metadata, spec = {}, status = {} }, cluster) {
    const phases = await podPhases(cluster, metadata, selectorText({ matchLabels: spec.selector ?? {} }));
    page.field('Name', metadata.name).field('Namespace', metadata.namespace).field('Selector', labelsText(spec.selector));
    page.labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
    page.field('Replicas', `${status.replicas ?? 0} current / ${spec.replicas ?? 0} desired`).field('Pods Status', phases);
    writePodTemplate(page, spec.template);
    writeConditions(page, status.conditions);
  },
};

export const describeReplicaSet: Describer<ReplicaSet> = {
  async write(page, { metadata, spec = {}, status = {} }, cluster) {
    const phases = await podPhases(cluster, metadata, selectorText(spec.selector)).catch(
      (error: Error) => `error in fetching pods: ${error.message}`,
    );
    page.field('Name', metadata.name).field('Namespace', metadata.namespace).field('Selector', selectorOrNone(spec.selector));
    page.labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
    page.fieldIfSet('Controlled By', controllerOf(metadata));
    page.field('Replicas', `${status.replicas ?? 0} current / ${spec.replicas ?? 0} desired`).field('Pods Status', phases);
    writePodTemplate(page, spec.template ?? {});
    writeConditions(page, status.conditions);
  },
};

export const describeStatefulSet: Describer<StatefulSet> = {
  async write(page, { metadata, spec = {}, status = {} }, cluster) {
    const selector = selectorText(spec.selector);
    const phases = await podPhases(cluster, metadata, selector);
    page.field('Name', metadata.name).field('Namespace', metadata.namespace);
    page.field('CreationTimestamp', longTime(metadata.creationTimestamp)).field('Selector', selector);
    page.labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
    page.field('Replicas', `${spec.replicas ?? 0} desired | ${status.replicas ?? 0} total`);
    page.field('Update Strategy', spec.updateStrategy?.type);
    page.at(1).fieldIfSet('Partition', spec.updateStrategy?.rollingUpdate?.partition);
    page.field('Pods Status', phases);
    writePodTemplate(page, spec.template ?? {});
    writeClaimTemplates(page, spec.volumeClaimTemplates);
  },
};

export const describeDaemonSet: Describer<DaemonSet> = {
  async write(page, { metadata, spec = {}, status = {} }, cluster) {
    const selector = selectorText(spec.selector);
    const phases = await podPhases(cluster, metadata, selector);
    page.field('Name', metadata.name).field('Selector', selector);
    page.field('Node-Selector', labelsText(spec.template?.spec?.nodeSelector));
    page.labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
    page.line(`Desired Number of Nodes Scheduled: ${status.desiredNumberScheduled ?? 0}`);
    page.line(`Current Number of Nodes Scheduled: ${status.currentNumberScheduled ?? 0}`);
    page.line(`Number of Nodes Scheduled with Up-to-date Pods: ${status.updatedNumberScheduled ?? 0}`);
    page.line(`Number of Nodes Scheduled with Available Pods: ${status.numberAvailable ?? 0}`);
    page.line(`Number of Nodes Misscheduled: ${status.numberMisscheduled ?? 0}`);
    page.field('Pods Status', phases);
    writePodTemplate(page, spec.template ?? {});
  },
};

// ---- deployments -------------------------------------------------------------------------------------------------

export const describeDeployment: Describer<Deployment> = {
  async write(page, deployment, cluster) {
    const { metadata, spec = {}, status = {} } = deployment;
    const selector = selectorText(spec.selector);
    page.field('Name', metadata.name).field('Namespace', metadata.namespace);
    page.field('CreationTimestamp', longTime(metadata.creationTimestamp));
    page.labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations).field('Selector', selector);
    const counts: readonly (readonly [number | undefined, string])[] = [
      [spec.replicas, 'desired'],
      [status.updatedReplicas, 'updated'],
      [status.replicas, 'total'],
      [status.availableReplicas, 'available'],
      [status.unavailableReplicas, 'unavailable'],
    ];
    page.field('Replicas', counts.map(([count = 0, what]) => `${count} ${what}`).join(' | '));
    page.field('StrategyType', spec.strategy?.type).field('MinReadySeconds', spec.minReadySeconds ?? 0);
    const rolling = spec.strategy?.rollingUpdate;
    if (rolling !== undefined)
      page.field('RollingUpdateStrategy', `${rolling.maxUnavailable ?? '<nil>'} max unavailable, ${rolling.maxSurge ?? '<nil>'} max surge`);
    writePodTemplate(page, spec.template ?? {});
    writeConditions(page, status.conditions);
    // The page is good without them, too.
    const sets = await replicaSetsOf(cluster, deployment, selector).catch(() => undefined);
    if (sets === undefined || (sets.old.length === 0 && sets.current === undefined)) return;
    page.field('OldReplicaSets', setsText(sets.old));
    page.field('NewReplicaSet', setsText(sets.current === undefined ? [] : [sets.current]));
  },
};

/** The replica set with the template of the deployment, and the others that should have pods. */
async function replicaSetsOf(cluster: Cluster, deployment: Described<Deployment>, labelSelector: string) {
  const { namespace = '', uid } = deployment.metadata;
  const all = await cluster.list<ReplicaSet>(builtIns.replicaSets, namespace, { labelSelector });
  const own = all.filter(({ metadata }) => metadata.ownerReferences?.find(({ controller }) => controller)?.uid === uid).sort(byAge);
  const deploymentTemplate = withoutHash(deployment.spec?.template);
  const current = own.find(({ spec }) => isDeepStrictEqual(withoutHash(spec?.template), deploymentTemplate));
  return { current, old: own.filter((set) => set !== current && set.spec?.replicas !== 0) };
}
function byAge({ metadata: a }: Described<ReplicaSet>, { metadata: b }: Described<ReplicaSet>): number {
  return inOrder(a.creationTimestamp, b.creationTimestamp) || inOrder(a.name, b.name);
}
/** Replica sets carry a label with a hash of the template that deployments do not have. */
function withoutHash(template: ReadForm<PodTemplateSpec> = {}): ReadForm<PodTemplateSpec> {
  const { 'pod-template-hash': _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}
const setsText = (sets: readonly Described<ReplicaSet>[]): string =>
  sets
    .map(({ metadata, spec = {}, status = {} }) => `${metadata.name} (${status.replicas ?? 0}/${spec.replicas ?? 0} replicas created)`)
    .join(', ') || '<none>';
