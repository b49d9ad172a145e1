/** Storage classes. */

import { equal } from '@plat-dev/lib/equal';
import { setOwn } from '@plat-dev/lib/own';
import { ageAt } from '@plat-dev/meta/age';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { domainName } from '@plat-dev/meta/identity';
import { labelKey } from '@plat-dev/meta/names';
import { ageColumn, nameColumn } from '../columns.ts';
import type { TopologySelectorTerm } from '../core/schema/pods/scheduling.ts';
import { type KindEnv, kind } from '../kind.ts';
import { repeatedTexts } from '../validation/each.ts';
import { immutable, qualified, report } from '../validation/field-checks.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { validateParameters } from './class-parameters.ts';
import { StorageClass } from './schema/v1.ts';

const reclaimPolicies = ['Delete', 'Retain'];
const bindingModes = ['Immediate', 'WaitForFirstConsumer'];

function validate(storageClass: StorageClass, errors: FieldErrors): void {
  const { provisioner, reclaimPolicy = '', volumeBindingMode } = storageClass;
  if (provisioner === '') errors.required(Path.of('provisioner'));
  else qualified(provisioner.toLowerCase(), Path.of('provisioner'), errors);
  validateParameters(storageClass.parameters ?? {}, Path.of('parameters'), errors);
  if (reclaimPolicy !== '' && !reclaimPolicies.includes(reclaimPolicy))
    errors.notSupported(Path.of('reclaimPolicy'), reclaimPolicy, reclaimPolicies);
  if (volumeBindingMode === undefined) errors.required(Path.of('volumeBindingMode'));
  else if (!bindingModes.includes(volumeBindingMode)) errors.notSupported(Path.of('volumeBindingMode'), volumeBindingMode, bindingModes);
  validateTopologies(storageClass.allowedTopologies ?? [], Path.of('allowedTopologies'), errors);
}

function validateTopologies(terms: readonly TopologySelectorTerm[], at: Path, errors: FieldErrors): void {
  const termTexts = new Set<string>();
  terms.forEach((term, i) => {
    const expressions = at.index(i).child('matchLabelExpressions');
    const byKey: Record<string, string[]> = {};
    term.matchLabelExpressions?.forEach(({ key, values = [] }, j) => {
      const here = expressions.index(j);
      if (values.length === 0) errors.required(here.child('values'));
      const again = repeatedTexts(values);
      values.forEach((value, k) => {
        if (again[k]) errors.duplicate(here.child('values').index(k), value);
      });
      report(errors, here.child('key'), key, labelKey(key));
      if (Object.hasOwn(byKey, key)) errors.duplicate(here.child('key'), key);
      setOwn(byKey, key, [...new Set(values)].sort());
    });
    const words = JSON.stringify(Object.entries(byKey).sort(([a], [b]) => (a < b ? -1 : 1)));
    if (termTexts.has(words)) errors.duplicate(expressions, '');
    termTexts.add(words);
  });
}

function validateUpdate(storageClass: StorageClass, old: StorageClass, errors: FieldErrors, env: KindEnv): void {
  metadataAgain(storageClass, { namespaced: false }, errors, env);
  validate(storageClass, errors);
  metadataUpdateAgain(storageClass, old, errors, env);
  for (const field of ['parameters', 'provisioner', 'reclaimPolicy'] as const)
    if (env.since('1.36')) immutable(storageClass[field], old[field], Path.of(field), errors);
    else if (!equal(storageClass[field], old[field])) errors.forbidden(Path.of(field), `updates to ${field} are forbidden.`);
  immutable(storageClass.volumeBindingMode, old.volumeBindingMode, Path.of('volumeBindingMode'), errors);
}

/** Marks the default class, for claims without a class. */
function isDefault({ metadata: { annotations } }: StorageClass, env: KindEnv): boolean {
  if (annotations === undefined) return false;
  const prefixes = ['storageclass', 'storageclass.beta'];
  return prefixes.some((prefix) => annotations[domainName(env.identity, 'is-default-class', prefix)] === 'true');
}

export const StorageClassKind = kind<StorageClass>({
  group: 'storage',
  kind: 'StorageClass',
  plural: 'storageclasses',
  short: ['sc'],
  scope: 'Cluster',
  versions: { v1: { schema: StorageClass } },
  hub: 'v1',
  deleteReturnsObject: true,
  strategy: { validate, validateUpdate },
  columns: [
    nameColumn,
    { name: 'Provisioner', type: 'string', description: 'The provisioner that makes volumes of the class.' },
    { name: 'ReclaimPolicy', type: 'string', description: 'What happens to a volume of the class when its claim is gone.' },
    { name: 'VolumeBindingMode', type: 'string', description: 'When volumes of the class are made and bound.' },
    { name: 'AllowVolumeExpansion', type: 'string', description: 'Whether claims of the class may grow.' },
    ageColumn,
  ],
  cells: (storageClass, env) => [
    `${storageClass.metadata.name ?? ''}${isDefault(storageClass, env) ? ' (default)' : ''}`,
    storageClass.provisioner,
    storageClass.reclaimPolicy ?? 'Delete',
    storageClass.volumeBindingMode ?? 'Immediate',
    storageClass.allowVolumeExpansion ?? false,
    ageAt(env.now(), storageClass.metadata.creationTimestamp),
  ],
});
