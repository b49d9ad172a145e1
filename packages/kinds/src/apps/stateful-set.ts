/** Stateful sets. */
import { equal } from '@plat-dev/lib/equal';
import type { Work } from '@plat-dev/lib/slices';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { nameIsLabel, nameIsSubdomain } from '@plat-dev/meta/names';
import { scale } from '../autoscaling/scale.ts';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { podTemplateDefaults } from '../core/pods/pod-defaults.ts';
import { templateGates } from '../core/pods/pod-gates.ts';
import { claimSpecDefaults } from '../core/pods/pod-volume-defaults.ts';
import { containerCells } from '../core/pods/template-cells.ts';
import type { PodTemplateSpec } from '../core/schema/pods/pod.ts';
import { type KindEnv, kind, type Strategy } from '../kind.ts';
import { status } from '../subresources.ts';
import { each } from '../validation/each.ts';
import { amountOf, amountOrPercentage, atMostAll, label, notNegative, word } from '../validation/field-checks.ts';
import { invalidText, selectorText } from '../validation/go-text.ts';
import { validateServing, validateTemplate, validateTemplateMetadata } from '../validation/pods/template.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { validateCounts, validateGrowing, validateShares } from '../validation/replicas.ts';
import { compileSelector, validateSelected, validateWorkloadSelector } from '../validation/selectors.ts';
import { validateClaimSpec } from '../validation/volumes/claim-spec.ts';
import { claimSpecWarnings } from '../validation/volumes/volume-warnings.ts';
import { keepsSpec, prepareTemplate, templateWarnings } from '../validation/workload.ts';
import { type RollingUpdateStatefulSetStrategy, StatefulSet, type StatefulSetUpdateStrategy } from './schema/stateful-set.ts';

const specAt = Path.of('spec');
const selectorAt = specAt.child('selector');
const templateAt = specAt.child('template');
const statusAt = Path.of('status');

function defaults({ spec }: StatefulSet, env: KindEnv): void {
  spec.podManagementPolicy ??= 'OrderedReady';
  const { updateStrategy } = spec;
  if (updateStrategy.type === undefined) {
    updateStrategy.type = 'RollingUpdate';
    updateStrategy.rollingUpdate ??= {};
  }
  if (updateStrategy.type === 'RollingUpdate' && updateStrategy.rollingUpdate !== undefined) {
    updateStrategy.rollingUpdate.partition ??= 0;
    if (env.feature('MaxUnavailableStatefulSet')) updateStrategy.rollingUpdate.maxUnavailable ??= 1;
  }
  if (env.feature('StatefulSetAutoDeletePVC')) {
    spec.persistentVolumeClaimRetentionPolicy ??= {};
    spec.persistentVolumeClaimRetentionPolicy.whenDeleted ??= 'Retain';
    spec.persistentVolumeClaimRetentionPolicy.whenScaled ??= 'Retain';
  }
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  podTemplateDefaults(spec.template, env);
  for (const claim of spec.volumeClaimTemplates ?? []) {
    claim.kind ??= 'PersistentVolumeClaim';
    claim.apiVersion ??= 'v1';
    claim.status.phase ??= 'Pending';
    claimSpecDefaults(claim.spec);
  }
}

/** Pods of a set with the volumes that the controller adds for its claims, and without the names that it gives them. */
function completedTemplate({ template, volumeClaimTemplates = [] }: StatefulSet['spec']): PodTemplateSpec {
  const { subdomain: _subdomain, hostname: _hostname, ...spec } = template.spec;
  const claims = new Map(
    volumeClaimTemplates.map(({ metadata: { name = '' } }) => [name, { name, persistentVolumeClaim: { claimName: name } }]),
  );
  const volumes = [...claims.values(), ...(spec.volumes ?? []).filter(({ name }) => !claims.has(name))];
  return { ...template, spec: { ...spec, ...(volumes.length > 0 && { volumes }) } } as PodTemplateSpec;
}

