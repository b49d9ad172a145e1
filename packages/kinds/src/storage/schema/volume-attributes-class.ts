/** Classes of volume attributes that may be changed while a volume is in use. */
import { always, type Infer, map, object, opt, req, string } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';

export const VolumeAttributesClass = object('storage.v1.VolumeAttributesClass', {
  metadata: always(1, ObjectMeta),
  driverName: req(2, string),
  parameters: opt(3, map(string)),
});
export type VolumeAttributesClass = Infer<typeof VolumeAttributesClass>;

/** The same fields in older versions. */
export const olderVolumeAttributesClass = (version: string) => inVersion(VolumeAttributesClass, `storage.${version}`);
