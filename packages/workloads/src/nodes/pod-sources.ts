/** The config maps and secrets that a pod names, as they are now. */
import type { Client } from '@plat-dev/client/dynamic';
import { unlessGone } from '@plat-dev/client/http';
import { refs } from '@plat-dev/controllers/runtime/controller';
import type { ConfigMap, Secret } from '@plat-dev/kinds/core/schema/config';
import type { Wire } from '@plat-dev/kinds/wire';
import { textOf } from '@plat-dev/lib/byte-text';
import { own } from '@plat-dev/lib/own';
import { inSlices, Slices, type Work } from '@plat-dev/lib/slices';
import type { WorkloadPod } from '../shared/pods.ts';
import type { Contents, Sources } from './container-view.ts';

/** Config maps and secrets of one pod that are read; further ones are empty. */
export const SOURCES_LIMIT = 64;
/** Keys that are read before the work yields. */
const KEYS_A_STEP = 100;

export async function contentsOf(client: Client, pod: WorkloadPod): Promise<Pick<Sources, 'configMap' | 'secret'>> {
  const { configMaps, secrets } = sourceNames(pod);
  const namespace = pod.metadata.namespace ?? '';
  const maps = new Map<string, Contents>();
  for (const name of [...configMaps].slice(0, SOURCES_LIMIT)) {
    const map = await client.get<Wire<ConfigMap>>(refs.configMaps, namespace, name).catch(unlessGone);
    if (map !== undefined) maps.set(name, await inSlices(contentsOfMap(map), new Slices()));
  }
  const hidden = new Map<string, Contents>();
  for (const name of [...secrets].slice(0, SOURCES_LIMIT)) {
    const secret = await client.get<Wire<Secret>>(refs.secrets, namespace, name).catch(unlessGone);
    if (secret !== undefined) hidden.set(name, await inSlices(contentsOfMap({ binaryData: secret.data }), new Slices()));
  }
  return { configMap: (name) => maps.get(name), secret: (name) => hidden.get(name) };
}

/** There may be tens of thousands of keys: the engine takes five times as long to list their values with them. */
export function* contentsOfMap({ data, binaryData }: Pick<Wire<ConfigMap>, 'data' | 'binaryData'>): Work<Contents> {
  const contents = new Map<string, string>();
  for (const key of Object.keys(data ?? {})) {
    contents.set(key, own(data, key) as string);
    if (contents.size % KEYS_A_STEP === 0) yield;
  }
  for (const key of Object.keys(binaryData ?? {})) {
    contents.set(key, textOf(Buffer.from(own(binaryData, key) as unknown as string, 'base64')));
    if (contents.size % KEYS_A_STEP === 0) yield;
  }
  return contents;
}

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
