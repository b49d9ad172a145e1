/** The objects that a pod or a volume makes its node need: secrets, config maps, claims of volumes and devices, its service account. */

import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { PersistentVolume } from '@plat-dev/kinds/core/schema/volumes/persistent-volumes';
import type { Wire } from '@plat-dev/kinds/wire';

/** Parts of a volume source that name a secret, for any kind of source. */
interface VolumeSource {
  readonly name?: string;
  readonly namespace?: string;
  readonly secretName?: string;
  readonly secretNamespace?: string | null;
  readonly claimName?: string;
  readonly secretRef?: NameRef | null;
  readonly nodePublishSecretRef?: NameRef | null;
  readonly nodeStageSecretRef?: NameRef | null;
  readonly sources?: readonly { readonly secret?: NameRef; readonly configMap?: NameRef }[] | null;
}
interface NameRef {
  readonly name?: string;
  readonly namespace?: string;
}
export type PodObject = Wire<Pod>;
export type PersistentVolumeObject = Wire<PersistentVolume>;

export type ReferencedKind = 'secret' | 'configmap' | 'claim' | 'account' | 'device-claim';
/** The key of a reference: kind, namespace and name. */
export const needKey = (kind: ReferencedKind, namespace: string, name: string): string => `${kind}/${namespace}/${name}`;

const isSource = (value: unknown): value is VolumeSource => typeof value === 'object' && value !== null;

export function needsOfPod(pod: PodObject): Set<string> {
  const namespace = pod.metadata.namespace ?? '';
  const needs = new Set<string>();
  const need = (kind: ReferencedKind, name: string | undefined): void => {
    if (name !== undefined && name !== '') needs.add(needKey(kind, namespace, name));
  };
  const spec = pod.spec ?? {};
  need('account', spec.serviceAccountName);
  for (const claim of spec.resourceClaims ?? []) need('device-claim', claim.resourceClaimName);
  for (const claim of pod.status?.resourceClaimStatuses ?? []) need('device-claim', claim.resourceClaimName);
  need('device-claim', pod.status?.extendedResourceClaimStatus?.resourceClaimName);
  for (const ref of spec.imagePullSecrets ?? []) need('secret', ref.name);
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])]) {
    for (const { valueFrom } of container.env ?? []) {
      need('secret', valueFrom?.secretKeyRef?.name);
      need('configmap', valueFrom?.configMapKeyRef?.name);
    }
    for (const from of container.envFrom ?? []) {
      need('secret', from.secretRef?.name);
      need('configmap', from.configMapRef?.name);
    }
  }
  for (const volume of spec.volumes ?? []) {
    for (const [kind, source] of Object.entries(volume)) {
      if (!isSource(source)) continue;
      if (kind === 'secret' || kind === 'azureFile') need('secret', source.secretName);
      else if (kind === 'configMap') need('configmap', source.name);
      else if (kind === 'persistentVolumeClaim') need('claim', source.claimName);
      // The claim of an ephemeral volume is named after the pod and the volume.
      else if (kind === 'ephemeral') need('claim', `${pod.metadata.name}-${String(volume.name)}`);
      need('secret', source.secretRef?.name);
      need('secret', source.nodePublishSecretRef?.name);
      for (const one of kind === 'projected' ? (source.sources ?? []) : []) {
        need('secret', one.secret?.name);
        need('configmap', one.configMap?.name);
      }
    }
  }
  return needs;
}

/** Secrets that a node reads to mount the volume. */
export function secretsOfVolume(volume: PersistentVolumeObject): Set<string> {
  const secrets = new Set<string>();
  const claimNamespace = volume.spec?.claimRef?.namespace ?? '';
  const need = (name: string | undefined, namespace: string | null | undefined): void => {
    const where = namespace === undefined || namespace === null || namespace === '' ? claimNamespace : namespace;
    if (name !== undefined && name !== '' && where !== '') secrets.add(needKey('secret', where, name));
  };
  for (const [kind, source] of Object.entries(volume.spec ?? {})) {
    if (!isSource(source)) continue;
    if (kind === 'azureFile') need(source.secretName, source.secretNamespace);
    for (const ref of [source.secretRef, source.nodePublishSecretRef, source.nodeStageSecretRef]) need(ref?.name, ref?.namespace);
  }
  return secrets;
}
