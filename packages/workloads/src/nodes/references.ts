/** The objects that a pod cannot start without: config maps, secrets and claims that it names. */
import { unlessGone } from '@plat-dev/client/http';
import type { Informer } from '@plat-dev/client/informer';
import { type ControllerContext, refs } from '@plat-dev/controllers/runtime/controller';
import type { ConfigMap, Secret } from '@plat-dev/kinds/core/schema/config';
import type { PersistentVolumeClaim } from '@plat-dev/kinds/core/schema/volumes/persistent-volume-claims';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Wire } from '@plat-dev/kinds/wire';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import type { WorkloadPod } from '../shared/pods.ts';
import type { ContainerFiles } from './container-files.ts';
import { claimDisk } from './disks.ts';
import type { Blocked } from './lifecycle/container-world.ts';

export interface Reference {
  readonly kind: 'configmap' | 'secret' | 'persistentvolumeclaim';
  readonly name: string;
  /** The key that must be in it. */
  readonly key?: string;
  /** The container whose environment names it; absent for volumes, which all containers wait for. */
  readonly container?: string;
  readonly volume?: string;
}

/** What must exist before the containers of a pod start. What is optional is left out. */
function referencesOf(pod: WorkloadPod, rootCAConfigMap: string): Reference[] {
  const references: Reference[] = [];
  const add = (reference: Reference, optional: boolean | null | undefined): void => {
    // Every namespace gets it from the server, if a moment later: no pod waits for it.
    if (optional !== true && reference.name !== '' && reference.name !== rootCAConfigMap) references.push(reference);
  };
  for (const { name: volume, configMap, secret, projected, persistentVolumeClaim, ephemeral } of pod.spec?.volumes ?? []) {
    if (configMap != null) add({ kind: 'configmap', name: configMap.name ?? '', volume }, configMap.optional);
    if (secret != null) add({ kind: 'secret', name: secret.secretName ?? '', volume }, secret.optional);
    if (persistentVolumeClaim != null) add({ kind: 'persistentvolumeclaim', name: persistentVolumeClaim.claimName, volume }, false);
    if (ephemeral != null) add({ kind: 'persistentvolumeclaim', name: `${pod.metadata.name}-${volume}`, volume }, false);
    for (const source of projected?.sources ?? []) {
      if (source.configMap != null) add({ kind: 'configmap', name: source.configMap.name ?? '', volume }, source.configMap.optional);
      if (source.secret != null) add({ kind: 'secret', name: source.secret.name ?? '', volume }, source.secret.optional);
    }
  }
  for (const { name: container, env, envFrom } of [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])]) {
    for (const { configMapRef, secretRef } of envFrom ?? []) {
      if (configMapRef != null) add({ kind: 'configmap', name: configMapRef.name ?? '', container }, configMapRef.optional);
      if (secretRef != null) add({ kind: 'secret', name: secretRef.name ?? '', container }, secretRef.optional);
    }
    for (const { valueFrom } of env ?? []) {
      const { configMapKeyRef: map, secretKeyRef: secret } = valueFrom ?? {};
      if (map != null) add({ kind: 'configmap', name: map.name ?? '', key: map.key, container }, map.optional);
      if (secret != null) add({ kind: 'secret', name: secret.name ?? '', key: secret.key, container }, secret.optional);
    }
  }
  return references;
}

const resources = { configmap: refs.configMaps, secret: refs.secrets, persistentvolumeclaim: refs.persistentVolumeClaims } as const;
/** Objects that were found, with their keys, are not looked up again for so long. */
const FOUND_MS = 10_000;
const FOUND_LIMIT = 4096;

/** Why the containers of a pod wait, by container; under the empty name for all of them. */
export type Missing = ReadonlyMap<string, Blocked & { readonly event?: string }>;

export class References {
  private readonly context: ControllerContext;
  private readonly disks: ContainerFiles;
  private readonly wake: (podKey: string) => void;
  /** Uids of claims that pods used. */
  private readonly claims = new BoundedCache<string, string>(FOUND_LIMIT);
  private readonly keysById = new BoundedCache<string, { readonly keys: ReadonlySet<string>; readonly at: number }>(FOUND_LIMIT);
  /** Keys of pods that wait for an object, by the object. A pod that waits is there once for each object. */
  private readonly waiting = new Map<string, Set<string>>();
  private readonly informers = new Map<string, Informer>();

