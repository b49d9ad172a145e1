/** The `scale` subresource of workloads: the desired and the current number of replicas, as a kind of its own. */
import { Path } from '@plat-dev/meta/field';
import { fromLabelSelector } from '@plat-dev/meta/labels';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn } from '../columns.ts';
import type { ApiObject, ViewSubresource } from '../kind.ts';
import type { LabelSelector } from '../meta.ts';

import { Scale } from './schema/scale.ts';

/** The fields of an object that its scale is read from and written to. */
export interface Scalable extends ApiObject {
  spec: { replicas?: number };
  status: { replicas?: number };
}

export const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

export const scaleTable: Required<Pick<ViewSubresource<never, Scale>, 'columns' | 'cells'>> = {
  columns: [
    { name: 'Name', type: 'string', description: 'The name of the object that is scaled.' },
    { name: 'Desired', type: 'integer', description: 'How many replicas there should be.' },
    { name: 'Available', type: 'integer', description: 'How many replicas there are.' },
    ageColumn,
  ],
  cells: (view, env) => [nameCell(view), view.spec.replicas ?? 0, view.status.replicas, ageCell(view, env)],
};

export function scale<T extends Scalable>(selector: (object: T) => LabelSelector | undefined): ViewSubresource<T> {
  const view: ViewSubresource<T, Scale> = {
    type: 'view',
    verbs: ['get', 'patch', 'update'],
    kind: scaleKind,
    schema: Scale,
    show(object) {
      const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
      const text = fromLabelSelector(selector(object)).toString();
      return {
        metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
        spec: { replicas: object.spec.replicas ?? 0 },
        status: { replicas: object.status.replicas ?? 0, ...(text !== '' && { selector: text }) },
      };
    },
    write(view, object, errors) {
      const replicas = view.spec.replicas ?? 0;
      if (replicas < 0) errors.invalid(Path.of('spec', 'replicas'), replicas, 'must be greater than or equal to 0');
      object.spec.replicas = replicas;
    },
    ...scaleTable,
  };
  // Subresources of a kind have one type, without that of the view.
  return view as unknown as ViewSubresource<T>;
}
