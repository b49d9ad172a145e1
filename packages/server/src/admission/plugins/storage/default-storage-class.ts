/** DefaultStorageClass: a claim without a class gets the default class. */

import type { PersistentVolumeClaim } from '@plat-dev/kinds/core/schema/volumes/persistent-volume-claims';
import { domainName } from '@plat-dev/meta/identity';
import { kinds, type MakePlugin } from '../../plugin.ts';
import { refusal } from '../../refusal.ts';
import { defaultOf } from '../default-class.ts';

export const defaultStorageClass: MakePlugin = ({ identity, live }) => {
  const marks = ['storageclass', 'storageclass.beta'].map((prefix) => domainName(identity, 'is-default-class', prefix));
  const oldAnnotation = domainName(identity, 'storage-class', 'volume.beta');
  const defaultClass = defaultOf(live('storage', 'storageclasses'), marks, (count) => `${count} default StorageClasses were found`);
  return {
    name: 'DefaultStorageClass',
    handles: (operation) => operation === 'CREATE',
    concerns: kinds('persistentvolumeclaims'),
    admit(request) {
      if (request.subresource !== '') return;
      const claim = request.object as unknown as PersistentVolumeClaim;
      if (claim.spec.storageClassName !== undefined || claim.metadata.annotations?.[oldAnnotation] !== undefined) return;
      try {
        const name = defaultClass();
        if (name !== undefined) claim.spec.storageClassName = name;
      } catch (error) {
        throw refusal(request, (error as Error).message);
      }
    },
  };
};
