/** Storage versions: in which version each server stores the objects of a resource. */
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { dns1035Label, dns1123Subdomain, nameIsSubdomain, qualifiedName } from '@plat-dev/meta/names';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { keepMetadata, status } from '../subresources.ts';
import { each } from '../validation/each.ts';
import { type ServerStorageVersion, StorageVersion } from './schema/v1alpha1.ts';
import { commonVersion } from './storage-version-status.ts';

const at = Path.of('status');

/** `<group>.<resource>`: `apps.deployments`, `core.pods`. */
function nameRule(name: string): string[] {
  const dot = name.lastIndexOf('.');
  if (dot < 0) return ['name must be in the form of <group>.<resource>'];
  return [
    ...dns1123Subdomain(name.slice(0, dot)).map((text) => `the group segment ${text}`),
    ...dns1035Label(name.slice(dot + 1)).map((text) => `the resource segment ${text}`),
  ];
}

function versionProblems(apiVersion: string): string[] {
  const { group, version } = splitApiVersion(apiVersion);
  return [
    ...(group === '' && !apiVersion.startsWith('/') ? [] : dns1123Subdomain(group).map((text) => `group part: ${text}`)),
    ...dns1035Label(version).map((text) => `version part: ${text}`),
  ];
}

function validateServer(
  { apiServerID = '', encodingVersion = '', decodableVersions = [] }: ServerStorageVersion,
  path: Path,
  errors: FieldErrors,
): void {
  for (const text of nameIsSubdomain(apiServerID)) errors.invalid(path.child('apiServerID'), apiServerID, text);
  const check = (version: string, where: Path): void => {
    const problems = versionProblems(version);
    if (problems.length > 0) errors.invalid(where, version, problems.join(','));
  };
  check(encodingVersion, path.child('encodingVersion'));
  each(decodableVersions, path.child('decodableVersions'), check);
  if (!decodableVersions.includes(encodingVersion))
    errors.invalid(path.child('decodableVersions'), decodableVersions, `decodableVersions must include encodingVersion ${encodingVersion}`);
}

function validateCommon(
  { status: { storageVersions = [], commonEncodingVersion: statedVersion } }: StorageVersion,
  errors: FieldErrors,
): void {
  const common = commonVersion(storageVersions);
  if (common === statedVersion) return;
  const why =
    common === undefined
      ? 'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet'
      : `the ${statedVersion === undefined ? '' : 'actual '}common encoding version is ${common}`;
  errors.invalid(at.child('commonEncodingVersion'), statedVersion, why);
}

function validateStatus(object: StorageVersion, errors: FieldErrors): void {
  each(object.status.storageVersions, at.child('storageVersions'), (one, path) => validateServer(one, path, errors));
  validateCommon(object, errors);
  const indexByType = new Map<string, number>();
  (object.status.conditions ?? []).forEach((condition, i) => {
    const path = at.index(i);
    const first = indexByType.get(condition.type);
    if (first !== undefined)
      errors.invalid(
        path.child('type'),
        condition.type,
        `the type of the condition is not unique, it also appears in conditions[${first}]`,
      );
    indexByType.set(condition.type, i);
    for (const text of qualifiedName(condition.type)) errors.invalid(path.child('type'), condition.type, text);
    for (const text of qualifiedName(condition.status)) errors.invalid(path.child('status'), condition.type, text);
    if (condition.reason === '') errors.required(path.child('reason'), 'reason cannot be empty');
    if ((condition.message ?? '') === '') errors.required(path.child('message'), 'message cannot be empty');
  });
}

export const StorageVersionKind = kind<StorageVersion>({
  group: 'internal.apiserver',
  kind: 'StorageVersion',
  plural: 'storageversions',
  scope: 'Cluster',
  versions: { v1alpha1: { schema: StorageVersion } },
  hub: 'v1alpha1',
  updateNeedsVersion: true,
  nameRule,
  strategy: {
    prepareForCreate: (object) => {
      object.status = {};
    },
    prepareForUpdate: (object, old) => {
      object.status = old.status;
    },
    resetFields: [['status']],
  },
  subresources: {
    status: status({
      prepareForUpdate(object, old) {
        keepMetadata(object, old);
        object.spec = old.spec;
      },
      validateUpdate: (object, _old, errors) => validateStatus(object, errors),
      resetFields: [['metadata'], ['spec']],
    }),
  },
  columns: [
    nameColumn,
    { name: 'CommonEncodingVersion', type: 'string', description: 'The version in which all servers store, where they agree.' },
    { name: 'StorageVersions', type: 'string', description: 'The version in which each server stores.' },
    ageColumn,
  ],
  cells: (object, env) => [
    nameCell(object),
    object.status.commonEncodingVersion ?? '<unset>',
    serversCell(object.status.storageVersions ?? []),
    ageCell(object, env),
  ],
});

/** Most servers that a cell names. */
const SHOWN = 3;
function serversCell(servers: readonly ServerStorageVersion[]): string {
  if (servers.length === 0) return '<none>';
  const serverTexts = servers.slice(0, SHOWN).map(({ apiServerID = '', encodingVersion = '' }) => `${apiServerID}=${encodingVersion}`);
  return servers.length > SHOWN ? `${serverTexts.join(',')} + ${servers.length - SHOWN} more...` : serverTexts.join(',');
}
