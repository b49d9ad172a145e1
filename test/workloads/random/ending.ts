/** What the system has to be in the end: as the specs ask, with nothing left over. */
import { jsonText } from '../../../packages/lib/src/json-text.ts';
import type { TestServer } from '../../../packages/testing/src/test-server.ts';
import { controllerOf, isActive, isOver, isReady, type Loose, type Plural, paths, type Recorder } from './recorder.ts';
import { NAMESPACE } from './world.ts';

const owners: Readonly<Record<string, Plural>> = {
  ...{ ReplicaSet: 'replicasets', StatefulSet: 'statefulsets', DaemonSet: 'daemonsets', Deployment: 'deployments' },
  ...{ Job: 'jobs', CronJob: 'cronjobs', ReplicationController: 'replicationcontrollers' },
};
const nameOf = ({ metadata }: Loose): string => metadata.name;
const isMine = ({ metadata }: Loose): boolean => metadata.namespace === NAMESPACE;

/** Throws where an object is not as its spec asks. */
export function checkEnd(recorder: Recorder): void {
  const wrong: string[] = [];
  const all = (plural: Plural): Loose[] => [...recorder.all(plural)].filter(isMine);
  const want = (what: string, is: unknown, wanted: unknown): void => {
    if (JSON.stringify(is) !== JSON.stringify(wanted)) wrong.push(`${what}: ${jsonText(is)} instead of ${jsonText(wanted)}`);
  };
  const podsOf = (owner: Loose): Loose[] => all('pods').filter((pod) => controllerOf(pod)?.uid === owner.metadata.uid);
  for (const plural of ['pods', 'replicasets', 'jobs'] as const)
    for (const object of all(plural)) {
      if (object.metadata.deletionTimestamp !== undefined) wrong.push(`${plural} ${nameOf(object)} is still being deleted`);
      const owner = controllerOf(object);
      if (owner !== undefined && recorder.get(owners[owner.kind] as Plural, owner.uid) === undefined)
        wrong.push(`${plural} ${nameOf(object)} has lost its ${owner.kind} ${owner.name}`);
    }
  for (const plural of ['replicasets', 'replicationcontrollers'] as const)
    for (const set of all(plural)) {
      const { replicas } = set.spec;
      const { readyReplicas = 0, availableReplicas = 0 } = set.status;
      want(
        `${plural} ${nameOf(set)}`,
        [podsOf(set).filter(isActive).length, set.status.replicas, readyReplicas, availableReplicas],
        Array(4).fill(replicas),
      );
    }
  for (const one of all('deployments')) {
    const { replicas, template, revisionHistoryLimit, paused = false } = one.spec;
    const sets = all('replicasets').filter((set) => controllerOf(set)?.uid === one.metadata.uid);
    const pods = sets.flatMap(podsOf).filter(isActive);
    const { updatedReplicas = 0, readyReplicas = 0, availableReplicas = 0, observedGeneration } = one.status;
    want(`generation of ${nameOf(one)}`, observedGeneration, one.metadata.generation);
    // A rollout that is paused keeps its surge.
    if (paused) continue;
    want(
      `deployment ${nameOf(one)}`,
      [pods.length, one.status.replicas ?? 0, updatedReplicas, readyReplicas, availableReplicas],
      Array(5).fill(replicas),
    );
    want(`images of ${nameOf(one)}`, [...new Set(pods.map(imageOf))], replicas === 0 ? [] : [template.spec.containers[0].image]);
    if (sets.length > revisionHistoryLimit + 1) wrong.push(`${nameOf(one)} has ${sets.length} replica sets`);
  }
  for (const set of all('statefulsets')) {
    const { replicas, updateStrategy, template } = set.spec;
    const pods = podsOf(set);
    want(
      `members of ${nameOf(set)}`,
      pods.map(nameOf).sort(),
      Array.from({ length: replicas }, (_, n) => `${nameOf(set)}-${n}`),
    );
    const { readyReplicas = 0, availableReplicas = 0, observedGeneration } = set.status;
    want(
      `status of ${nameOf(set)}`,
      [set.status.replicas, readyReplicas, availableReplicas, observedGeneration],
      [...Array(3).fill(replicas), set.metadata.generation],
    );
    const { partition = 0 } = updateStrategy.rollingUpdate ?? {};
    if (updateStrategy.type !== 'RollingUpdate') continue;
    for (const pod of pods.filter((one) => Number(nameOf(one).split('-')[1]) >= partition))
      want(`image of ${nameOf(pod)}`, imageOf(pod), template.spec.containers[0].image);
  }
  for (const set of all('daemonsets')) {
    const { nodeSelector = {} } = set.spec.template.spec;
    const nodes = [...recorder.all('nodes')].filter(({ metadata }) =>
      Object.entries(nodeSelector).every(([key, value]) => metadata.labels[key] === value),
    );
    const pods = podsOf(set);
    want(`nodes of ${nameOf(set)}`, pods.map(({ spec }) => spec.nodeName).sort(), nodes.map(nameOf).sort());
    const { numberReady, desiredNumberScheduled, numberAvailable = 0 } = set.status;
    want(`status of ${nameOf(set)}`, [numberReady, desiredNumberScheduled, numberAvailable], Array(3).fill(nodes.length));
    if (set.spec.updateStrategy.type === 'RollingUpdate')
      want(`images of ${nameOf(set)}`, [...new Set(pods.map(imageOf))], [set.spec.template.spec.containers[0].image]);
  }
  for (const job of all('jobs')) {
    const types = (job.status.conditions ?? []).filter(({ status }: Loose) => status === 'True').map(({ type }: Loose) => type);
    const isDone = types.includes('Complete') || types.includes('Failed');
    if (!isDone) wrong.push(`job ${nameOf(job)} is not finished: ${jsonText(job.status)}`);
    if (types.includes('Complete')) want(`succeeded of ${nameOf(job)}`, job.status.succeeded, job.spec.completions);
    want(
      `open pods of ${nameOf(job)}`,
      podsOf(job)
        .filter((pod) => !isOver(pod))
        .map(nameOf),
      [],
    );
    want(
      `finalizers of pods of ${nameOf(job)}`,
      podsOf(job).flatMap(({ metadata }) => metadata.finalizers ?? []),
      [],
    );
  }
  for (const budget of all('poddisruptionbudgets')) {
    const { matchLabels } = budget.spec.selector;
    const healthy = all('pods').filter((pod) => pod.metadata.labels?.app === matchLabels.app && isActive(pod) && isReady(pod)).length;
    want(`healthy pods of ${nameOf(budget)}`, budget.status.currentHealthy, healthy);
  }
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
}
const imageOf = ({ spec }: Loose): string => spec.containers[0].image;

/** Throws where something remains after everything was deleted. */
export async function checkEmpty(server: TestServer, recorder: Recorder): Promise<void> {
  const left = (Object.keys(paths) as Plural[])
    .filter((plural) => plural !== 'nodes')
    .flatMap((plural) => [...recorder.all(plural)].filter(isMine).map((object) => `${plural} ${nameOf(object)}`));
  for (const plural of ['controllerrevisions'] as const) {
    const { items } = (await server.request('GET', `/apis/apps/v1/namespaces/${NAMESPACE}/${plural}`)).body as Loose;
    left.push(...items.map((object: Loose) => `${plural} ${nameOf(object)}`));
  }
  if (left.length > 0) throw new Error(`left over: ${left.join(', ')}`);
}
