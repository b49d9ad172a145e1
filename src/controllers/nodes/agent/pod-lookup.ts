/** What the agent knows of a pod: the object itself, and the contents of what it mounts. */
import type { Client } from '../../../client/dynamic.ts';
import { unlessGone } from '../../../client/http.ts';
import type { ConfigMap, Secret } from '../../../kinds/core/schema/config.ts';
import type { Wire } from '../../../kinds/wire.ts';
import { refs } from '../../runtime/controller.ts';
import type { WorkloadPod } from '../../workloads/shared/pods.ts';
import type { Contents, Sources } from '../container-view.ts';
import type { ContainerStatus } from '../lifecycle/containers.ts';
import type { Container } from '../lifecycle/process.ts';

/** Config maps and secrets of one pod that are read; further ones are empty. */
const SOURCES_LIMIT = 64;

export const findPod = (client: Client, namespace: string, name: string): Promise<WorkloadPod | undefined> =>
  client.find<WorkloadPod>(refs.pods, namespace, name);

export function containerOf({ spec }: WorkloadPod, name: string): Container | undefined {
  const all = [
    ...(spec?.containers ?? []),
    ...(spec?.initContainers ?? []),
    ...((spec?.ephemeralContainers ?? []) as unknown as Container[]),
  ];
  return all.find((container) => container.name === name);
}
export function statusOf({ status }: WorkloadPod, name: string): ContainerStatus | undefined {
  const { containerStatuses, initContainerStatuses, ephemeralContainerStatuses } = status ?? {};
  return [...(containerStatuses ?? []), ...(initContainerStatuses ?? []), ...(ephemeralContainerStatuses ?? [])].find(
    (one) => one.name === name,
  );
}

/** The contents of the config maps and secrets that a pod names. */
export async function sourcesOf(client: Client, pod: WorkloadPod): Promise<Sources> {
  const { configMaps, secrets } = namesIn(pod);
  const namespace = pod.metadata.namespace ?? '';
  const contents = async <T>(names: ReadonlySet<string>, read: (name: string) => Promise<T | undefined>): Promise<Map<string, T>> => {
    const found = new Map<string, T>();
    for (const name of [...names].slice(0, SOURCES_LIMIT)) {
      const value = await read(name);
      if (value !== undefined) found.set(name, value);
    }
    return found;
  };
  const maps = await contents<Contents>(configMaps, async (name) => {
    const map = await client.get<Wire<ConfigMap>>(refs.configMaps, namespace, name).catch(unlessGone);
    return map === undefined ? undefined : { ...map.data, ...decodedAll(map.binaryData) };
  });
  const hidden = await contents<Contents>(secrets, async (name) => {
    const secret = await client.get<Wire<Secret>>(refs.secrets, namespace, name).catch(unlessGone);
    return secret === undefined ? undefined : decodedAll(secret.data);
  });
  return { configMap: (name) => maps.get(name), secret: (name) => hidden.get(name) };
}

const decodedAll = (data: unknown): Contents =>
  Object.fromEntries(
    Object.entries((data ?? {}) as Record<string, string>).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );

function namesIn({ spec }: WorkloadPod): { configMaps: Set<string>; secrets: Set<string> } {
  const configMaps = new Set<string>();
  const secrets = new Set<string>();
  for (const { configMap, secret, projected } of spec?.volumes ?? []) {
    if (configMap?.name) configMaps.add(configMap.name);
    if (secret?.secretName) secrets.add(secret.secretName);
    for (const source of projected?.sources ?? []) {
      if (source.configMap?.name) configMaps.add(source.configMap.name);
      if (source.secret?.name) secrets.add(source.secret.name);
    }
  }
  for (const { env, envFrom } of [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]) {
    for (const { configMapRef, secretRef } of envFrom ?? []) {
      if (configMapRef?.name) configMaps.add(configMapRef.name);
      if (secretRef?.name) secrets.add(secretRef.name);
    }
    for (const { valueFrom } of env ?? []) {
      if (valueFrom?.configMapKeyRef?.name) configMaps.add(valueFrom.configMapKeyRef.name);
      if (valueFrom?.secretKeyRef?.name) secrets.add(valueFrom.secretKeyRef.name);
    }
  }
  return { configMaps, secrets };
}
