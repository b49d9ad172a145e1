/** Runtime classes. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { validateLabels } from '@plat-dev/meta/labels';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind } from '../kind.ts';
import { each } from '../validation/each.ts';
import { immutable, label } from '../validation/field-checks.ts';
import { tolerationText, validateTolerations } from '../validation/pods/scheduling.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { validateResourceRequirements } from '../validation/resources.ts';
import * as v1 from './schema/v1.ts';
import * as v1beta1 from './schema/v1beta1.ts';

const handler = Path.of('handler');

function validate(runtimeClass: v1.RuntimeClass, errors: FieldErrors, env: KindEnv): void {
  const { overhead, scheduling } = runtimeClass;
  if (runtimeClass.handler === '' && env.since('1.36')) errors.required(handler);
  else label(runtimeClass.handler, handler, errors);
  if (overhead !== undefined) validateResourceRequirements({ limits: overhead.podFixed }, Path.of('overhead'), errors, env);
  if (scheduling !== undefined) validateScheduling(scheduling, Path.of('scheduling'), errors, env);
}

function validateScheduling({ nodeSelector, tolerations = [] }: v1.Scheduling, at: Path, errors: FieldErrors, env: KindEnv): void {
  validateLabels(nodeSelector, at.child('nodeSelector'), errors);
  // The path of these errors has the list twice, as in stock servers up to 1.34.
  const list = at.child('tolerations');
  validateTolerations(tolerations, env.since('1.35') ? list : list.child('tolerations'), errors, env);
  const tolerationTexts = new Set<string>();
  each(tolerations, at.child('tolerations'), (toleration, here) => {
    const { key = '', operator = '', value = '', effect = '' } = toleration;
    const id = [key, operator, value, effect].join('/');
    if (tolerationTexts.has(id)) errors.add('FieldValueDuplicate', here, `Duplicate value: ${tolerationText(toleration)}`);
    tolerationTexts.add(id);
  });
}

export const RuntimeClassKind = kind<v1.RuntimeClass>({
  group: 'node',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  scope: 'Cluster',
  versions: {
    v1: { schema: v1.RuntimeClass },
    v1beta1: { schema: v1beta1.RuntimeClass },
  },
  hub: 'v1',
  createOnUpdate: true,
  updateNeedsVersion: true,
  strategy: {
    validate,
    validateUpdate(runtimeClass, old, errors, env) {
      metadataUpdateAgain(runtimeClass, old, errors, env);
      immutable(runtimeClass.handler, old.handler, handler, errors);
    },
  },
  columns: [
    nameColumn,
    { name: 'Handler', type: 'string', description: 'The name by which the container runtime knows the class.' },
    ageColumn,
  ],
  cells: (runtimeClass, env) => [nameCell(runtimeClass), runtimeClass.handler, ageCell(runtimeClass, env)],
});
