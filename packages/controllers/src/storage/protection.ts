/**
 * Protects storage that is in use: a claim that a pod uses, and a volume that is bound to a claim, are removed only after
 * that. A finalizer holds them; these controllers remove it when the object is no longer used.
 */

import type { Client, ResourceRef } from '@plat-dev/client/dynamic';
import { unlessGone } from '@plat-dev/client/http';
import { type Informer, keyOf, splitKey } from '@plat-dev/client/informer';
import type { PersistentVolume } from '@plat-dev/kinds/core/schema/volumes/persistent-volumes';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Wire } from '@plat-dev/kinds/wire';
import { domainName } from '@plat-dev/meta/identity';
import { type Controller, refs } from '../runtime/controller.ts';
import { claimsOf, type SlimPod, slimPods, type WirePod } from '../runtime/pods.ts';

type Volume = Wire<PersistentVolume>;

/** Adds or removes the finalizer, by the state of the object. */
async function settle(
  client: Client,
  ref: ResourceRef,
  knownObject: ApiObject | undefined,
  finalizer: string,
  inUse: () => Promise<boolean>,
): Promise<void> {
  if (knownObject === undefined) return;
  const has = (knownObject.metadata.finalizers ?? []).includes(finalizer);
  const deleting = knownObject.metadata.deletionTimestamp !== undefined;
  if (has !== deleting || (deleting && (await inUse()))) return;
  const { namespace = '', name = '' } = knownObject.metadata;
  const live = await client.find(ref, namespace, name);
  if (live === undefined || live.metadata.uid !== knownObject.metadata.uid) return;
  const others = (live.metadata.finalizers ?? []).filter((one) => one !== finalizer);
  live.metadata.finalizers = deleting ? others : [...others, finalizer];
  await client.update(ref, live).catch(unlessGone);
}

export const claimProtection: Controller = {
  name: 'pvc-protection',
  account: 'pvc-protection-controller',
  start({ informers, queue, client, identity }) {
    const finalizer = domainName(identity, 'pvc-protection');
    const claims = informers.of(refs.persistentVolumeClaims, { metadataOnly: true });
    let pods: Informer<SlimPod> | undefined;
    /** Pods are watched from the first terminating claim on. */
    const followPods = async (): Promise<Informer<SlimPod>> => {
      if (pods === undefined) {
        pods = slimPods(informers);
        pods.onChange(({ type, object }) => {
          if (type !== 'deleted') return;
          for (const claim of object.spec.claims ?? []) work.add(`${object.metadata.namespace}/${claim}`);
        });
      }
      await pods.synced;
      return pods;
    };
    // A pod that is not bound to a node will not be: a pod with a terminating claim is not scheduled.
    const onNode = (pod: WirePod | SlimPod): boolean => (pod.spec?.nodeName ?? '') !== '';
    const work = queue(
      async (key) => {
        const { namespace, name } = splitKey(key);
        await settle(client, refs.persistentVolumeClaims, claims.get(namespace, name), finalizer, async () => {
          for (const pod of (await followPods()).list(namespace)) if (onNode(pod) && pod.spec.claims?.includes(name)) return true;
          // The informer may be stale, and a claim in use must not be removed.
          for await (const pod of client.each<WirePod>(refs.pods, namespace)) if (onNode(pod) && claimsOf(pod).includes(name)) return true;
          return false;
        });
      },
      { after: [claims.synced] },
    );
    claims.onChange(({ type, object }) => {
      if (type !== 'deleted') work.add(keyOf(object));
    });
  },
};

export const volumeProtection: Controller = {
  name: 'pv-protection',
  account: 'pv-protection-controller',
  start({ informers, queue, client, identity }) {
    const finalizer = domainName(identity, 'pv-protection');
    const volumes = informers.of<Volume>(refs.persistentVolumes);
    const work = queue(
      async (key) => {
        const volume = volumes.get('', splitKey(key).name);
        await settle(client, refs.persistentVolumes, volume, finalizer, async () => volume?.status?.phase === 'Bound');
      },
      { after: [volumes.synced] },
    );
    volumes.onChange(({ type, object }) => {
      if (type !== 'deleted') work.add(keyOf(object));
    });
  },
};