/** `old` is the stored set: what later rules would refuse of it may stay. */
function* validateSpec(set: StatefulSet, errors: FieldErrors, env: KindEnv, old?: StatefulSet): Work<void> {
  const { spec } = set;
  const { selector, template, podManagementPolicy: order, serviceName = '' } = spec;
  if (order === undefined) errors.required(specAt.child('podManagementPolicy'));
  else if (order !== 'OrderedReady' && order !== 'Parallel')
    errors.invalid(specAt.child('podManagementPolicy'), order, "must be 'OrderedReady' or 'Parallel'");
  validateUpdateStrategy(spec.updateStrategy, specAt.child('updateStrategy'), errors);
  validateRetention(spec, errors);
  if (env.since('1.34') && old === undefined)
    each(spec.volumeClaimTemplates, specAt.child('volumeClaimTemplates'), (claim, at) =>
      validateClaimSpec(claim.spec, at.child('spec'), errors, env),
    );
  notNegative(spec.replicas, specAt, 'replicas', errors);
  if (env.feature('StatefulSetMinReadySeconds')) notNegative(spec.minReadySeconds, specAt, 'minReadySeconds', errors);
  notNegative(spec.ordinals?.start, specAt.child('ordinals'), 'start', errors);
  if (env.since('1.33') && old === undefined && serviceName !== '') label(serviceName, specAt.child('serviceName'), errors);
  validateWorkloadSelector(selector, 'statefulset', selectorAt, errors);
  const compiled = compileSelector(selector);
  if (compiled === undefined) invalidText(errors, selectorAt, selectorText(selector), '');
  else {
    // The spec of the template is validated with the pods: its mounts name volumes of the claim templates.
    validateSelected(compiled, template.metadata.labels, templateAt, errors);
    if (env.since('1.34') && (old === undefined || (yield* isSound(old, env))))
      yield* validateTemplate(completedTemplate(spec), templateAt, errors, env);
    else validateTemplateMetadata(template, templateAt, errors, env);
  }
  validateServing(template.spec, 'StatefulSet', templateAt, errors);
}

/** Whether a stored set meets the rules of new ones, but for its names. */
function* isSound(set: StatefulSet, env: KindEnv): Work<boolean> {
  const oldErrors = new FieldErrors();
  yield* validateTemplate(completedTemplate(set.spec), templateAt, oldErrors, env);
  return oldErrors.empty;
}

function validateUpdateStrategy(strategy: StatefulSetUpdateStrategy, at: Path, errors: FieldErrors): void {
  const { type, rollingUpdate } = strategy;
  if (type === undefined) errors.required(at);
  else if (type === 'OnDelete') {
    if (rollingUpdate !== undefined)
      invalidText(errors, at.child('rollingUpdate'), JSON.stringify(rollingUpdate), "only allowed for updateStrategy 'RollingUpdate'");
  } else if (type !== 'RollingUpdate') {
    invalidText(errors, at, JSON.stringify({ type, rollingUpdate }), "must be 'RollingUpdate' or 'OnDelete'");
  } else if (rollingUpdate !== undefined) validateRollingUpdate(rollingUpdate, at.child('rollingUpdate'), errors);
}

function validateRollingUpdate({ partition, maxUnavailable }: RollingUpdateStatefulSetStrategy, at: Path, errors: FieldErrors): void {
  notNegative(partition, at, 'partition', errors);
  if (maxUnavailable === undefined) return;
  const here = at.child('maxUnavailable');
  amountOrPercentage(maxUnavailable, here, errors);
  if (amountOf(maxUnavailable) === 0) errors.invalid(here, maxUnavailable, 'cannot be 0');
  atMostAll(maxUnavailable, here, errors);
}

function validateRetention({ persistentVolumeClaimRetentionPolicy: policy }: StatefulSet['spec'], errors: FieldErrors): void {
  if (policy === undefined) return;
  const at = specAt.child('persistentVolumeClaimRetentionPolicy');
  word(policy.whenDeleted, ['Retain', 'Delete'], at.child('whenDeleted'), errors);
  word(policy.whenScaled, ['Retain', 'Delete'], at.child('whenScaled'), errors);
}

