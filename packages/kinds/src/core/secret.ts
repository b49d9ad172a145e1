/** Secrets. */

import { equal } from '@plat-dev/lib/equal';
import { setOwn } from '@plat-dev/lib/own';
import { ageAt } from '@plat-dev/meta/age';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { configMapKey } from '@plat-dev/meta/names';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind } from '../kind.ts';
import { base64Length, immutableOnceSet, maxDataBytes, sizeOf } from '../validation/data.ts';
import { immutable, report } from '../validation/field-checks.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { bootstrapTokenWarnings } from './bootstrap-token.ts';
import { Secret } from './schema/config.ts';
import { validateSecretType } from './secret-types.ts';

const data = Path.of('data');

/** `stringData` is moved to `data`; responses never have it. */
function defaults(secret: Secret): void {
  const { stringData } = secret;
  if (stringData === undefined) return;
  delete secret.stringData;
  const merged: Record<string, string> = { ...secret.data };
  for (const key of Object.keys(stringData)) setOwn(merged, key, Buffer.from(stringData[key] as string).toString('base64'));
  if (sizeOf(merged) > 0) secret.data = merged;
}

function validate(secret: Secret, errors: FieldErrors, env: KindEnv): void {
  let size = 0;
  for (const key in secret.data) {
    report(errors, data.key(key), key, configMapKey(key));
    size += base64Length(secret.data[key] as string);
  }
  if (size > maxDataBytes) errors.tooLong(data, maxDataBytes);
  validateSecretType(secret, errors, env);
}

function validateUpdate(secret: Secret, old: Secret, errors: FieldErrors, env: KindEnv): void {
  metadataUpdateAgain(secret, old, errors, env);
  immutable(secret.type, old.type, Path.of('type'), errors);
  if (old.immutable) {
    immutableOnceSet(secret.immutable === true, 'immutable', errors);
    immutableOnceSet(equal(secret.data, old.data), 'data', errors);
  }
  metadataAgain(secret, { namespaced: true }, errors, env);
  validate(secret, errors, env);
}

export const SecretKind = kind<Secret>({
  group: '',
  kind: 'Secret',
  plural: 'secrets',
  scope: 'Namespaced',
  versions: { v1: { schema: Secret, defaults } },
  hub: 'v1',
  strategy: { validate, validateUpdate, warnings: (secret, _old, env) => bootstrapTokenWarnings(secret, env.identity) },
  fields: { type: (secret) => secret.type ?? '' },
  columns: [
    nameColumn,
    { name: 'Type', type: 'string', description: 'What the secret is for.' },
    { name: 'Data', type: 'string', description: 'How many entries the secret holds.' },
    ageColumn,
  ],
  cells: (secret, env) => [
    secret.metadata.name ?? '',
    secret.type ?? '',
    sizeOf(secret.data),
    ageAt(env.now(), secret.metadata.creationTimestamp),
  ],
});
