/** Daemon sets. */

import { equal } from '@plat-dev/lib/equal';
import type { Work } from '@plat-dev/lib/slices';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { validateLabelSelector } from '@plat-dev/meta/labels';
import { ageCell, nameCell, selectorCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { podTemplateDefaults } from '../core/pods/pod-defaults.ts';
import { templateGates } from '../core/pods/pod-gates.ts';
import { containerCells, labelsCell } from '../core/pods/template-cells.ts';
import { type KindEnv, kind, type Strategy } from '../kind.ts';
import { status } from '../subresources.ts';
import { amountOf, amountOrPercentage, atMostAll, immutable, notNegative } from '../validation/field-checks.ts';
import { intOrStringText, invalidText, mapText, selectorText, unsupportedText } from '../validation/go-text.ts';
import { validateServing, validateSharedDisks, validateTemplate } from '../validation/pods/template.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { validateCounts, validateGrowing } from '../validation/replicas.ts';
import { compileSelector, validateSomeSelector } from '../validation/selectors.ts';
import { keepsSpec, prepareTemplate, templateWarnings } from '../validation/workload.ts';
import { DaemonSet, type DaemonSetUpdateStrategy, type RollingUpdateDaemonSet } from './schema/daemon-set.ts';

const specAt = Path.of('spec');
const templateAt = specAt.child('template');
const statusAt = Path.of('status');

/** Counts the changes of the template, for old controllers. */
export const templateGeneration = 'deprecated.daemonset.template.generation';

function defaults({ metadata, spec }: DaemonSet, env: KindEnv): void {
  specDefaults(spec, env);
  metadata.annotations ??= {};
  metadata.annotations[templateGeneration] ??= '0';
}

export function specDefaults(spec: DaemonSet['spec'], env: KindEnv): void {
  const { updateStrategy } = spec;
  updateStrategy.type ??= 'RollingUpdate';
  if (updateStrategy.type === 'RollingUpdate') {
    updateStrategy.rollingUpdate ??= {};
    updateStrategy.rollingUpdate.maxUnavailable ??= 1;
    updateStrategy.rollingUpdate.maxSurge ??= 0;
  }
  spec.revisionHistoryLimit ??= 10;
  podTemplateDefaults(spec.template, env);
}

function* validateSpec({ metadata, spec }: DaemonSet, errors: FieldErrors, env: KindEnv): Work<void> {
  const { selector, template } = spec;
  const counter = metadata.annotations?.[templateGeneration];
  if (counter !== undefined && !/^[+-]?[0-9]+$/.test(counter))
    errors.invalid(Path.of('metadata', 'annotations').key(templateGeneration), counter, 'must be an integer');
  validateLabelSelector(selector, specAt.child('selector'), errors);
  const { labels } = template.metadata;
  if (compileSelector(selector)?.matches(labels) === false)
    invalidText(errors, templateAt.child('metadata').child('labels'), mapText(labels), '`selector` does not match template `labels`');
  if (selector !== undefined) validateSomeSelector(selector, 'daemonset', specAt.child('selector'), errors);
  yield* validateTemplate(template, templateAt, errors, env);
  validateSharedDisks(template.spec, templateAt, errors);
  validateServing(template.spec, 'DaemonSet', templateAt, errors);
  notNegative(spec.minReadySeconds, specAt, 'minReadySeconds', errors);
  validateUpdateStrategy(spec.updateStrategy, specAt.child('updateStrategy'), errors, env);
  notNegative(spec.revisionHistoryLimit, specAt, 'revisionHistoryLimit', errors);
}

function validateUpdateStrategy({ type = '', rollingUpdate }: DaemonSetUpdateStrategy, at: Path, errors: FieldErrors, env: KindEnv): void {
  if (type === 'OnDelete') return;
  if (type !== 'RollingUpdate') {
    unsupportedText(errors, at, JSON.stringify({ type, rollingUpdate }), ['RollingUpdate', 'OnDelete']);
  } else if (rollingUpdate === undefined) errors.required(at.child('rollingUpdate'));
  else if (env.feature('DaemonSetUpdateSurge')) validateRollingUpdate(rollingUpdate, at.child('rollingUpdate'), errors);
  else validateUnavailable(rollingUpdate, at.child('rollingUpdate').child('maxUnavailable'), errors);
}

/** Without a surge, maxUnavailable must not be 0. */
function validateUnavailable({ maxUnavailable = 0 }: RollingUpdateDaemonSet, at: Path, errors: FieldErrors): void {
  amountOrPercentage(maxUnavailable, at, errors);
  if (amountOf(maxUnavailable) === 0) invalidText(errors, at, intOrStringText(maxUnavailable), 'cannot be 0');
  atMostAll(maxUnavailable, at, errors);
}

/** Either maxUnavailable or maxSurge is set, not both. */
function validateRollingUpdate({ maxUnavailable = 0, maxSurge = 0 }: RollingUpdateDaemonSet, at: Path, errors: FieldErrors): void {
  const surgeAt = at.child('maxSurge');
  amountOrPercentage(maxUnavailable, at.child('maxUnavailable'), errors);
  amountOrPercentage(maxSurge, surgeAt, errors);
  atMostAll(maxUnavailable, at.child('maxUnavailable'), errors);
  atMostAll(maxSurge, surgeAt, errors);
  const hasUnavailable = amountOf(maxUnavailable) !== 0;
  const hasSurge = amountOf(maxSurge) !== 0;
  if (hasUnavailable && hasSurge) invalidText(errors, surgeAt, intOrStringText(maxSurge), 'may not be set when maxUnavailable is non-zero');
  else if (!hasUnavailable && !hasSurge) errors.required(at.child('maxUnavailable'), 'cannot be 0 when maxSurge is 0');
}

const counterOf = ({ metadata }: DaemonSet): number => Number(metadata.annotations?.[templateGeneration] ?? 0);
function setCounter({ metadata }: DaemonSet, counter: number): void {
  metadata.annotations = { ...metadata.annotations, [templateGeneration]: String(counter) };
}

/** Used when the feature of maxSurge is off: a set that had maxSurge gets a maxUnavailable of 1 instead of 0%. */
function withoutSurge({ spec }: DaemonSet, { spec: old }: DaemonSet): void {
  const { rollingUpdate } = spec.updateStrategy;
  const { maxSurge = 0 } = old.updateStrategy.rollingUpdate ?? {};
  if (maxSurge !== 0 && rollingUpdate?.maxUnavailable === '0%') rollingUpdate.maxUnavailable = 1;
}

function* validateChange(set: DaemonSet, old: DaemonSet, errors: FieldErrors, env: KindEnv): Work<void> {
  metadataAgain(set, { namespaced: true }, errors, env);
  yield* validateSpec(set, errors, env);
  metadataUpdateAgain(set, old, errors, env);
  yield* validateSpec(set, errors, env);
}

const strategy: Strategy<DaemonSet> = {
  prepareForCreate(set) {
    set.status = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };
    prepareTemplate(set.spec.template);
    if (counterOf(set) < 1) setCounter(set, 1);
  },
  prepareForUpdate(set, old, env) {
    set.status = old.status;
    prepareTemplate(set.spec.template);
    if (!env.feature('DaemonSetUpdateSurge')) withoutSurge(set, old);
    // A counter that is not a number is left to validation.
    if (!Number.isNaN(counterOf(set))) setCounter(set, counterOf(old) + (equal(set.spec.template, old.spec.template) ? 0 : 1));
  },
  validate: validateSpec,
  *validateUpdate(set, old, errors, env) {
    yield* validateChange(set, old, errors, env);
    const { selector } = set.spec;
    immutable(selector, old.spec.selector, specAt.child('selector'), errors, () => selectorText(selector));
  },
  warnings: (set, old, env) => templateWarnings(set, old, set.spec.template, templateAt, env),
  resetFields: [['status']],
};
/** The rules of versions in which the selector can be changed. */
export const mutableSelector: Strategy<DaemonSet> = { ...strategy, validateUpdate: validateChange };