const mutable = ['replicas', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy'] as const;
/** What may change in a release, as errors name it. */
function mutableIn(env: KindEnv): string {
  const fields = ['replicas', ...(env.since('1.26') ? ['ordinals'] : []), 'template', 'updateStrategy'];
  if (env.since('1.33')) fields.push('revisionHistoryLimit');
  fields.push('persistentVolumeClaimRetentionPolicy');
  if (env.feature('StatefulSetMinReadySeconds')) fields.push('minReadySeconds');
  return fields.map((field, i) => `${i === 0 ? '' : i === fields.length - 1 ? ' and ' : ', '}'${field}'`).join('');
}

function validateChange({ spec }: StatefulSet, { spec: old }: StatefulSet, errors: FieldErrors, env: KindEnv): void {
  const hasMinReady = env.feature('StatefulSetMinReadySeconds');
  const fixed = (whole: StatefulSet['spec']) => {
    const rest: Partial<StatefulSet['spec']> = { ...whole };
    for (const field of mutable) delete rest[field];
    if (hasMinReady) delete rest.minReadySeconds;
    if (env.since('1.26')) delete rest.ordinals;
    if (env.since('1.33')) delete rest.revisionHistoryLimit;
    return rest;
  };
  if (!equal(fixed(spec), fixed(old)))
    errors.forbidden(specAt, `updates to statefulset spec for fields other than ${mutableIn(env)} are forbidden`);
  // Releases before 1.34 check the number once more.
  if (!env.since('1.34')) notNegative(spec.replicas, specAt, 'replicas', errors);
}

const strategy: Strategy<StatefulSet> = {
  prepareForCreate(set) {
    set.status = { replicas: 0, availableReplicas: 0 };
    prepareTemplate(set.spec.template);
  },
  prepareForUpdate(set, old) {
    set.status = old.status;
    prepareTemplate(set.spec.template);
  },
  validate: (set, errors, env) => validateSpec(set, errors, env),
  *validateUpdate(set, old, errors, env) {
    // Older releases took names that pods cannot have.
    if (!env.since('1.27')) metadataAgain(set, { namespaced: true }, errors, env);
    yield* validateSpec(set, errors, env, old);
    metadataUpdateAgain(set, old, errors, env);
    validateChange(set, old, errors, env);
  },
  warnings(set, old, env) {
    const { revisionHistoryLimit: limit = 0, volumeClaimTemplates = [] } = set.spec;
    const claimsAt = specAt.child('volumeClaimTemplates');
    return [
      ...templateWarnings(set, old, set.spec.template, templateAt, env),
      ...volumeClaimTemplates.flatMap(({ spec }, i) =>
        claimSpecWarnings(spec, old === undefined ? claimsAt.index(i) : claimsAt.index(i).child('Spec'), env),
      ),
      ...(limit < 0 && env.since('1.33')
        ? ['spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended']
        : []),
    ];
  },
  resetFields: [['status']],
};

const statusStrategy = keepsSpec<StatefulSet>((set, old, errors, env) => {
  const { status: now } = set;
  const shares = ['readyReplicas', 'currentReplicas', 'updatedReplicas'] as const;
  const all = env.feature('StatefulSetMinReadySeconds') ? ([...shares, 'availableReplicas'] as const) : shares;
  validateCounts(now, ['replicas', ...all, 'observedGeneration', 'collisionCount'], statusAt, errors);
  validateShares(now, all, statusAt, errors);
  metadataUpdateAgain(set, old, errors, env);
  validateGrowing(now.collisionCount, old.status.collisionCount, statusAt, errors);
});

export const StatefulSetKind = kind<StatefulSet>({
  group: 'apps',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  short: ['sts'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: { v1: { schema: StatefulSet, defaults } },
  hub: 'v1',
  nameRule: (name, prefix, env) => (env?.since('1.27') ? nameIsLabel(name, prefix) : nameIsSubdomain(name, prefix)),
  generation: true,
  strategy,
  gated: templateGates,
  subresources: { scale: scale((object) => object.spec.selector), status: status(statusStrategy) },
  columns: [
    nameColumn,
    { name: 'Ready', type: 'string', description: 'How many pods are ready, of those that there should be.' },
    ageColumn,
    { name: 'Containers', type: 'string', priority: 1, description: 'The names of the containers in the template.' },
    { name: 'Images', type: 'string', priority: 1, description: 'The images of the containers in the template.' },
  ],
  cells: (set, env) => [
    nameCell(set),
    `${set.status.readyReplicas ?? 0}/${set.spec.replicas ?? 0}`,
    ageCell(set, env),
    ...containerCells(set.spec.template),
  ],
});
