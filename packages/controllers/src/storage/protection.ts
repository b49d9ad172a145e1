/**
 * Protects storage that is in use: a claim that a pod uses, a volume that is bound to a claim, and a class of attributes that claims or
 * volumes name, are removed only after that. A finalizer holds them; these controllers remove it when the object is no longer used.
 */

import type { Client, ResourceRef } from '@plat-dev/client/dynamic';
import { unlessGone } from '@plat-dev/client/http';
import { type Informer, keyOf, splitKey } from '@plat-dev/client/informer';
import type { PersistentVolumeClaim } from '@plat-dev/kinds/core/schema/volumes/persistent-volume-claims';
import type { PersistentVolume } from '@plat-dev/kinds/core/schema/volumes/persistent-volumes';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Wire } from '@plat-dev/kinds/wire';
import { domainName } from '@plat-dev/meta/identity';
import { builtin, type Controller, refs } from '../runtime/controller.ts';
import { claimsOf, type SlimPod, slimPods, type WirePod } from '../runtime/pods.ts';

type Volume = Wire<PersistentVolume>;
type Claim = Wire<PersistentVolumeClaim>;

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

const attributesKind = { group: 'storage', plural: 'volumeattributesclasses' } as const;

/** The classes of attributes that a claim or a volume has, is to have, or wants. */
function classesOf(object: Claim | Volume): string[] {
  const { volumeAttributesClassName: wanted } = (object.spec ?? {}) as { volumeAttributesClassName?: string };
  const { currentVolumeAttributesClassName: current, modifyVolumeStatus: change } = (object.status ?? {}) as {
    currentVolumeAttributesClassName?: string;
    modifyVolumeStatus?: { targetVolumeAttributesClassName?: string };
  };
  return [wanted, current, change?.targetVolumeAttributesClassName].filter((name) => name !== undefined && name !== '') as string[];
}

export const attributesProtection: Controller = {
  name: 'volumeattributesclass-protection-controller',
  account: 'volumeattributesclass-protection-controller',
  needs: attributesKind,
  start({ informers, queue, client, identity }) {
    const finalizer = domainName(identity, 'vac-protection');
    const ref = builtin(identity, attributesKind.group, 'v1', attributesKind.plural, false);
    const classes = informers.of(ref, { metadataOnly: true });
    const claims = informers.of<Claim>(refs.persistentVolumeClaims);
    const volumes = informers.of<Volume>(refs.persistentVolumes);
    const isUsed = async (name: string): Promise<boolean> => {
      if ([...claims.list(), ...volumes.list()].some((object) => classesOf(object).includes(name))) return true;
      // The informers may be stale, and a class in use must not be removed.
      for await (const claim of client.each<Claim>(refs.persistentVolumeClaims, undefined))
        if (classesOf(claim).includes(name)) return true;
      for await (const volume of client.each<Volume>(refs.persistentVolumes, undefined)) if (classesOf(volume).includes(name)) return true;
      return false;
    };
    const work = queue((name) => settle(client, ref, classes.get('', name), finalizer, () => isUsed(name)), {
      after: [classes.synced, claims.synced, volumes.synced],
    });
    classes.onChange(({ type, object }) => {
      if (type !== 'deleted') work.add(object.metadata.name ?? '');
    });
    /** A class that was used before the change may be unused now. */
    const released = ({ old }: { old?: Claim | Volume | undefined }): void => {
      for (const name of old === undefined ? [] : classesOf(old)) work.add(name);
    };
    claims.onChange(released);
    volumes.onChange(released);
  },
};
