/** PersistentVolumeClaimResize: a claim can be expanded only if its storage class allows it. */

import type { PersistentVolumeClaim } from '@plat-dev/kinds/core/schema/volumes/persistent-volume-claims';
import type { StorageClass } from '@plat-dev/kinds/storage/schema/v1';
import { domainName } from '@plat-dev/meta/identity';
import { compareQuantities } from '@plat-dev/meta/quantity';
import { kinds, type MakePlugin } from '../../plugin.ts';
import { refusal } from '../../refusal.ts';

export const persistentVolumeClaimResize: MakePlugin = ({ identity, live }) => {
  const classes = live<StorageClass>('storage', 'storageclasses');
  const oldAnnotation = domainName(identity, 'storage-class', 'volume.beta');
  const classOf = ({ metadata, spec }: PersistentVolumeClaim): string =>
    metadata.annotations?.[oldAnnotation] ?? spec.storageClassName ?? '';
  const mayGrow = (claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean => {
    const name = classOf(claim);
    return name !== '' && name === classOf(old) && classes.get('', name)?.allowVolumeExpansion === true;
  };
  return {
    name: 'PersistentVolumeClaimResize',
    handles: (operation) => operation === 'UPDATE',
    concerns: kinds('persistentvolumeclaims'),
    validate(request) {
      if (request.subresource !== '') return;
      const claim = request.object as unknown as PersistentVolumeClaim;
      const old = request.oldObject as unknown as PersistentVolumeClaim;
      if (compareQuantities(sizeOf(claim), sizeOf(old)) <= 0) return;
      if (old.status.phase !== 'Bound') throw refusal(request, 'Only bound persistent volume claims can be expanded');
      if (mayGrow(claim, old)) return;
      throw refusal(
        request,
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      );
    },
  };
};

const sizeOf = ({ spec }: PersistentVolumeClaim): string => spec.resources.requests?.storage ?? '0';
