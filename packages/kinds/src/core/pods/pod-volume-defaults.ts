/** Defaults of volumes that depend on which source they have. */

import type { PersistentVolumeClaimSpec } from '../schema/volumes/persistent-volume-claims.ts';
import type { DownwardAPIVolumeFile, Volume } from '../schema/volumes/volumes.ts';
import { pullPolicyOf } from './pod-image.ts';
import { roundedResources } from './pod-resources.ts';

/** Files are readable by all and writable by their owner. */
const fileMode = 0o644;
const tokenSeconds = 3600;

export function volumeDefaults(volume: Volume): void {
  let sources = 0;
  for (const field in volume) if (field !== 'name' && volume[field as keyof Volume] !== undefined) sources++;
  if (sources === 0) volume.emptyDir = {};
  const { secret, configMap, downwardAPI, projected, hostPath, ephemeral, image } = volume;
  if (secret !== undefined) secret.defaultMode ??= fileMode;
  if (configMap !== undefined) configMap.defaultMode ??= fileMode;
  if (downwardAPI !== undefined) {
    downwardAPI.defaultMode ??= fileMode;
    downwardDefaults(downwardAPI.items);
  }
  if (projected !== undefined) {
    projected.defaultMode ??= fileMode;
    for (const { downwardAPI: facts, serviceAccountToken: token } of projected.sources ?? []) {
      if (facts !== undefined) downwardDefaults(facts.items);
      if (token !== undefined) token.expirationSeconds ??= tokenSeconds;
    }
  }
  if (hostPath !== undefined) hostPath.type ??= '';
  if (image !== undefined) image.pullPolicy ??= pullPolicyOf(image.reference ?? '');
  if (ephemeral?.volumeClaimTemplate !== undefined) claimSpecDefaults(ephemeral.volumeClaimTemplate.spec);
  diskDefaults(volume);
}

function downwardDefaults(items: readonly DownwardAPIVolumeFile[] | undefined): void {
  for (const { fieldRef } of items ?? []) if (fieldRef !== undefined) fieldRef.apiVersion ??= 'v1';
}

export function claimSpecDefaults(spec: PersistentVolumeClaimSpec): void {
  spec.volumeMode ??= 'Filesystem';
  roundedResources(spec.resources);
}

function diskDefaults({ iscsi, rbd, azureDisk, scaleIO }: Volume): void {
  if (iscsi !== undefined) iscsi.iscsiInterface ??= 'default';
  if (rbd !== undefined) {
    rbd.pool ??= 'rbd';
    rbd.user ??= 'admin';
    rbd.keyring ??= '/etc/ceph/keyring';
  }
  if (azureDisk !== undefined) {
    azureDisk.cachingMode ??= 'ReadWrite';
    azureDisk.kind ??= 'Shared';
    azureDisk.fsType ??= 'ext4';
    azureDisk.readOnly ??= false;
  }
  if (scaleIO !== undefined) {
    scaleIO.storageMode ??= 'ThinProvisioned';
    scaleIO.fsType ??= 'xfs';
  }
}