  constructor(context: ControllerContext, disks: ContainerFiles, wake: (podKey: string) => void) {
    this.context = context;
    this.disks = disks;
    this.wake = wake;
  }

  /** What a pod waits for. It is woken when one of the objects arrives. */
  async missing(pod: WorkloadPod, podKey: string): Promise<Missing> {
    const all = referencesOf(pod, this.context.identity.rootCAConfigMap);
    const missing = new Map<string, Blocked & { event?: string }>();
    const namespace = pod.metadata.namespace ?? '';
    for (const reference of all) {
      const keys = await this.keysOf(reference, namespace);
      if (keys !== undefined && (reference.key === undefined || keys.has(reference.key))) continue;
      this.waitFor(reference, namespace, podKey);
      const why = explained(reference, namespace, keys !== undefined);
      const place = reference.container ?? '';
      if (!missing.has(place)) missing.set(place, why);
    }
    return missing;
  }
  /** A pod that was deleted waits for nothing. */
  forget(podKey: string): void {
    for (const [id, pods] of this.waiting) if (pods.delete(podKey) && pods.size === 0) this.waiting.delete(id);
  }

  private async keysOf({ kind, name }: Reference, namespace: string): Promise<ReadonlySet<string> | undefined> {
    const { client, clock } = this.context;
    const id = `${kind}/${namespace}/${name}`;
    const cachedKeys = this.keysById.get(id);
    if (cachedKeys !== undefined && clock.now() - cachedKeys.at < FOUND_MS) return cachedKeys.keys;
    const object = await client.get<ApiObject>(resources[kind], namespace, name).catch(unlessGone);
    if (object === undefined || (kind === 'persistentvolumeclaim' && !isBound(object))) return undefined;
    if (kind === 'persistentvolumeclaim') this.noteClaim(namespace, name, object.metadata.uid ?? '');
    const { data, binaryData } = object as Wire<ConfigMap> & Wire<Secret>;
    const keys = new Set([...Object.keys(data ?? {}), ...Object.keys(binaryData ?? {})]);
    this.keysById.set(id, { keys, at: clock.now() });
    return keys;
  }
  /** A claim that was made again has nothing of the old one. */
  private noteClaim(namespace: string, name: string, uid: string): void {
    const disk = claimDisk(namespace, name);
    const claimName = this.claims.get(disk);
    if (claimName === uid) return;
    if (claimName !== undefined) this.disks.delete(disk);
    this.claims.set(disk, uid);
  }
  private waitFor({ kind, name }: Reference, namespace: string, podKey: string): void {
    const id = `${kind}/${namespace}/${name}`;
    const pods = this.waiting.get(id) ?? new Set();
    pods.add(podKey);
    this.waiting.set(id, pods);
    if (this.informers.has(kind)) return;
    // Watched from the first pod that misses one: most servers never need it.
    const informer = this.context.informers.of(resources[kind], kind === 'persistentvolumeclaim' ? {} : { metadataOnly: true });
    this.informers.set(kind, informer);
    informer.onChange(({ type, object }) => {
      const key = `${kind}/${object.metadata.namespace ?? ''}/${object.metadata.name ?? ''}`;
      if (type === 'deleted') {
        this.keysById.delete(key);
        return;
      }
      const woken = this.waiting.get(key);
      if (woken === undefined) return;
      this.keysById.delete(key);
      this.waiting.delete(key);
      for (const pod of woken) this.wake(pod);
    });
  }
}

const isBound = (object: ApiObject): boolean => (object as Wire<PersistentVolumeClaim>).status?.phase === 'Bound';

/** In the words of node agents. */
function explained({ kind, name, key, container, volume }: Reference, namespace: string, exists: boolean): Blocked & { event?: string } {
  const word = kind === 'configmap' ? 'ConfigMap' : 'Secret';
  const text = exists ? `couldn't find key ${key} in ${word} ${namespace}/${name}` : `${kind} ${JSON.stringify(name)} not found`;
  if (container !== undefined) return { reason: 'CreateContainerConfigError', message: text, event: `Error: ${text}` };
  return { reason: 'ContainerCreating', event: `MountVolume.SetUp failed for volume ${JSON.stringify(volume)} : ${text}` };
}
