/** Replica sets. */
import type { Work } from '@plat-dev/lib/slices';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { scale } from '../autoscaling/scale.ts';
import { ageCell, nameCell, selectorCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { podTemplateDefaults } from '../core/pods/pod-defaults.ts';
import { templateGates } from '../core/pods/pod-gates.ts';
import { containerCells } from '../core/pods/template-cells.ts';
import { type KindEnv, kind, type Strategy } from '../kind.ts';
import { status } from '../subresources.ts';
import { immutable, notNegative } from '../validation/field-checks.ts';
import { invalidText, selectorText } from '../validation/go-text.ts';
import { validateServingTemplate } from '../validation/pods/template.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { validateCounts, validateShares } from '../validation/replicas.ts';
import { compileSelector, validateWorkloadSelector } from '../validation/selectors.ts';
import { keepsSpec, prepareTemplate, templateWarnings } from '../validation/workload.ts';
import { ReplicaSet } from './schema/replica-set.ts';

const specAt = Path.of('spec');
const selectorAt = specAt.child('selector');
const templateAt = specAt.child('template');
const statusAt = Path.of('status');

function defaults({ spec }: ReplicaSet, env: KindEnv): void {
  spec.replicas ??= 1;
  podTemplateDefaults(spec.template, env);
}

/** Validation of the selector and the template, the same as for deployments. */
export function* validateReplicatedTemplate(
  { selector, template, replicas = 0 }: ReplicaSet['spec'],
  errors: FieldErrors,
  env: KindEnv,
): Work<void> {
  validateWorkloadSelector(selector, 'deployment', selectorAt, errors);
  const compiled = compileSelector(selector);
  if (compiled === undefined) invalidText(errors, selectorAt, selectorText(selector), 'invalid label selector');
  else yield* validateServingTemplate(template, compiled, replicas, 'ReplicaSet', templateAt, errors, env);
}

function* validateSpec({ spec }: ReplicaSet, errors: FieldErrors, env: KindEnv): Work<void> {
  notNegative(spec.replicas, specAt, 'replicas', errors);
  notNegative(spec.minReadySeconds, specAt, 'minReadySeconds', errors);
  yield* validateReplicatedTemplate(spec, errors, env);
}

function* validateChange(set: ReplicaSet, old: ReplicaSet, errors: FieldErrors, env: KindEnv): Work<void> {
  metadataAgain(set, { namespaced: true }, errors, env);
  yield* validateSpec(set, errors, env);
  metadataUpdateAgain(set, old, errors, env);
  yield* validateSpec(set, errors, env);
}

const strategy: Strategy<ReplicaSet> = {
  prepareForCreate(set) {
    set.status = { replicas: 0 };
    prepareTemplate(set.spec.template);
  },
  prepareForUpdate(set, old) {
    set.status = old.status;
    prepareTemplate(set.spec.template);
  },
  validate: validateSpec,
  *validateUpdate(set, old, errors, env) {
    yield* validateChange(set, old, errors, env);
    immutable(set.spec.selector, old.spec.selector, selectorAt, errors, () => selectorText(set.spec.selector));
  },
  warnings: (set, old, env) => templateWarnings(set, old, set.spec.template, templateAt, env),
  resetFields: [['status']],
};
/** The rules of versions in which the selector can be changed. */
export const mutableSelector: Strategy<ReplicaSet> = { ...strategy, validateUpdate: validateChange };

const statusStrategy = keepsSpec<ReplicaSet>((set, old, errors, env) => {
  metadataUpdateAgain(set, old, errors, env);
  const counts = ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'] as const;
  validateCounts(set.status, env.since('1.33') ? [...counts, 'terminatingReplicas'] : counts, statusAt, errors);
  validateShares(set.status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], statusAt, errors);
});

export const ReplicaSetKind = kind<ReplicaSet>({
  group: 'apps',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  short: ['rs'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: { v1: { schema: ReplicaSet, defaults } },
  hub: 'v1',
  generation: true,
  strategy,
  gated: templateGates,
  subresources: { scale: scale((object) => object.spec.selector), status: status(statusStrategy) },
  columns: [
    nameColumn,
    { name: 'Desired', type: 'integer', description: 'How many pods there should be.' },
    { name: 'Current', type: 'integer', description: 'How many pods there are.' },
    { name: 'Ready', type: 'integer', description: 'How many pods are ready.' },
    ageColumn,
    { name: 'Containers', type: 'string', priority: 1, description: 'The names of the containers in the template.' },
    { name: 'Images', type: 'string', priority: 1, description: 'The images of the containers in the template.' },
    { name: 'Selector', type: 'string', priority: 1, description: 'The labels by which the pods are found.' },
  ],
  cells: (set, env) => [
    nameCell(set),
    set.spec.replicas ?? 0,
    set.status.replicas,
    set.status.readyReplicas ?? 0,
    ageCell(set, env),
    ...containerCells(set.spec.template),
    selectorCell(set.spec.selector),
  ],
});
