/** The config maps and secrets that a pod names, as they are now. */
import type { Client } from '@plat-dev/client/dynamic';
import { unlessGone } from '@plat-dev/client/http';
import { refs } from '@plat-dev/controllers/runtime/controller';
import type { ConfigMap, Secret } from '@plat-dev/kinds/core/schema/config';
import type { Wire } from '@plat-dev/kinds/wire';
import { textOf } from '@plat-dev/lib/byte-text';
import type { WorkloadPod } from '../shared/pods.ts';
import type { Contents, Sources } from './container-view.ts';

/** Config maps and secrets of one pod that are read; further ones are empty. */
export const SOURCES_LIMIT = 64;

export async function contentsOf(client: Client, pod: WorkloadPod): Promise<Pick<Sources, 'configMap' | 'secret'>> {
  const { configMaps, secrets } = sourceNames(pod);
  const namespace = pod.metadata.namespace ?? '';
  const maps = new Map<string, Contents>();
  for (const name of [...configMaps].slice(0, SOURCES_LIMIT)) {
    const map = await client.get<Wire<ConfigMap>>(refs.configMaps, namespace, name).catch(unlessGone);
    if (map !== undefined) maps.set(name, new Map([...Object.entries(map.data ?? {}), ...decodedAll(map.binaryData)]));
  }
  const hidden = new Map<string, Contents>();
  for (const name of [...secrets].slice(0, SOURCES_LIMIT)) {
    const secret = await client.get<Wire<Secret>>(refs.secrets, namespace, name).catch(unlessGone);
    if (secret !== undefined) hidden.set(name, new Map(decodedAll(secret.data)));
  }
  return { configMap: (name) => maps.get(name), secret: (name) => hidden.get(name) };
}

const decodedAll = (data: unknown): [string, string][] =>
  Object.entries((data ?? {}) as Record<string, string>).map(([key, value]) => [key, textOf(Buffer.from(value, 'base64'))]);

export function sourceNames({ spec }: WorkloadPod): { readonly configMaps: ReadonlySet<string>; readonly secrets: ReadonlySet<string> } {
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
