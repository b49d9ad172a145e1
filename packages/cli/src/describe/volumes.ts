/** The volumes of pods and pod templates, and the sources of persistent volumes. */

import type { Volume } from '@plat-dev/kinds/core/schema/volumes/volumes';
import { own } from '@plat-dev/lib/own';
import { writeClaim } from './claims.ts';
import { cut, type Page, sortedPairs } from './page.ts';
import type { ReadForm } from './values.ts';
import { sources } from './volume-sources.ts';

type Values = Readonly<Record<string, unknown>>;
const MAX_ATTRIBUTE_BYTES = 140;
/** Labels that the stock client spells in another way than all others. */
const spelled: Readonly<Record<string, string>> = { ISCSIInterface: 'ISCSIInterface', Kind: 'Kind: ' };

/** `space` is that of a pod template, below which everything but the fields of a volume is written further to the right. */
export function writeVolumes(page: Page, volumes: readonly ReadForm<Volume>[] = [], space = ''): void {
  if (volumes.length === 0) {
    page.field(`${space}Volumes`, '<none>');
    return;
  }
  page.heading(`${space}Volumes`);
  for (const volume of volumes) {
    page.at(1).heading(`${space === '' ? '' : ' '}${volume.name ?? ''}`);
    if (!writeOwn(page.at(2), volume) && !writeSource(page.at(2), volume as Values, true)) page.at(1).line('<unknown>');
  }
}

/** Sources with more than fields. Answers whether the volume has one of these. */
function writeOwn(page: Page, { projected, downwardAPI, ephemeral }: ReadForm<Volume>): boolean {
  if (projected !== undefined) {
    page.field('Type', 'Projected (a volume that contains injected data from multiple sources)');
    for (const { secret, downwardAPI: downward, configMap, serviceAccountToken } of projected.sources ?? []) {
      if (secret !== undefined) page.field('SecretName', secret.name).field('SecretOptionalName', pointer(secret.optional));
      else if (downward !== undefined) page.field('DownwardAPI', true);
      else if (configMap !== undefined) page.field('ConfigMapName', configMap.name).field('ConfigMapOptional', pointer(configMap.optional));
      else if (serviceAccountToken !== undefined) page.field('TokenExpirationSeconds', serviceAccountToken.expirationSeconds ?? 0);
    }
  } else if (downwardAPI !== undefined) {
    page.field('Type', 'DownwardAPI (a volume populated by information about the pod)').heading('Items');
    for (const { path, fieldRef, resourceFieldRef } of downwardAPI.items ?? []) {
      if (fieldRef !== undefined) page.at(1).line(`${fieldRef.fieldPath} -> ${path}`);
      if (resourceFieldRef !== undefined) page.at(1).line(`${resourceFieldRef.resource} -> ${path}`);
    }
  } else if (ephemeral !== undefined) {
    page.field('Type', 'EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)');
    const { volumeClaimTemplate: template } = ephemeral;
    if (template !== undefined) writeClaim(page, { metadata: template.metadata ?? {}, spec: template.spec ?? {} }, undefined);
  } else return false;
  return true;
}
/** The stock client prints where the value is in its memory, or this for none. */
const pointer = (value: boolean | undefined): string | boolean => value ?? '<nil>';

/** Type and fields of a source. Answers whether it is one that is known. */
export function writeSource(page: Page, volume: Values, inPod: boolean): boolean {
  const name = Object.keys(sources).find((field) => own(volume, field) !== undefined);
  const knownSource = name === undefined ? undefined : own(sources, name);
  if (name === undefined || knownSource === undefined) return false;
  const source = own(volume, name) as Values;
  page.field('Type', knownSource.type);
  const rows = inPod ? knownSource.rows : (knownSource.inVolume ?? knownSource.rows);
  for (const [label, field, read] of rows) page.line(own(spelled, label) ?? `${label}:`, read(own(source, field), inPod));
  if (name === 'csi') writeAttributes(page, (source.volumeAttributes ?? {}) as Record<string, string>);
  return true;
}

/** The stock client indents the values, too, but not the word that there are none. */
function writeAttributes(page: Page, attributes: Readonly<Record<string, string>>): void {
  const lines = sortedPairs(attributes).map((pair) => cut(pair, MAX_ATTRIBUTE_BYTES));
  if (lines.length === 0) page.field('VolumeAttributes', '<none>');
  else page.list('VolumeAttributes', lines);
}
