/** Deployments. */

import { equal } from '@plat-dev/lib/equal';
import type { Work } from '@plat-dev/lib/slices';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { scale } from '../autoscaling/scale.ts';
import { ageCell, nameCell, selectorCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { podTemplateDefaults } from '../core/pods/pod-defaults.ts';
import { templateGates } from '../core/pods/pod-gates.ts';
import { containerCells } from '../core/pods/template-cells.ts';
import { nextGeneration } from '../generation.ts';
import { type KindEnv, kind, type Strategy } from '../kind.ts';
import { status } from '../subresources.ts';
import { amountOf, amountOrPercentage, atMostAll, immutable, notNegative } from '../validation/field-checks.ts';
import { intOrStringText, invalidText, selectorText, unsupportedText } from '../validation/go-text.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { validateCounts, validateGrowing, validateShares } from '../validation/replicas.ts';
import { keepsSpec, prepareTemplate, templateWarnings } from '../validation/workload.ts';
import { validateReplicatedTemplate } from './replica-set.ts';
import { Deployment, type DeploymentStrategy, type RollingUpdateDeployment } from './schema/deployment.ts';

const specAt = Path.of('spec');
const templateAt = specAt.child('template');
const statusAt = Path.of('status');

/** Deployments print an empty selector as empty text, and an invalid one as <invalid>, unlike other kinds. */
const shownSelector = (selector: string): string => (selector === '<none>' ? '' : selector === '<error>' ? '<invalid>' : selector);

function defaults({ spec }: Deployment, env: KindEnv): void {
  spec.replicas ??= 1;
  const { strategy } = spec;
  strategy.type ??= 'RollingUpdate';
  if (strategy.type === 'RollingUpdate') {
    strategy.rollingUpdate ??= {};
    strategy.rollingUpdate.maxUnavailable ??= '25%';
    strategy.rollingUpdate.maxSurge ??= '25%';
  }
  spec.revisionHistoryLimit ??= 10;
  spec.progressDeadlineSeconds ??= 600;
  podTemplateDefaults(spec.template, env);
}

function* validateSpec({ spec }: Deployment, errors: FieldErrors, env: KindEnv): Work<void> {
  notNegative(spec.replicas, specAt, 'replicas', errors);
  yield* validateReplicatedTemplate(spec, errors, env);
  validateStrategy(spec.strategy, specAt.child('strategy'), errors);
  notNegative(spec.minReadySeconds, specAt, 'minReadySeconds', errors);
  notNegative(spec.revisionHistoryLimit, specAt, 'revisionHistoryLimit', errors);
  const deadline = spec.progressDeadlineSeconds;
  notNegative(deadline, specAt, 'progressDeadlineSeconds', errors);
  if (deadline !== undefined && deadline <= (spec.minReadySeconds ?? 0))
    errors.invalid(specAt.child('progressDeadlineSeconds'), deadline, 'must be greater than minReadySeconds');
}

function validateStrategy({ type = '', rollingUpdate }: DeploymentStrategy, at: Path, errors: FieldErrors): void {
  if (type === 'Recreate') {
    if (rollingUpdate !== undefined) errors.forbidden(at.child('rollingUpdate'), "may not be specified when strategy `type` is 'Recreate'");
  } else if (type !== 'RollingUpdate') {
    unsupportedText(errors, at, JSON.stringify({ type, rollingUpdate }), ['Recreate', 'RollingUpdate']);
  } else if (rollingUpdate === undefined) errors.required(at.child('rollingUpdate'), 'this should be defaulted and never be nil');
  else validateRollingUpdate(rollingUpdate, at.child('rollingUpdate'), errors);
}

function validateRollingUpdate({ maxUnavailable = 0, maxSurge = 0 }: RollingUpdateDeployment, at: Path, errors: FieldErrors): void {
  const unavailableAt = at.child('maxUnavailable');
  amountOrPercentage(maxUnavailable, unavailableAt, errors);
  amountOrPercentage(maxSurge, at.child('maxSurge'), errors);
  if (amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0)
    invalidText(errors, unavailableAt, intOrStringText(maxUnavailable), 'may not be 0 when `maxSurge` is 0');
  atMostAll(maxUnavailable, unavailableAt, errors);
}

function* validateChange(deployment: Deployment, old: Deployment, errors: FieldErrors, env: KindEnv): Work<void> {
  metadataUpdateAgain(deployment, old, errors, env);
  yield* validateSpec(deployment, errors, env);
}

const strategy: Strategy<Deployment> = {
  prepareForCreate(deployment) {
    deployment.status = {};
    prepareTemplate(deployment.spec.template);
  },
  prepareForUpdate(deployment, old) {
    deployment.status = old.status;
    prepareTemplate(deployment.spec.template);
    // Annotations are copied to replica sets, so that the controller must see their changes, too.
    if (!equal(deployment.metadata.annotations, old.metadata.annotations))
      deployment.metadata.generation = nextGeneration(old.metadata.generation);
  },
  validate: validateSpec,
  *validateUpdate(deployment, old, errors, env) {
    yield* validateChange(deployment, old, errors, env);
    const { selector } = deployment.spec;
    immutable(selector, old.spec.selector, specAt.child('selector'), errors, () => selectorText(selector));
  },
  warnings: (deployment, old, env) => templateWarnings(deployment, old, deployment.spec.template, templateAt, env),
  resetFields: [['status']],
};
/** The rules of versions in which the selector can be changed. */
export const mutableSelector: Strategy<Deployment> = { ...strategy, validateUpdate: validateChange };

const statusOnly = keepsSpec<Deployment>((deployment, old, errors, env) => {
  metadataUpdateAgain(deployment, old, errors, env);
  const { status: now } = deployment;
  const counts = ['observedGeneration', 'replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas'] as const;
  validateCounts(
    now,
    [...counts, 'unavailableReplicas', 'collisionCount', ...(env.since('1.33') ? (['terminatingReplicas'] as const) : [])],
    statusAt,
    errors,
  );
  validateShares(now, ['updatedReplicas', 'readyReplicas', 'availableReplicas'], statusAt, errors);
  validateGrowing(now.collisionCount, old.status.collisionCount, statusAt, errors);
});
const statusStrategy: Strategy<Deployment> = {
  ...statusOnly,
  prepareForUpdate(deployment, old) {
    deployment.spec = old.spec;
    if (old.metadata.labels === undefined) delete deployment.metadata.labels;
    else deployment.metadata.labels = old.metadata.labels;
  },
  resetFields: [['spec'], ['metadata', 'labels']],
};

export const DeploymentKind = kind<Deployment>({
  group: 'apps',
  kind: 'Deployment',
  plural: 'deployments',
  short: ['deploy'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: { v1: { schema: Deployment, defaults } },
  hub: 'v1',
  generation: true,
  strategy,
  gated: templateGates,
  subresources: { scale: scale((object) => object.spec.selector), status: status(statusStrategy) },
  columns: [
    nameColumn,
    { name: 'Ready', type: 'string', description: 'How many pods are ready, of those that there should be.' },
    { name: 'Up-to-date', type: 'string', description: 'How many pods are of the newest template.' },
    { name: 'Available', type: 'string', description: 'How many pods have been ready long enough.' },
    ageColumn,
    { name: 'Containers', type: 'string', priority: 1, description: 'The names of the containers in the template.' },
    { name: 'Images', type: 'string', priority: 1, description: 'The images of the containers in the template.' },
    { name: 'Selector', type: 'string', priority: 1, description: 'The labels by which the pods are found.' },
  ],
  cells: (deployment, env) => [
    nameCell(deployment),
    `${deployment.status.readyReplicas ?? 0}/${deployment.spec.replicas ?? 0}`,
    deployment.status.updatedReplicas ?? 0,
    deployment.status.availableReplicas ?? 0,
    ageCell(deployment, env),
    ...containerCells(deployment.spec.template),
    shownSelector(selectorCell(deployment.spec.selector)),
  ],
});
