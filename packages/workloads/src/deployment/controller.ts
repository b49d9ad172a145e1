/** Rolls out deployments: their replica sets by revision, one growing as the others shrink. */
import { type Change, keyOf, splitKey } from '@plat-dev/client/informer';
import type { Controller, ControllerContext } from '@plat-dev/controllers/runtime/controller';
import type { Outcome } from '@plat-dev/controllers/runtime/queue';
import { SelectorIndex, selectedBy } from '@plat-dev/controllers/runtime/selector-index';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { OwnerReference } from '@plat-dev/kinds/meta';
import { equal } from '@plat-dev/lib/equal';
import { groupOfApiVersion } from '@plat-dev/meta/api-version';
import type { LabelSelector } from '@plat-dev/meta/labels';
import type { ReplicaSetObject } from '../replicaset/kinds.ts';
import { claim } from '../shared/claim.ts';
import { EventRecorder } from '../shared/events.ts';
import { type OwnerIndex, ownerIndex } from '../shared/owner-index.ts';
import { isFinished } from '../shared/pod-state.ts';
import { controllerOf, podIndex, type WorkloadPod } from '../shared/pods.ts';
import { workloadRefs } from '../shared/refs.ts';
import { type DeploymentObject, limitsOf } from './limits.ts';
import { revisionNames } from './revisions.ts';
import { aboutDeployment, Rollout, type RolloutTools } from './rollout.ts';

const WORKERS = 10;

export const deploymentController: Controller = {
  name: 'deployment',
  account: 'deployment-controller',
  start(context) {
    const all = new Deployments(context);
    const { deployments, replicaSets, pods } = all.tools;
    const after = [deployments.synced, replicaSets.synced, pods.informer.synced];
    const work = context.queue((key) => all.sync(key), { workers: WORKERS, after });
    const add = (deployment: DeploymentObject): void => work.add(keyOf(deployment));
    deployments.onChange(({ type, object }) => {
      if (type !== 'deleted') add(object);
    });
    replicaSets.onChange((change) => all.setChanged(change, (key) => work.add(key), add));
    pods.informer.onChange((change) => all.podChanged(change, add));
  },
};

class Deployments {
  readonly tools: RolloutTools;
  private readonly index: OwnerIndex<ReplicaSetObject>;
  private readonly selecting: SelectorIndex<DeploymentObject>;

  constructor({ identity, informers, client, clock }: ControllerContext) {
    const refs = workloadRefs(identity);
    const replicaSets = informers.of<ReplicaSetObject>(refs.replicaSets);
    this.index = ownerIndex(informers, refs.replicaSets.name, replicaSets);
    this.tools = {
      client,
      clock,
      refs,
      names: revisionNames(identity),
      recorder: new EventRecorder({ client, clock, component: 'deployment-controller' }),
      deployments: informers.of<DeploymentObject>(refs.deployments),
      replicaSets,
      pods: podIndex(informers),
    };
    this.selecting = new SelectorIndex(this.tools.deployments, ({ spec }) => spec?.selector ?? undefined);
  }

  /** Adds the keys of the deployments that a change of a replica set concerns. */
  setChanged(
    { type, object, old }: Change<ReplicaSetObject>,
    addKey: (key: string) => void,
    add: (deployment: DeploymentObject) => void,
  ): void {
    const namespace = object.metadata.namespace ?? '';
    const [owner, oldOwner] = [controllerOf(object), old === undefined ? undefined : controllerOf(old)];
    if (owner !== undefined && isDeployment(owner)) addKey(`${namespace}/${owner.name}`);
    if (oldOwner !== undefined && oldOwner.uid !== owner?.uid && isDeployment(oldOwner)) addKey(`${namespace}/${oldOwner.name}`);
    if (type === 'deleted' || owner !== undefined) return;
    if (old !== undefined && oldOwner === undefined && equal(old.metadata.labels, object.metadata.labels)) return;
    this.selecting.forLabels(namespace, object.metadata.labels, add);
  }
  /** A deployment that recreates its pods waits for the last of the old ones. */
  podChanged({ type, object, old }: Change<WorkloadPod>, add: (deployment: DeploymentObject) => void): void {
    if (type === 'added' || (type === 'modified' && !(isFinished(object) && old !== undefined && !isFinished(old)))) return;
    const namespace = object.metadata.namespace ?? '';
    const set = this.tools.replicaSets.get(namespace, controllerOf(object)?.name ?? '');
    const owner = set === undefined ? undefined : controllerOf(set);
    const deployment = owner === undefined ? undefined : this.tools.deployments.get(namespace, owner.name);
    if (deployment !== undefined && !limitsOf(deployment).isRolling) add(deployment);
  }

  async sync(key: string): Promise<Outcome> {
    const { namespace, name } = splitKey(key);
    const deployment = this.tools.deployments.get(namespace, name);
    const selector = deployment === undefined ? undefined : this.selecting.selectorOf(deployment);
    if (deployment === undefined || selector === undefined) return;
    if (selector.everything) return this.refuse(deployment);
    return new Rollout(this.tools, deployment, await this.claimed(deployment, selector)).run();
  }

  /** The selector is checked when a deployment is written; this one is older. */
  private async refuse(deployment: DeploymentObject): Promise<void> {
    const { recorder, client, refs, deployments } = this.tools;
    const message = 'This deployment is selecting all pods. A non-empty selector is required.';
    recorder.event(aboutDeployment(deployment), 'Warning', 'SelectingAll', message);
    const observedGeneration = deployment.metadata.generation ?? 0;
    if ((deployment.status?.observedGeneration ?? 0) >= observedGeneration) return;
    const status = { ...deployment.status, observedGeneration };
    await deployments.whenArrived(
      await client.update<DeploymentObject>(refs.deployments, { ...deployment, status } as DeploymentObject, 'status'),
    );
  }
  /** The replica sets of a deployment, after adoption and release. */
  private async claimed(deployment: DeploymentObject, selector: LabelSelector): Promise<ReplicaSetObject[]> {
    const { client, refs, replicaSets } = this.tools;
    const { namespace = '', name = '', uid = '' } = deployment.metadata;
    const own = [...this.index.ownedBy(uid)];
    const orphans = await selectedBy(selector, this.index.orphansIn(namespace));
    if (orphans.length === 0 && (await selectedBy(selector, own)).length === own.length) return own;
    const claimed = await claim<ReplicaSetObject>({
      client,
      resource: refs.replicaSets,
      owner: aboutDeployment(deployment),
      matches: ({ metadata }) => selector.matches(metadata.labels),
      mayAdopt: async () => {
        const live = await client.find<ApiObject>(refs.deployments, namespace, name);
        return live?.metadata.uid === uid && live.metadata.deletionTimestamp === undefined;
      },
      candidates: [...own, ...orphans],
    });
    for (const set of claimed) await replicaSets.whenArrived(set);
    return claimed;
  }
}

const isDeployment = ({ kind, apiVersion }: OwnerReference): boolean => kind === 'Deployment' && groupOfApiVersion(apiVersion) === 'apps';
