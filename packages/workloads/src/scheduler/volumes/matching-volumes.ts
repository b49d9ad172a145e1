/** Volumes that exist and fit a claim. */
import { amount } from '@plat-dev/kinds/validation/resources';
import { fromLabelSelector } from '@plat-dev/meta/labels';
import { type Claim, claimKey, type Volume, type VolumeObjects } from './objects.ts';

/** Free volumes of the claim's class with its modes, size and labels, the smallest first. One that names the claim is the only one. */
export function matchingVolumes(objects: VolumeObjects, claim: Claim): Volume[] {
  const className = objects.classNameOf(claim);
  const size = claim.spec?.resources?.requests?.storage;
  const neededSize = size === undefined ? undefined : amount(size);
  const selector = claim.spec?.selector === undefined ? undefined : fromLabelSelector(claim.spec.selector);
  const mode = claim.spec?.volumeMode ?? 'Filesystem';
  const matching: { volume: Volume; size: ReturnType<typeof amount> }[] = [];
  for (const volume of objects.volumes()) {
    const { spec, status, metadata } = volume;
    if (metadata.deletionTimestamp !== undefined || (spec?.volumeMode ?? 'Filesystem') !== mode) continue;
    // Most volumes have a claim: they are left first.
    const isNamed = spec?.claimRef !== undefined;
    if (isNamed && !namesClaim(volume, claim)) continue;
    const has = amount(spec?.capacity?.storage ?? '0');
    if (neededSize !== undefined && has.compare(neededSize) < 0) continue;
    if (isNamed) return [volume];
    const reserved = objects.chosenVolumes.get(metadata.name ?? '');
    if (reserved !== undefined && reserved !== claimKey(claim)) continue;
    if (status?.phase !== 'Available' || objects.classNameOf(volume) !== className) continue;
    if (selector !== undefined && !selector.matches(metadata.labels)) continue;
    if (!(claim.spec?.accessModes ?? []).every((one) => spec?.accessModes?.includes(one))) continue;
    matching.push({ volume, size: has });
  }
  return matching
    .sort((a, b) => a.size.compare(b.size) || ((a.volume.metadata.name ?? '') < (b.volume.metadata.name ?? '') ? -1 : 1))
    .map(({ volume }) => volume);
}

function namesClaim({ spec }: Volume, { metadata }: Claim): boolean {
  const { name, namespace, uid = '' } = spec?.claimRef ?? {};
  return name === metadata.name && namespace === metadata.namespace && (uid === '' || uid === metadata.uid);
}
