/** Why a volume that a claim names cannot be bound to it. */
import { amount } from '@plat-dev/kinds/validation/resources';
import type { Claim, Volume } from './volume-objects.ts';

/** Undefined: it can. The class names are passed in, since they may stand in annotations. */
export function mismatch(claim: Claim, volume: Volume, classes: { claim: string; volume: string }): string | undefined {
  if (volume.metadata.deletionTimestamp !== undefined) return 'the volume is marked for deletion';
  const neededSize = amount(claim.spec?.resources?.requests?.storage ?? '0');
  if (amount(volume.spec?.capacity?.storage ?? '0').compare(neededSize) < 0) return 'requested PV is too small';
  if (classes.claim !== classes.volume) return 'storageClassName does not match';
  if ((claim.spec?.volumeMode ?? 'Filesystem') !== (volume.spec?.volumeMode ?? 'Filesystem')) return 'incompatible volumeMode';
  const modes = volume.spec?.accessModes ?? [];
  return (claim.spec?.accessModes ?? []).every((mode) => modes.includes(mode)) ? undefined : 'incompatible accessMode';
}
