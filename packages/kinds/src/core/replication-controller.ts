/** Replication controllers. */
import type { Work } from '@plat-dev/lib/slices';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { fromLabels } from '@plat-dev/meta/labels';
import { scale } from '../autoscaling/scale.ts';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind, type Strategy } from '../kind.ts';
import { status } from '../subresources.ts';
import { notNegative } from '../validation/field-checks.ts';
import { validateServingTemplate } from '../validation/pods/template.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { validateCounts, validateShares } from '../validation/replicas.ts';
import { keepsSpec, prepareTemplate, templateWarnings } from '../validation/workload.ts';
import { podTemplateDefaults } from './pods/pod-defaults.ts';
import { templateGates } from './pods/pod-gates.ts';
import { containerCells, labelsCell } from './pods/template-cells.ts';
import { ReplicationController } from './schema/replication-controller.ts';

const specAt = Path.of('spec');
const templateAt = specAt.child('template');
const statusAt = Path.of('status');

function defaults(controller: ReplicationController, env: KindEnv): void {
  const { metadata, spec } = controller;
  const labels = spec.template?.metadata.labels;
  if (labels !== undefined) {
    spec.selector ??= { ...labels };
    metadata.labels ??= { ...labels };
  }
  spec.replicas ??= 1;
  if (spec.template !== undefined) podTemplateDefaults(spec.template, env);
}

function* validateSpec({ spec }: ReplicationController, errors: FieldErrors, env: KindEnv): Work<void> {
  const { selector = {}, template } = spec;
  notNegative(spec.minReadySeconds, specAt, 'minReadySeconds', errors);
  if (Object.keys(selector).length === 0) errors.required(specAt.child('selector'));
  notNegative(spec.replicas, specAt, 'replicas', errors);
  if (template === undefined) errors.required(templateAt);
  else yield* validateServingTemplate(template, fromLabels(selector), spec.replicas ?? 0, 'ReplicationController', templateAt, errors, env);
}

const strategy: Strategy<ReplicationController> = {
  prepareForCreate(controller) {
    controller.status = { replicas: 0 };
    prepareTemplate(controller.spec.template);
  },
  prepareForUpdate(controller, old) {
    controller.status = old.status;
    prepareTemplate(controller.spec.template);
  },
  validate: validateSpec,
  *validateUpdate(controller, old, errors, env) {
    // Before 1.35 the errors of an update came twice.
    if (!env.since('1.35')) {
      metadataAgain(controller, { namespaced: true }, errors, env);
      yield* validateSpec(controller, errors, env);
    }
    metadataUpdateAgain(controller, old, errors, env);
    yield* validateSpec(controller, errors, env);
  },
  warnings: (controller, old, env) => templateWarnings(controller, old, controller.spec.template, templateAt, env),
  resetFields: [['status']],
};

const statusStrategy = keepsSpec<ReplicationController>((controller, old, errors, env) => {
  metadataUpdateAgain(controller, old, errors, env);
  const counts = ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'] as const;
  validateCounts(controller.status, counts, statusAt, errors);
  validateShares(controller.status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], statusAt, errors);
});

export const ReplicationControllerKind = kind<ReplicationController>({
  group: '',
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  short: ['rc'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: { v1: { schema: ReplicationController, defaults } },
  hub: 'v1',
  generation: true,
  orphansByDefault: true,
  strategy,
  gated: templateGates,
  fields: { 'status.replicas': (controller) => String(controller.status.replicas) },
  deleteReturnsObject: true,
  subresources: { scale: scale((object) => ({ matchLabels: object.spec.selector ?? {} })), status: status(statusStrategy) },
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
  cells: (controller, env) => [
    nameCell(controller),
    controller.spec.replicas ?? 0,
    controller.status.replicas,
    controller.status.readyReplicas ?? 0,
    ageCell(controller, env),
    ...containerCells(controller.spec.template),
    labelsCell(controller.spec.selector),
  ],
});
