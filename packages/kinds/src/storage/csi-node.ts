/** Storage drivers that are installed on a node. */

import { equal } from '@plat-dev/lib/equal';
import { ageAt } from '@plat-dev/meta/age';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { immutableProblem, negativeProblem } from '@plat-dev/meta/names';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind } from '../kind.ts';
import { repeatedTexts } from '../validation/each.ts';
import { qualified } from '../validation/field-checks.ts';
import { invalidText, listText } from '../validation/go-text.ts';
import { metadataAgain } from '../validation/repeated-metadata.ts';
import { validateCSIDriverName } from '../validation/volumes/volume-disks.ts';
import { CSINode, type CSINodeDriver } from './schema/v1.ts';

const drivers = Path.of('spec', 'drivers');
const MAX_NODE_ID = 256;

function validate(node: CSINode, errors: FieldErrors, env: KindEnv): void {
  const names = new Set<string>();
  node.spec.drivers?.forEach((driver, i) => {
    const at = drivers.index(i);
    validateCSIDriverName(driver.name, at.child('name'), errors, env);
    if (driver.nodeID === '') errors.required(at.child('nodeID'));
    if (Buffer.byteLength(driver.nodeID) > MAX_NODE_ID)
      errors.invalid(at.child('nodeID'), driver.nodeID, `must be ${MAX_NODE_ID} characters or less`);
    const count = driver.allocatable?.count;
    if (count !== undefined && count < 0) errors.invalid(at.child('allocatable').child('count'), count, negativeProblem);
    if (names.has(driver.name)) errors.duplicate(at.child('name'), driver.name);
    names.add(driver.name);
    validateTopologyKeys(driver.topologyKeys ?? [], at, errors);
  });
}

function validateTopologyKeys(keys: readonly string[], at: Path, errors: FieldErrors): void {
  const again = repeatedTexts(keys);
  keys.forEach((key, i) => {
    if (key === '') errors.required(at);
    if (again[i]) errors.duplicate(at, key);
    qualified(key, at, errors);
  });
}

/** Drivers may be added and removed; the fields of one that stays are immutable. */
function validateUpdate(node: CSINode, old: CSINode, errors: FieldErrors, env: KindEnv): void {
  const errorsBefore = errors.list.length;
  metadataAgain(node, { namespaced: false }, errors, env);
  validate(node, errors, env);
  // Stock servers up to 1.35 validate the drivers once more here, and clients see their errors twice.
  if (errors.list.length > errorsBefore && !env.since('1.36')) {
    metadataAgain(node, { namespaced: false }, errors, env);
    validate(node, errors, env);
  }
  for (const was of old.spec.drivers ?? [])
    for (const driver of node.spec.drivers ?? [])
      if (driver.name === was.name && !equal(comparable(driver, env), comparable(was, env)))
        invalidText(errors, env.since('1.33') ? drivers : Path.of('CSINodeDriver'), driverText(driver), immutableProblem);
}

/** How many volumes a node takes may change where the feature is on. */
function comparable(driver: CSINodeDriver, env: KindEnv): CSINodeDriver {
  if (!env.feature('MutableCSINodeAllocatableCount')) return driver;
  const { allocatable: _, ...rest } = driver;
  return rest;
}

function driverText({ name, nodeID, topologyKeys, allocatable }: CSINodeDriver): string {
  const resources = allocatable === undefined ? '(*storage.VolumeNodeResources)(nil)' : JSON.stringify(allocatable);
  return `storage.CSINodeDriver{Name:${JSON.stringify(name)}, NodeID:${JSON.stringify(nodeID)}, TopologyKeys:${listText(topologyKeys)}, Allocatable:${resources}}`;
}

export const CSINodeKind = kind<CSINode>({
  group: 'storage',
  kind: 'CSINode',
  plural: 'csinodes',
  scope: 'Cluster',
  versions: { v1: { schema: CSINode } },
  hub: 'v1',
  updateNeedsVersion: true,
  deleteReturnsObject: true,
  strategy: { validate, validateUpdate },
  columns: [nameColumn, { name: 'Drivers', type: 'integer', description: 'How many drivers are installed on the node.' }, ageColumn],
  cells: ({ metadata, spec }, env) => [metadata.name ?? '', spec.drivers?.length ?? 0, ageAt(env.now(), metadata.creationTimestamp)],
});
