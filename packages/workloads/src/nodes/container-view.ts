/** What the processes of a container see: environment variables, and the files of volumes made of objects of the API. */
import { own } from '@plat-dev/lib/own';
import { parseQuantity } from '@plat-dev/meta/quantity';
import type { WorkloadPod } from '../shared/pods.ts';
import { type Container, expanded } from './container-command.ts';
import { hostnameOf, networkFiles, USUAL_NAMESERVER } from './network-files.ts';
import { type ServiceObject, serviceVariables } from './service-variables.ts';
import { PATH_LIMIT, withoutEnd } from './shell/files.ts';

type Volume = NonNullable<NonNullable<WorkloadPod['spec']>['volumes']>[number];
type EnvVar = NonNullable<Container['env']>[number];
/** Contents by key. Keys are those of users: `__proto__` is one like any other. */
export type Contents = ReadonlyMap<string, string>;

/** What the API has for a pod: config maps and secrets of its namespace, undefined for those that do not exist, and more. */
export interface Sources {
  configMap(name: string): Contents | undefined;
  secret(name: string): Contents | undefined;
  /** A token of the pod's service account; empty where there is none. */
  token(audience: string): string;
  /** Services that the environment names. */
  readonly services: readonly ServiceObject[];
  /** The address that names of services are looked up at. */
  readonly nameserver: string;
}
export const noSources: Sources = {
  configMap: () => undefined,
  secret: () => undefined,
  token: () => '',
  services: [],
  nameserver: USUAL_NAMESERVER,
};

/** Characters of a container's variables after which those that they name are no longer replaced. */
const VARIABLES_LIMIT = 1 << 20;
/** Files of mounted objects that a container has, and those that are looked at for it. */
const MOUNTED_LIMIT = 10_000;
const LOOKS_LIMIT = 200_000;

export function variablesOf(pod: WorkloadPod, container: Container, sources: Sources): Map<string, string> {
  const variables = new Map<string, string>([
    ['PATH', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    ['HOSTNAME', hostnameOf(pod)],
    ['HOME', '/root'],
  ]);
  for (const service of sources.services) for (const [name, value] of serviceVariables(service)) variables.set(name, value);
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    const contents = sources.configMap(configMapRef?.name ?? '') ?? sources.secret(secretRef?.name ?? '');
    for (const [key, value] of contents ?? []) variables.set(`${prefix}${key}`, value);
  }
  let size = 0;
  for (const variable of container.env ?? []) {
    const value = envValue(pod, container, variable, sources);
    if (value === undefined) continue;
    const expandedValue = size > VARIABLES_LIMIT ? value : expanded(value, variables);
    size += expandedValue.length;
    variables.set(variable.name, expandedValue);
  }
  return variables;
}

function envValue(pod: WorkloadPod, container: Container, { value, valueFrom }: EnvVar, sources: Sources): string | undefined {
  if (valueFrom == null) return value ?? '';
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom;
  if (fieldRef != null) return fieldOf(pod, fieldRef.fieldPath);
  if (resourceFieldRef != null) return resourceOf(container, resourceFieldRef.resource, resourceFieldRef.divisor);
  if (configMapKeyRef != null) return sources.configMap(configMapKeyRef.name ?? '')?.get(configMapKeyRef.key);
  if (secretKeyRef != null) return sources.secret(secretKeyRef.name ?? '')?.get(secretKeyRef.key);
  return undefined;
}

