/** StorageObjectInUseProtection: adds the finalizer that holds claims, volumes and classes of their attributes while they are in use. */
import { own } from '@plat-dev/lib/own';
import { domainName } from '@plat-dev/meta/identity';
import { kinds, type MakePlugin } from '../../plugin.ts';

export const storageObjectInUseProtection: MakePlugin = ({ identity }) => {
  const finalizers: Readonly<Record<string, string>> = {
    persistentvolumeclaims: domainName(identity, 'pvc-protection'),
    persistentvolumes: domainName(identity, 'pv-protection'),
    volumeattributesclasses: domainName(identity, 'vac-protection'),
  };
  return {
    name: 'StorageObjectInUseProtection',
    handles: (operation) => operation === 'CREATE',
    concerns: kinds('persistentvolumeclaims', 'persistentvolumes', 'storage/volumeattributesclasses'),
    admit({ object, served, subresource }) {
      if (object === undefined || subresource !== '') return;
      const finalizer = own(finalizers, served.kind.plural) as string;
      const { metadata } = object;
      if (metadata.finalizers?.includes(finalizer)) return;
      metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
    },
  };
};
