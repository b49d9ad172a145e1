/** Why a claim is not bound. */
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { PersistentVolumeClaim } from '@plat-dev/kinds/core/schema/volumes/persistent-volume-claims';
import type { PersistentVolume } from '@plat-dev/kinds/core/schema/volumes/persistent-volumes';
import type { StorageClass } from '@plat-dev/kinds/storage/schema/v1';
import { amount } from '@plat-dev/kinds/validation/resources';
import type { Wire } from '@plat-dev/kinds/wire';
import { domainName } from '@plat-dev/meta/identity';
import type { CallersView, Target } from './callers-view.ts';
import { type Cause, causeOf, commandFor, commandOn, explainedName, sentence } from './cause.ts';
import { claimNamesOf } from './pod-references.ts';
import type { Reason } from './reasons.ts';
import { lastWarning } from './warnings.ts';

type Claim = Wire<PersistentVolumeClaim>;
type Volume = Wire<PersistentVolume>;

/** `isUsed`: a pod waits for the claim, so that one that is bound with its first consumer waits for nothing. */
export async function claimCauses(view: CallersView, target: Target, isUsed: boolean): Promise<Cause[]> {
  const { metadata, spec, status } = target.object as Claim;
  const cause = (reason: Reason, message: string, command?: string): Cause[] => [causeOf(target, reason, message, command)];
  const name = metadata.name ?? '';
  if (metadata.deletionTimestamp !== undefined)
    return cause('ClaimDeleting', `The claim ${name} is being deleted.`, commandOn('why not deleted', target));
  if (status?.phase === 'Lost')
    return cause(
      'VolumeLost',
      `The volume ${spec?.volumeName ?? ''} of the claim ${name} does not exist any more.`,
      'get persistentvolumes',
    );
  if (status?.phase === 'Bound') return [];
  const volumeName = spec?.volumeName ?? '';
  if (volumeName !== '') return namedVolumeCauses(view, target, volumeName);
  const className = spec?.storageClassName;
  if (className === undefined || className === '') return staticCauses(view, target, className === undefined);
  const classes = view.builtin('storage', 'storageclasses');
  const storageClass = await view.get<Wire<StorageClass>>(classes, '', className);
  if (storageClass.isKnown && storageClass.object === undefined)
    return cause('StorageClassMissing', `The storage class ${className} of the claim ${name} does not exist.`, 'get storageclasses');
  const { provisioner, volumeBindingMode } = storageClass.object ?? {};
  if (volumeBindingMode === 'WaitForFirstConsumer' && !(await isConsumed(view, target)))
    return isUsed ? [] : cause('WaitsForConsumer', `The claim ${name} is bound when a pod uses it (storage class ${className}).`);
  if (volumeBindingMode === 'WaitForFirstConsumer' && isUsed) return [];
  if (provisioner === domainName(view.identity, 'no-provisioner')) return staticCauses(view, target, false);
  const warning = await lastWarning(view, target);
  if (warning !== undefined) return cause('ProvisioningFailed', sentence(`The claim ${name} gets no volume: ${warning}`));
  return cause(
    'WaitsForProvisioner',
    `The claim ${name} waits for the provisioner ${provisioner ?? ''} of the storage class ${className}.`,
  );
}

async function namedVolumeCauses(view: CallersView, target: Target, volumeName: string): Promise<Cause[]> {
  const { namespace = '', name = '' } = target.object.metadata;
  const volumes = view.builtin('', 'persistentvolumes');
  const volume = await view.get<Volume>(volumes, '', volumeName);
  const naming = `The claim ${name} names the volume ${volumeName}`;
  const command = commandFor('describe', explainedName(volumes, '', volumeName));
  if (volume.isKnown && volume.object === undefined)
    return [causeOf(target, 'VolumeMissing', `${naming}, which does not exist.`, 'get persistentvolumes')];
  const { claimRef } = volume.object?.spec ?? {};
  if (claimRef != null && (claimRef.namespace !== namespace || claimRef.name !== name))
    return [causeOf(target, 'VolumeTaken', `${naming}, which belongs to another claim.`, command)];
  return [causeOf(target, 'WaitsForBinder', `The claim ${name} waits to be bound to the volume ${volumeName}.`, command)];
}

/** Without a provisioner a volume has to be there. */
async function staticCauses(view: CallersView, target: Target, hasNoClass: boolean): Promise<Cause[]> {
  const { metadata, spec } = target.object as Claim;
  const { objects, isWhole } = await view.list<Volume>(view.builtin('', 'persistentvolumes'));
  const needed = amountOf(spec?.resources?.requests);
  const fitting = objects.filter(
    (volume) =>
      volume.status?.phase === 'Available' &&
      (volume.spec?.storageClassName ?? '') === (spec?.storageClassName ?? '') &&
      (spec?.accessModes ?? []).every((mode) => volume.spec?.accessModes?.includes(mode)) &&
      amountOf(volume.spec?.capacity).compare(needed) >= 0,
  );
  const name = metadata.name ?? '';
  if (fitting.length > 0 || !isWhole) return [causeOf(target, 'WaitsForBinder', `The claim ${name} waits to be bound to a volume.`)];
  const hint = hasNoClass ? ' It names no storage class, and there was no default one.' : '';
  const message = `No available volume fits the claim ${name}, and nothing provisions one.${hint}`;
  return [causeOf(target, 'NoVolumeFits', message, hasNoClass ? 'get storageclasses' : 'get persistentvolumes')];
}
const amountOf = (quantities: Readonly<Record<string, unknown>> | null | undefined) =>
  amount((quantities?.storage as string | undefined) ?? '0');

async function isConsumed(view: CallersView, { object: { metadata } }: Target): Promise<boolean> {
  const name = metadata.name ?? '';
  const { objects } = await view.list<Wire<Pod>>(view.builtin('', 'pods'), metadata.namespace ?? '', name);
  return (await view.filter(objects, (pod) => claimNamesOf(pod).includes(name))).length > 0;
}
