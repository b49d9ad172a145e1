/** Requests to store all objects of a resource anew. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { dns1035Label, dns1123Subdomain, immutableProblem } from '@plat-dev/meta/names';
import { nameCell } from '../cells.ts';
import { nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { keepMetadata, status } from '../subresources.ts';
import { validateConditions } from '../validation/conditions.ts';
import { immutable } from '../validation/field-checks.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { StorageVersionMigration } from './schema/v1beta1.ts';

const resourceAt = Path.of('spec', 'resource');
const statusAt = Path.of('status');
const conditionsAt = statusAt.child('conditions');

function validate({ spec }: StorageVersionMigration, errors: FieldErrors): void {
  const { group, resource } = spec.resource;
  const joined = (field: string, value: string, problems: readonly string[]): void => {
    if (problems.length > 0) errors.invalid(resourceAt.child(field), value, problems.join(','));
  };
  if (resource === '') errors.required(resourceAt.child('resource'), 'resource is required to be set');
  else joined('resource', resource, dns1035Label(resource));
  if (group !== '') joined('group', group, dns1123Subdomain(group));
}

const isTrue = ({ status: { conditions = [] } }: StorageVersionMigration, name: string): boolean =>
  conditions.some((condition) => condition.type === name && condition.status === 'True');

function validateStatus(migration: StorageVersionMigration, old: StorageVersionMigration, errors: FieldErrors): void {
  const { conditions, resourceVersion = '' } = migration.status;
  const { resourceVersion: oldVersion = '' } = old.status;
  const at = statusAt.child('resourceVersion');
  if (resourceVersion !== '' && !/^[1-9][0-9]*$/.test(resourceVersion))
    errors.invalid(at, resourceVersion, 'resource version is not well formed');
  validateConditions(conditions, conditionsAt, errors);
  if (oldVersion !== '' && oldVersion !== resourceVersion) errors.invalid(at, resourceVersion, immutableProblem);
  const wrong = (text: string): void => errors.invalid(conditionsAt, conditions ?? null, text);
  if (isTrue(migration, 'Succeeded') && isTrue(migration, 'Failed'))
    wrong('Both success and failed conditions cannot be true at the same time');
  if (isTrue(old, 'Succeeded') && !isTrue(migration, 'Succeeded')) wrong('Success condition cannot be set to false once it is true');
  if (isTrue(old, 'Failed') && !isTrue(migration, 'Failed')) wrong('Failed condition cannot be set to false once it is true');
}

function resourceCell({ spec }: StorageVersionMigration): string {
  const { group, resource } = spec.resource;
  return group === '' ? resource : `${resource}.${group}`;
}

export const StorageVersionMigrationKind = kind<StorageVersionMigration>({
  group: 'storagemigration',
  kind: 'StorageVersionMigration',
  plural: 'storageversionmigrations',
  scope: 'Cluster',
  versions: { v1beta1: { schema: StorageVersionMigration } },
  hub: 'v1beta1',
  updateNeedsVersion: true,
  strategy: {
    prepareForCreate: (migration) => {
      migration.status = {};
    },
    prepareForUpdate: (migration, old) => {
      migration.status = old.status;
    },
    validate,
    validateUpdate(migration, old, errors, env) {
      metadataAgain(migration, { namespaced: false }, errors, env);
      validate(migration, errors);
      metadataUpdateAgain(migration, old, errors, env);
      immutable(migration.spec, old.spec, Path.of('spec'), errors);
    },
    resetFields: [['status']],
  },
  subresources: {
    status: status({
      prepareForUpdate(migration, old) {
        keepMetadata(migration, old);
        migration.spec = old.spec;
      },
      validateUpdate(migration, old, errors, env) {
        metadataUpdateAgain(migration, old, errors, env);
        validateStatus(migration, old, errors);
      },
      resetFields: [['metadata'], ['spec']],
    }),
  },
  columns: [nameColumn, { name: 'Resource', type: 'string', description: 'The resource whose objects are stored anew.' }],
  cells: (migration) => [nameCell(migration), resourceCell(migration)],
});
