/** Creates the claims of ephemeral volumes: `POD-VOLUME`, owned by the pod, so that they go with it. */
import { isConflict } from '@plat-dev/client/http';
import { keyOf, splitKey } from '@plat-dev/client/informer';
import { type Controller, refs } from '@plat-dev/controllers/runtime/controller';
import { EventRecorder } from '../shared/events.ts';
import { controllerRef, messageOf } from '../shared/pod-control.ts';
import { isTerminating } from '../shared/pod-state.ts';
import { controllerOf, type WorkloadPod, workloadPods } from '../shared/pods.ts';
import type { Claim } from './volume-objects.ts';

const aboutPod = ({ metadata }: WorkloadPod) => ({ apiVersion: 'v1', kind: 'Pod', metadata });

/** The claims that a pod's ephemeral volumes need, with the names of the volumes. */
function ephemeralClaims(pod: WorkloadPod): { readonly volume: string; readonly claim: Claim }[] {
  return (pod.spec?.volumes ?? []).flatMap(({ name, ephemeral }) => {
    const template = ephemeral?.volumeClaimTemplate;
    if (template == null) return [];
    const { labels, annotations } = template.metadata ?? {};
    const metadata = {
      name: `${pod.metadata.name}-${name}`,
      namespace: pod.metadata.namespace,
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
      ownerReferences: [controllerRef(aboutPod(pod))],
    };
    return [{ volume: name, claim: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: template.spec } as Claim }];
  });
}

const hasEphemeral = (pod: WorkloadPod): boolean => (pod.spec?.volumes ?? []).some(({ ephemeral }) => ephemeral != null);

export const ephemeralVolumes: Controller = {
  name: 'ephemeral-volume',
  account: 'ephemeral-volume-controller',
  start({ informers, queue, client, clock }) {
    const pods = workloadPods(informers);
    const claims = informers.of<Claim>(refs.persistentVolumeClaims);
    const recorder = new EventRecorder({ client, clock, component: 'ephemeral_volume' });
    const work = queue(
      async (key) => {
        const { namespace, name } = splitKey(key);
        const pod = pods.get(namespace, name);
        if (pod === undefined || isTerminating(pod)) return;
        for (const { volume, claim } of ephemeralClaims(pod)) {
          try {
            await ensure(pod, claim);
          } catch (error) {
            recorder.event(aboutPod(pod), 'Warning', 'FailedBinding', `ephemeral volume ${volume}: ${messageOf(error)}`);
            throw error;
          }
        }
      },
      { after: [pods.synced, claims.synced] },
    );
    const ensure = async (pod: WorkloadPod, claim: Claim): Promise<void> => {
      const { namespace = '', name = '' } = claim.metadata;
      let existingClaim = claims.get(namespace, name);
      if (existingClaim === undefined) {
        try {
          existingClaim = await client.create<Claim>(refs.persistentVolumeClaims, namespace, claim);
          await claims.whenArrived(existingClaim);
        } catch (error) {
          if (!isConflict(error)) throw error;
          existingClaim = await client.get<Claim>(refs.persistentVolumeClaims, namespace, name);
        }
      }
      if (controllerOf(existingClaim)?.uid !== pod.metadata.uid)
        throw new Error(
          `PVC ${JSON.stringify(`${namespace}/${name}`)} was not created for pod ${JSON.stringify(keyOf(pod))} (pod is not owner)`,
        );
    };
    pods.onChange(({ type, object }) => {
      if (type !== 'deleted' && hasEphemeral(object) && !isTerminating(object)) work.add(keyOf(object));
    });
    claims.onChange(({ type, object }) => {
      const owner = controllerOf(object);
      if (type === 'deleted' && owner?.kind === 'Pod') work.add(`${object.metadata.namespace ?? ''}/${owner.name}`);
    });
  },
};
