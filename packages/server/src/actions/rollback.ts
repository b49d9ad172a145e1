/**
 * deployments/rollback of the versions before apps/v1beta2: sets an annotation with the revision to roll back to. A controller reads it
 * as it reads spec.rollbackTo.
 */
import { rollbackRevision } from '@plat-dev/kinds/apps/older-fields';
import type { DeploymentRollback } from '@plat-dev/kinds/apps/schema/older';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { Status } from '@plat-dev/kinds/meta-kinds';
import { badRequest, invalid } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import type { MessageType } from '@plat-dev/schema/types';
import type { RegistryDeps } from '../registry/context.ts';
import { update } from '../registry/update.ts';
import type { Action } from '../services.ts';

export function rollback(deps: RegistryDeps): Action {
  return async ({ write, body }) => {
    const { name, updatedAnnotations, rollbackTo } = body as unknown as DeploymentRollback;
    if (name === '') {
      const errors = new FieldErrors();
      errors.required(Path.of('name'), 'name is required');
      throw invalid({ group: 'apps', resource: 'DeploymentRollback' }, name, errors.list);
    }
    if (name !== write.name) throw badRequest('name in URL does not match name in DeploymentRollback object');
    const note = { ...updatedAnnotations, [rollbackRevision]: String(rollbackTo.revision ?? 0) };
    await update(
      deps,
      { ...write, subresource: '' },
      {
        async change(live) {
          const changed = structuredClone(live);
          changed.metadata.annotations = { ...changed.metadata.annotations, ...note };
          return changed;
        },
      },
    );
    const message = `rollback request for deployment ${JSON.stringify(name)} succeeded`;
    const object = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', message, code: 200 };
    return { status: 201, object: object as ApiObject, schema: Status as MessageType };
  };
}