const counts = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
] as const;
const statusStrategy = keepsSpec<DaemonSet>((set, old, errors, env) => {
  metadataUpdateAgain(set, old, errors, env);
  validateCounts(set.status, counts, statusAt, errors);
  validateGrowing(set.status.collisionCount, old.status.collisionCount, statusAt, errors);
});

export const DaemonSetKind = kind<DaemonSet>({
  group: 'apps',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  short: ['ds'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: { v1: { schema: DaemonSet, defaults } },
  hub: 'v1',
  generation: true,
  strategy,
  gated: templateGates,
  subresources: { status: status(statusStrategy) },
  columns: [
    nameColumn,
    { name: 'Desired', type: 'integer', description: 'How many nodes should run a pod of the set.' },
    { name: 'Current', type: 'integer', description: 'How many nodes run a pod of the set.' },
    { name: 'Ready', type: 'integer', description: 'How many nodes run a pod of the set that is ready.' },
    { name: 'Up-to-date', type: 'integer', description: 'How many nodes run a pod of the newest template.' },
    { name: 'Available', type: 'integer', description: 'How many nodes run a pod of the set that has been ready long enough.' },
    { name: 'Node Selector', type: 'string', description: 'The labels of nodes that the set runs on.' },
    ageColumn,
    { name: 'Containers', type: 'string', priority: 1, description: 'The names of the containers in the template.' },
    { name: 'Images', type: 'string', priority: 1, description: 'The images of the containers in the template.' },
    { name: 'Selector', type: 'string', priority: 1, description: 'The labels by which the pods are found.' },
  ],
  cells: (set, env) => [
    nameCell(set),
    set.status.desiredNumberScheduled,
    set.status.currentNumberScheduled,
    set.status.numberReady,
    set.status.updatedNumberScheduled ?? 0,
    set.status.numberAvailable ?? 0,
    labelsCell(set.spec.template.spec.nodeSelector),
    ageCell(set, env),
    ...containerCells(set.spec.template),
    selectorCell(set.spec.selector),
  ],
});
