/** What the protection of claims needs to know of a pod, and no more: pods are many. */
import type { Informer } from '../../client/informer.ts';
import type { ApiObject } from '../../kinds/kind.ts';
import { refs } from '../runtime/controller.ts';
import type { Informers } from '../runtime/informers.ts';

export interface PodWithClaims extends ApiObject {
  spec?: { nodeName?: string; volumes?: { name: string; persistentVolumeClaim?: { claimName: string }; ephemeral?: unknown }[] };
}

const mayUseClaims = (pod: PodWithClaims): boolean =>
  (pod.spec?.volumes ?? []).some((volume) => volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined);

/** Names of the claims that a pod uses. The claim of an ephemeral volume is called after the pod and the volume. */
export function claimsOf(pod: PodWithClaims): string[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => {
    if (volume.persistentVolumeClaim !== undefined) return [volume.persistentVolumeClaim.claimName];
    return volume.ephemeral === undefined ? [] : [`${pod.metadata.name}-${volume.name}`];
  });
}

export function podsWithClaims(informers: Informers): Informer<PodWithClaims> {
  return informers.of<PodWithClaims>(refs.pods, {
    form: 'claims',
    keep: (pod) => {
      const { name, namespace, uid, resourceVersion } = pod.metadata;
      const spec = mayUseClaims(pod) ? { nodeName: pod.spec?.nodeName, volumes: pod.spec?.volumes } : {};
      return { metadata: { name, namespace, uid, resourceVersion }, spec } as PodWithClaims;
    },
  });
}
