/** Config maps. */
import { equal } from '@plat-dev/lib/equal';
import { ageAt } from '@plat-dev/meta/age';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { configMapKey } from '@plat-dev/meta/names';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind } from '../kind.ts';
import { base64Length, immutableOnceSet, maxDataBytes, sizeOf } from '../validation/data.ts';
import { report } from '../validation/field-checks.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { ConfigMap } from './schema/config.ts';

const data = Path.of('data');
const binaryData = Path.of('binaryData');

function validate(map: ConfigMap, errors: FieldErrors): void {
  let size = 0;
  for (const key in map.data) {
    report(errors, data.key(key), key, configMapKey(key));
    if (map.binaryData !== undefined && Object.hasOwn(map.binaryData, key))
      errors.invalid(data.key(key), key, 'duplicate of key present in binaryData');
    size += Buffer.byteLength(map.data[key] as string);
  }
  for (const key in map.binaryData) {
    report(errors, binaryData.key(key), key, configMapKey(key));
    size += base64Length(map.binaryData[key] as string);
  }
  if (size > maxDataBytes) errors.tooLong(Path.of('[]'), maxDataBytes);
}

function validateUpdate(map: ConfigMap, old: ConfigMap, errors: FieldErrors, env: KindEnv): void {
  metadataUpdateAgain(map, old, errors, env);
  if (old.immutable) {
    immutableOnceSet(map.immutable === true, 'immutable', errors);
    immutableOnceSet(equal(map.data, old.data), 'data', errors);
    immutableOnceSet(equal(map.binaryData, old.binaryData), 'binaryData', errors);
  }
  metadataAgain(map, { namespaced: true }, errors, env);
  validate(map, errors);
}

export const ConfigMapKind = kind<ConfigMap>({
  group: '',
  kind: 'ConfigMap',
  plural: 'configmaps',
  short: ['cm'],
  scope: 'Namespaced',
  versions: { v1: { schema: ConfigMap } },
  hub: 'v1',
  strategy: { validate, validateUpdate },
  columns: [nameColumn, { name: 'Data', type: 'string', description: 'How many entries the config map holds.' }, ageColumn],
  cells: ({ metadata, ...map }, env) => [
    metadata.name ?? '',
    sizeOf(map.data) + sizeOf(map.binaryData),
    ageAt(env.now(), metadata.creationTimestamp),
  ],
});
