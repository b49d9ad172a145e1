/** Shared helpers for plug-ins that inspect pods. */
import type { Container, EphemeralContainer } from '@plat-dev/kinds/core/schema/pods/containers';
import type { Pod, PodSpec } from '@plat-dev/kinds/core/schema/pods/pod';
import type { AdmissionRequest } from './types.ts';

export type AnyContainer = Container | EphemeralContainer;

/** The pod of a request for pods themselves, not for one of their subresources. */
export function podOf(request: AdmissionRequest): Pod | undefined {
  return request.subresource === '' ? (request.object as unknown as Pod | undefined) : undefined;
}
export const oldPodOf = (request: AdmissionRequest): Pod | undefined => request.oldObject as unknown as Pod | undefined;

/** Visits init containers, containers and ephemeral ones, each with its path in the pod. */
export function eachContainer(spec: PodSpec, visit: (container: AnyContainer, path: string, type: ContainerType) => void): void {
  spec.initContainers?.forEach((container, i) => {
    visit(container, `spec.initContainers[${i}]`, 'init container');
  });
  spec.containers?.forEach((container, i) => {
    visit(container, `spec.containers[${i}]`, 'container');
  });
  spec.ephemeralContainers?.forEach((container, i) => {
    visit(container, `spec.ephemeralContainers[${i}]`, 'ephemeral container');
  });
}
export type ContainerType = 'container' | 'init container' | 'ephemeral container';

/** Names of all secrets that a pod refers to. */
export function secretNames(spec: PodSpec): Set<string> {
  const names = new Set<string>();
  const add = (name: string | undefined): void => {
    if (name !== undefined && name !== '') names.add(name);
  };
  for (const { name } of spec.imagePullSecrets ?? []) add(name);
  eachContainer(spec, (container) => {
    for (const { secretRef } of container.envFrom ?? []) add(secretRef?.name);
    for (const { valueFrom } of container.env ?? []) add(valueFrom?.secretKeyRef?.name);
  });
  for (const volume of spec.volumes ?? []) {
    add(volume.secret?.secretName);
    for (const { secret } of volume.projected?.sources ?? []) add(secret?.name);
    add(volume.azureFile?.secretName);
    add(volume.cephfs?.secretRef?.name);
    add(volume.cinder?.secretRef?.name);
    add(volume.flexVolume?.secretRef?.name);
    add(volume.rbd?.secretRef?.name);
    add(volume.iscsi?.secretRef?.name);
    add(volume.scaleIO?.secretRef?.name);
    add(volume.storageos?.secretRef?.name);
    add(volume.csi?.nodePublishSecretRef?.name);
  }
  return names;
}

/** Names of the config maps that a pod refers to. */
export function configMapNames(spec: PodSpec): Set<string> {
  const names = new Set<string>();
  const add = (name: string | undefined): void => {
    if (name !== undefined && name !== '') names.add(name);
  };
  eachContainer(spec, (container) => {
    for (const { configMapRef } of container.envFrom ?? []) add(configMapRef?.name);
    for (const { valueFrom } of container.env ?? []) add(valueFrom?.configMapKeyRef?.name);
  });
  for (const volume of spec.volumes ?? []) {
    add(volume.configMap?.name);
    for (const { configMap } of volume.projected?.sources ?? []) add(configMap?.name);
  }
  return names;
}
