/** Persistent volumes, storage classes, and the drivers of nodes. */
import { accessModesText } from '@plat-dev/kinds/core/access-modes';
import type { PersistentVolume, VolumeNodeAffinity } from '@plat-dev/kinds/core/schema/volumes/persistent-volumes';
import type { CSINode, StorageClass } from '@plat-dev/kinds/storage/schema/v1';
import { domainName } from '@plat-dev/meta/identity';
import { classOf, terminating } from './claims.ts';
import type { Describer } from './describer.ts';
import type { Page } from './page.ts';
import { bracketed, type Described, labelsText, longTime, orUnset, type ReadForm, yesNo } from './values.ts';
import { writeSource } from './volumes.ts';

export const describeVolume: Describer<PersistentVolume> = {
  async write(page, { metadata, spec = {}, status = {} }, { now }) {
    const { claimRef } = spec;
    page.field('Name', metadata.name).labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
    page.field('Finalizers', bracketed(metadata.finalizers));
    page.field('StorageClass', classOf({ metadata, spec }));
    page.field('Status', terminating(metadata.deletionTimestamp, now) ?? status.phase);
    page.field('Claim', claimRef === undefined ? '' : `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`);
    page.field('Reclaim Policy', spec.persistentVolumeReclaimPolicy).field('Access Modes', accessModesText(spec.accessModes));
    if (spec.volumeMode !== undefined) page.field('VolumeMode', spec.volumeMode);
    page.field('Capacity', spec.capacity?.storage ?? '0');
    writeAffinity(page, spec.nodeAffinity);
    page.field('Message', status.message).heading('Source');
    if (!writeSource(page.at(2), spec as Record<string, unknown>, false)) page.at(1).line('<unknown>');
  },
};

function writeAffinity(page: Page, affinity: ReadForm<VolumeNodeAffinity> | undefined): void {
  const terms = affinity?.required?.nodeSelectorTerms;
  if (affinity?.required === undefined) {
    page.field('Node Affinity', '<none>');
    return;
  }
  page.field('Node Affinity', '');
  const required = page.at(1);
  if (terms === undefined || terms.length === 0) {
    required.field('Required Terms', '<none>');
    return;
  }
  required.field('Required Terms', '');
  terms.forEach(({ matchExpressions = [] }, i) => {
    const lines = matchExpressions.map(({ key = '', operator = '', values = [] }) => requirement(key, operator.toLowerCase(), values));
    writeTerm(page, 2, i, lines);
  });
}
const requirement = (key: string, operator: string, values: readonly string[]): string =>
  values.length === 0 ? `${key} ${operator}` : `${key} ${operator} [${values.join(', ')}]`;
/** Only the title is indented. */
function writeTerm(page: Page, level: number, index: number, lines: readonly string[]): void {
  page.list(`${'  '.repeat(level)}Term ${index}`, lines);
}

export const describeStorageClass: Describer<StorageClass> = {
  async write(page, object, { identity }) {
    const { metadata, mountOptions = [], allowedTopologies } = object;
    const isDefault = ['storageclass', 'storageclass.beta'].some(
      (prefix) => metadata.annotations?.[domainName(identity, 'is-default-class', prefix)] === 'true',
    );
    page.field('Name', metadata.name).field('IsDefaultClass', isDefault ? 'Yes' : 'No');
    page.field('Annotations', labelsText(metadata.annotations)).field('Provisioner', object.provisioner);
    page.field('Parameters', labelsText(object.parameters));
    page.field('AllowVolumeExpansion', object.allowVolumeExpansion === undefined ? orUnset(undefined) : yesNo(object.allowVolumeExpansion));
    if (mountOptions.length === 0) page.field('MountOptions', '<none>');
    else page.heading('MountOptions');
    for (const option of mountOptions) page.at(1).line(option);
    page.fieldIfSet('ReclaimPolicy', object.reclaimPolicy).fieldIfSet('VolumeBindingMode', object.volumeBindingMode);
    if (allowedTopologies === undefined) return;
    page.field('AllowedTopologies', allowedTopologies.length === 0 ? '<none>' : '');
    allowedTopologies.forEach(({ matchLabelExpressions = [] }, i) => {
      writeTerm(
        page,
        1,
        i,
        matchLabelExpressions.map(({ key = '', values = [] }) => requirement(key, 'in', values)),
      );
    });
  },
};

export const describeCSINode: Describer<CSINode> = {
  async write(page, { metadata, spec = {} }: Described<CSINode>) {
    page.field('Name', metadata.name).labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
    page.field('CreationTimestamp', longTime(metadata.creationTimestamp)).heading('Spec');
    if (spec.drivers === undefined) return;
    page.at(1).heading('Drivers');
    for (const { name, nodeID, allocatable, topologyKeys } of spec.drivers) {
      const driver = page
        .at(2)
        .heading(name ?? '')
        .at(1);
      driver.field('Node ID', nodeID);
      if (allocatable?.count !== undefined) driver.heading('Allocatables').at(1).field('Count', allocatable.count);
      if (topologyKeys !== undefined) driver.field('Topology Keys', bracketed(topologyKeys));
    }
  },
};
