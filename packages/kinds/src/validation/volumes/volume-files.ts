/** Validation of volumes with data of the API: secrets, config maps, the downward API, tokens. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import type { KeyToPath } from '../../core/schema/references.ts';
import type {
  ConfigMapVolumeSource,
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  ProjectedVolumeSource,
  SecretVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from '../../core/schema/volumes/volumes.ts';
import type { KindEnv } from '../../kind.ts';
import { required } from '../field-checks.ts';
import { fileMode, volumeFilePath } from '../paths.ts';
import { validateFieldRef, validateResourceRef, volumeFields } from '../pods/env.ts';

export function validateSecretVolume(secret: SecretVolumeSource, at: Path, errors: FieldErrors): void {
  required(secret.secretName, at, 'secretName', errors);
  fileMode(secret.defaultMode, at, 'defaultMode', errors);
  if (secret.items !== undefined) validateItems(secret.items, at, errors);
}

export function validateConfigMapVolume(map: ConfigMapVolumeSource, at: Path, errors: FieldErrors): void {
  required(map.name, at, 'name', errors);
  fileMode(map.defaultMode, at, 'defaultMode', errors);
  if (map.items !== undefined) validateItems(map.items, at, errors);
}

function validateItems(items: readonly KeyToPath[], at: Path, errors: FieldErrors): void {
  items.forEach((item, i) => {
    validateItem(item, at.child('items').index(i), errors);
  });
}
function validateItem({ key, path, mode }: KeyToPath, at: Path, errors: FieldErrors): void {
  required(key, at, 'key', errors);
  required(path, at, 'path', errors);
  volumeFilePath(path, at.child('path'), errors);
  fileMode(mode, at, 'mode', errors);
}

export function validateDownwardVolume(volume: DownwardAPIVolumeSource, at: Path, errors: FieldErrors, env: KindEnv): void {
  fileMode(volume.defaultMode, at, 'defaultMode', errors);
  // These errors name the volume, not the file, as in a stock server.
  for (const file of volume.items ?? []) validateDownwardFile(file, at, errors, env);
}

function validateDownwardFile(file: DownwardAPIVolumeFile, at: Path, errors: FieldErrors, env: KindEnv): void {
  required(file.path, at, 'path', errors);
  volumeFilePath(file.path, at.child('path'), errors);
  const { fieldRef, resourceFieldRef } = file;
  if (fieldRef !== undefined) {
    validateFieldRef(fieldRef, volumeFields, at.child('fieldRef'), errors);
    if (resourceFieldRef !== undefined) errors.invalid(at, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
  } else if (resourceFieldRef !== undefined) validateResourceRef(resourceFieldRef, true, at.child('resourceFieldRef'), errors, env);
  else errors.required(at, 'one of fieldRef and resourceFieldRef is required');
  fileMode(file.mode, at, 'mode', errors);
}

export function validateProjectedVolume(volume: ProjectedVolumeSource, at: Path, errors: FieldErrors, env: KindEnv): void {
  fileMode(volume.defaultMode, at, 'defaultMode', errors);
  const paths = new Set<string>();
  volume.sources?.forEach((source, i) => {
    validateProjection(source, paths, at, at.child('sources').index(i), errors, env);
  });
}

function validateProjection(
  source: VolumeProjection,
  paths: Set<string>,
  volumeAt: Path,
  at: Path,
  errors: FieldErrors,
  env: KindEnv,
): void {
  const { secret, configMap, downwardAPI, serviceAccountToken } = source;
  const claim = (path: string, displayPath: string) => {
    if (path === '') return;
    if (paths.has(path)) errors.invalid(volumeAt, displayPath, 'conflicting duplicate paths');
    else paths.add(path);
  };
  let count = 0;
  for (const [field, named] of [
    ['secret', secret],
    ['configMap', configMap],
  ] as const) {
    if (named === undefined) continue;
    count++;
    required(named.name, at.child(field), 'name', errors);
    named.items?.forEach((item, i) => {
      validateItem(item, at.child(field).child('items').index(i), errors);
      claim(item.path, named.name ?? '');
    });
  }
  if (downwardAPI !== undefined) {
    count++;
    for (const file of downwardAPI.items ?? []) {
      validateDownwardFile(file, at.child('downwardAPI'), errors, env);
      claim(file.path, file.path);
    }
  }
  if (serviceAccountToken !== undefined) {
    count++;
    validateToken(serviceAccountToken, volumeAt, at.child('serviceAccountToken'), errors);
  }
  if (count > 1) errors.forbidden(at, 'may not specify more than 1 volume type');
}

function validateToken(
  { expirationSeconds = 0, path }: ServiceAccountTokenProjection,
  volumeAt: Path,
  at: Path,
  errors: FieldErrors,
): void {
  const expirationAt = at.child('expirationSeconds');
  if (expirationSeconds < 600) errors.invalid(expirationAt, expirationSeconds, 'may not specify a duration less than 10 minutes');
  if (expirationSeconds > 2 ** 32) errors.invalid(expirationAt, expirationSeconds, 'may not specify a duration larger than 2^32 seconds');
  if (path === '') errors.required(volumeAt.child('path'));
}
