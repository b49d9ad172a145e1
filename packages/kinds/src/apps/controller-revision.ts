/** Controller revisions. */
import { groupOfApiVersion } from '@plat-dev/meta/api-version';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { NONE } from '../core/pods/template-cells.ts';
import { kind, type Strategy } from '../kind.ts';
import { immutable } from '../validation/field-checks.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { ControllerRevision } from './schema/controller-revision.ts';

function validateRevision({ revision }: ControllerRevision, errors: FieldErrors): void {
  if (revision < 0) errors.invalid(Path.of('revision'), revision, 'must be greater than or equal to 0');
}

const strategy: Strategy<ControllerRevision> = {
  validate(object, errors, env) {
    const at = Path.of('data');
    if (!env.since('1.31')) {
      if (object.data === undefined) errors.required(at, 'data is mandatory');
      validateRevision(object, errors);
      return;
    }
    validateRevision(object, errors);
    const data: unknown = object.data;
    if (data === undefined || data === null) errors.required(at, 'data is mandatory');
    else if (typeof data !== 'object' || Array.isArray(data)) errors.required(at, 'data must be a valid JSON object');
  },
  validateUpdate(object, old, errors, env) {
    metadataUpdateAgain(object, old, errors, env);
    validateRevision(object, errors);
    immutable(object.data, old.data, Path.of('data'), errors);
  },
};

/** `statefulset.apps/web`: the controller owner. */
function ownerCell({ metadata }: ControllerRevision): string {
  const owner = metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (owner === undefined) return NONE;
  const group = groupOfApiVersion(owner.apiVersion);
  return `${(group === '' ? owner.kind : `${owner.kind}.${group}`).toLowerCase()}/${owner.name}`;
}

export const ControllerRevisionKind = kind<ControllerRevision>({
  group: 'apps',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  scope: 'Namespaced',
  versions: { v1: { schema: ControllerRevision } },
  hub: 'v1',
  strategy,
  columns: [
    nameColumn,
    { name: 'Controller', type: 'string', description: 'The object whose history the revision is part of.' },
    { name: 'Revision', type: 'string', description: 'The number of the revision.' },
    ageColumn,
  ],
  cells: (object, env) => [nameCell(object), ownerCell(object), object.revision, ageCell(object, env)],
});