/** The value of a field of the downward API. */
function fieldOf({ metadata, spec, status }: WorkloadPod, path: string): string {
  const keyed = /^metadata\.(labels|annotations)\['([^']*)'\]$/.exec(path);
  if (keyed !== null) return ownText(metadata[keyed[1] as 'labels' | 'annotations'], keyed[2] as string) ?? '';
  switch (path) {
    case 'metadata.name':
      return metadata.name ?? '';
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid ?? '';
    case 'metadata.labels':
      return listOf(metadata.labels);
    case 'metadata.annotations':
      return listOf(metadata.annotations);
    case 'spec.nodeName':
      return spec?.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec?.serviceAccountName ?? '';
    case 'status.hostIP':
      return status?.hostIP ?? '';
    case 'status.podIP':
    case 'status.podIPs':
      return status?.podIP ?? '';
    default:
      return '';
  }
}
const ownText = (values: Readonly<Record<string, string>> | null | undefined, key: string): string | undefined => own(values ?? {}, key);
const listOf = (values: Readonly<Record<string, string>> = {}): string =>
  Object.entries(values)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join('\n');

/** `limits.cpu`, `requests.memory`: in whole units of the divisor, rounded up. */
function resourceOf({ resources }: Container, name: string, divisor = '1'): string {
  const [sort, ...rest] = name.split('.');
  const amounts = sort === 'limits' ? resources?.limits : resources?.requests;
  const text = ownText(amounts, rest.join('.')) ?? '0';
  const unit = parseQuantity(divisor === '0' || divisor === '' ? '1' : divisor);
  return String(Math.ceil(parseQuantity(text).toNumber() / unit.toNumber()));
}

/** Files by their path in the container. Volumes that are no objects of the API are empty. */
export function mountedFiles(pod: WorkloadPod, container: Container, sources: Sources): Map<string, string> {
  const files = new Map<string, string>(networkFiles(pod, sources.nameserver));
  let looks = 0;
  for (const { name, mountPath, subPath = '' } of container.volumeMounts ?? []) {
    const volume = pod.spec?.volumes?.find((one) => one.name === name);
    if (volume === undefined || looks > LOOKS_LIMIT || mountPath.length > PATH_LIMIT) continue;
    const at = withoutEnd(mountPath, '/');
    for (const [path, text] of volumeFiles(pod, container, volume, sources)) {
      looks++;
      if (files.size >= MOUNTED_LIMIT) return files;
      if (subPath === '') files.set(`${at}/${path}`, text);
      else if (path === subPath) files.set(at, text);
    }
  }
  return files;
}

type Item = { readonly key: string; readonly path: string };

function volumeFiles(pod: WorkloadPod, container: Container, volume: Volume, sources: Sources): [string, string][] {
  const { configMap, secret, downwardAPI, projected } = volume;
  const files: [string, string][] = [];
  const add = (contents: Contents | undefined, items: readonly Item[] | null | undefined): void => {
    if (contents === undefined) return;
    if (items == null || items.length === 0) for (const entry of contents) files.push(entry);
    for (const { key, path } of items ?? []) {
      const text = contents.get(key);
      if (text !== undefined) files.push([path, text]);
    }
  };
  const addFields = (items: NonNullable<typeof downwardAPI>['items']): void => {
    for (const { path, fieldRef, resourceFieldRef } of items ?? []) {
      if (fieldRef != null) files.push([path, fieldOf(pod, fieldRef.fieldPath)]);
      if (resourceFieldRef != null) files.push([path, resourceOf(container, resourceFieldRef.resource, resourceFieldRef.divisor)]);
    }
  };
  if (configMap != null) add(sources.configMap(configMap.name ?? ''), configMap.items);
  if (secret != null) add(sources.secret(secret.secretName ?? ''), secret.items);
  if (downwardAPI != null) addFields(downwardAPI.items);
  for (const source of projected?.sources ?? []) {
    if (source.configMap != null) add(sources.configMap(source.configMap.name ?? ''), source.configMap.items);
    if (source.secret != null) add(sources.secret(source.secret.name ?? ''), source.secret.items);
    if (source.downwardAPI != null) addFields(source.downwardAPI.items);
    const { path, audience } = source.serviceAccountToken ?? {};
    if (path !== undefined) files.push([path, sources.token(audience ?? '')]);
  }
  return files;
}
