/** Validation of autoscalers. */
import { own } from '@plat-dev/lib/own';
import { groupOfApiVersion, isApiVersion } from '@plat-dev/meta/api-version';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { dns1123Label, negativeProblem, pathSegmentName } from '@plat-dev/meta/names';
import { parseQuantity } from '@plat-dev/meta/quantity';
import type { KindEnv } from '../kind.ts';
import { each } from '../validation/each.ts';
import { notNegative, report } from '../validation/field-checks.ts';
import { readQuantityText } from '../validation/go-quantities.ts';
import { invalidText } from '../validation/go-text.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { validateContainerResourceName } from '../validation/resources.ts';
import type {
  CrossVersionObjectReference,
  HorizontalPodAutoscaler,
  HPAScalingPolicy,
  HPAScalingRules,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
} from './schema/v2.ts';

const root = Path.of('spec');

export function validateAutoscaler(autoscaler: HorizontalPodAutoscaler, errors: FieldErrors, env: KindEnv): void {
  validateSpec(autoscaler, env.feature('HPAScaleToZero') ? 0 : 1, errors, env, undefined);
}

export function validateAutoscalerUpdate(
  autoscaler: HorizontalPodAutoscaler,
  old: HorizontalPodAutoscaler,
  errors: FieldErrors,
  env: KindEnv,
): void {
  metadataUpdateAgain(autoscaler, old, errors, env);
  validateSpec(autoscaler, env.feature('HPAScaleToZero') || old.spec.minReplicas === 0 ? 0 : 1, errors, env, old);
}

export function validateAutoscalerStatus(
  autoscaler: HorizontalPodAutoscaler,
  old: HorizontalPodAutoscaler,
  errors: FieldErrors,
  env: KindEnv,
): void {
  metadataUpdateAgain(autoscaler, old, errors, env);
  const at = Path.of('status');
  notNegative(autoscaler.status.currentReplicas, at, 'currentReplicas', errors);
  notNegative(autoscaler.status.desiredReplicas, at, 'desiredReplicas', errors);
}

function validateSpec(
  { spec }: HorizontalPodAutoscaler,
  least: number,
  errors: FieldErrors,
  env: KindEnv,
  old: HorizontalPodAutoscaler | undefined,
): void {
  const { minReplicas, maxReplicas, scaleTargetRef, metrics = [], behavior } = spec;
  const max = root.child('maxReplicas');
  if (minReplicas !== undefined && minReplicas < least)
    errors.invalid(root.child('minReplicas'), minReplicas, `must be greater than or equal to ${least}`);
  if (maxReplicas < 1) tooFew(maxReplicas, max, errors, env);
  if (minReplicas !== undefined && maxReplicas < minReplicas)
    errors.invalid(max, maxReplicas, 'must be greater than or equal to `minReplicas`');
  validateReference(scaleTargetRef, root.child('scaleTargetRef'), errors, targetVersion(scaleTargetRef, old, env));
  const described = describedVersion(old, env);
  each(metrics, root.child('metrics'), (metric, at) => validateMetric(metric, at, errors, env, described));
  // Without pods there are no metrics of pods.
  if (minReplicas === 0 && !metrics.some(({ type }) => type === 'Object' || type === 'External'))
    errors.forbidden(root.child('metrics'), 'must specify at least one Object or External metric to support scaling to zero replicas');
  if (behavior === undefined) return;
  for (const field of ['scaleUp', 'scaleDown'] as const) validateScaling(behavior[field], root.child('behavior').child(field), errors);
}

function tooFew(replicas: number, at: Path, errors: FieldErrors, env: KindEnv): void {
  if (!env.since('1.36')) errors.invalid(at, replicas, 'must be greater than 0');
  else if (replicas === 0) errors.required(at, 'must be set and greater than 0');
  else errors.invalid(at, replicas, 'must be greater than or equal to 1');
}

/** What the version of a reference must be: a group and version, or any text. */
type VersionRule = 'any' | 'may be of the core group' | 'names a group';

/** Since 1.34 the target is checked when it is given; the core group has one kind that can be scaled. */
function targetVersion(target: CrossVersionObjectReference, old: HorizontalPodAutoscaler | undefined, env: KindEnv): VersionRule {
  const was = old?.spec.scaleTargetRef;
  if (!env.since('1.34') || (was !== undefined && was.apiVersion === target.apiVersion && was.kind === target.kind)) return 'any';
  return target.kind === 'ReplicationController' ? 'may be of the core group' : 'names a group';
}
/** Described objects may be of any group; those of a stored autoscaler that has an invalid one are not checked. */
function describedVersion(old: HorizontalPodAutoscaler | undefined, env: KindEnv): VersionRule {
  const isOld = old?.spec.metrics?.some(
    ({ type, object }) => type === 'Object' && object !== undefined && !isApiVersion(object.describedObject.apiVersion ?? ''),
  );
  return !env.since('1.34') || isOld ? 'any' : 'may be of the core group';
}
function versionProblem(version: string, rule: VersionRule): string | undefined {
  if (rule === 'any') return undefined;
  if (version !== '' && !isApiVersion(version)) return `unexpected GroupVersion string: ${version}`;
  return rule === 'names a group' && groupOfApiVersion(version) === '' ? 'apiVersion must specify API group' : undefined;
}

function validateReference(
  { kind, name, apiVersion = '' }: CrossVersionObjectReference,
  at: Path,
  errors: FieldErrors,
  rule: VersionRule,
): void {
  if (kind === '') errors.required(at.child('kind'));
  else report(errors, at.child('kind'), kind, pathSegmentName(kind));
  if (name === '') errors.required(at.child('name'));
  else report(errors, at.child('name'), name, pathSegmentName(name));
  const problem = versionProblem(apiVersion, rule);
  if (problem !== undefined) errors.invalid(at.child('apiVersion'), apiVersion, problem);
}

// ---- metrics -----------------------------------------------------------------------------------------------------

const metricTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];
type Source = Exclude<keyof MetricSpec, 'type'>;
const sourceOf: Readonly<Record<string, Source>> = {
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
  External: 'external',
  ContainerResource: 'containerResource',
};
/** The order of the checks; only the first source that is set is validated. */
const sources: readonly Source[] = ['object', 'external', 'pods', 'resource', 'containerResource'];

function validateMetric(metric: MetricSpec, at: Path, errors: FieldErrors, env: KindEnv, described: VersionRule): void {
  const { type } = metric;
  if (type === '') errors.required(at.child('type'), 'must specify a metric source type');
  if (!metricTypes.includes(type)) errors.notSupported(at.child('type'), type, metricTypes);
  const present = sources.filter((source) => metric[source] !== undefined);
  const first = present[0];
  if (first !== undefined) validateSource(metric, first, at.child(first), errors, env, described);
  const expected = metricTypes.includes(type) ? own(sourceOf, type) : undefined;
  if (expected === undefined) errors.notSupported(at.child('type'), type, metricTypes);
  else if (metric[expected] === undefined) errors.required(at.child(expected), missing(expected, env));
  if (present.length === 1) return;
  for (const source of present) if (source !== expected) errors.forbidden(at.child(source), 'must populate the given metric source only');
}

function missing(source: Source, env: KindEnv): string {
  const text = 'must populate information for the given metric source';
  const gate = 'HPAContainerMetrics';
  return source === 'containerResource' && !env.feature(gate) ? `${text} (only allowed when ${gate} feature is enabled)` : text;
}

function validateSource(metric: MetricSpec, source: Source, at: Path, errors: FieldErrors, env: KindEnv, described: VersionRule): void {
  const target = at.child('target');
  switch (source) {
    case 'object': {
      const object = metric.object as NonNullable<MetricSpec['object']>;
      validateReference(object.describedObject, at.child('describedObject'), errors, described);
      validateIdentifier(object.metric, at, errors);
      validateTarget(object.target, target, errors);
      if (object.target.value === undefined && object.target.averageValue === undefined)
        errors.required(target.child('averageValue'), 'must set either a target value or averageValue');
      return;
    }
    case 'external': {
      const external = metric.external as NonNullable<MetricSpec['external']>;
      const { value, averageValue } = external.target;
      validateIdentifier(external.metric, at, errors);
      validateTarget(external.target, target, errors);
      if (value === undefined && averageValue === undefined)
        errors.required(target.child('averageValue'), 'must set either a target value for metric or a per-pod target');
      if (value !== undefined && averageValue !== undefined)
        errors.forbidden(target.child('value'), 'may not set both a target value for metric and a per-pod target');
      return;
    }
    case 'pods': {
      const pods = metric.pods as NonNullable<MetricSpec['pods']>;
      validateIdentifier(pods.metric, at, errors);
      validateTarget(pods.target, target, errors);
      if (pods.target.averageValue === undefined)
        errors.required(target.child('averageValue'), 'must specify a positive target averageValue');
      return;
    }
    default: {
      const resource = metric[source] as NonNullable<MetricSpec['resource']> & { readonly container?: string };
      if (resource.name === '') errors.required(at.child('name'), 'must specify a resource name');
      else if (source === 'containerResource') validateContainerResourceName(resource.name, at.child('name'), errors, env.identity);
      if (resource.container === '') errors.required(at.child('container'), 'must specify a container');
      else if (resource.container !== undefined)
        report(errors, at.child('container'), resource.container, dns1123Label(resource.container));
      validateTarget(resource.target, target, errors);
      validateUtilization(resource.target, target, errors);
    }
  }
}

function validateUtilization({ averageUtilization, averageValue }: MetricTarget, at: Path, errors: FieldErrors): void {
  if (averageUtilization === undefined && averageValue === undefined)
    errors.required(at.child('averageUtilization'), 'must set either a target raw value or a target utilization');
  if (averageUtilization !== undefined && averageValue !== undefined)
    errors.forbidden(at.child('averageValue'), 'may not set both a target raw value and a target utilization');
}

/** `at` is the source around the metric. */
function validateIdentifier({ name }: MetricIdentifier, at: Path, errors: FieldErrors): void {
  const here = at.child('metric').child('name');
  if (name === '') errors.required(here, 'must specify a metric name');
  else report(errors, here, name, pathSegmentName(name));
}

const targetTypes = ['Utilization', 'Value', 'AverageValue'];
const isPositive = (quantity: string): boolean => parseQuantity(quantity).sign === 1;

function validateTarget(target: MetricTarget, at: Path, errors: FieldErrors): void {
  const { type, averageUtilization } = target;
  if (type === '') errors.required(at.child('type'), 'must specify a metric target type');
  if (!targetTypes.includes(type)) errors.invalid(at.child('type'), type, 'must be either Utilization, Value, or AverageValue');
  for (const field of ['value', 'averageValue'] as const) {
    const quantity = target[field];
    if (quantity !== undefined && !isPositive(quantity))
      invalidText(errors, at.child(field), readQuantityText(quantity), 'must be positive');
  }
  if (averageUtilization !== undefined && averageUtilization < 1)
    errors.invalid(at.child('averageUtilization'), averageUtilization, 'must be greater than 0');
}

// ---- behavior ----------------------------------------------------------------------------------------------------

const MAX_WINDOW_SECONDS = 3600;
const MAX_PERIOD_SECONDS = 1800;
const selectPolicies = ['Disabled', 'Max', 'Min'];
const policyTypes = ['Percent', 'Pods'];

function validateScaling(rules: HPAScalingRules | undefined, at: Path, errors: FieldErrors): void {
  if (rules === undefined) return;
  const { stabilizationWindowSeconds: window, selectPolicy, policies = [] } = rules;
  const here = at.child('stabilizationWindowSeconds');
  if (window !== undefined && window < 0) errors.invalid(here, window, 'must be greater than or equal to zero');
  if (window !== undefined && window > MAX_WINDOW_SECONDS)
    errors.invalid(here, window, `must be less than or equal to ${MAX_WINDOW_SECONDS}`);
  if (selectPolicy !== undefined && !selectPolicies.includes(selectPolicy))
    errors.notSupported(at.child('selectPolicy'), selectPolicy, selectPolicies);
  if (policies.length === 0) errors.required(at.child('policies'), 'must specify at least one Policy');
  each(policies, at.child('policies'), (policy, place) => validatePolicy(policy, place, errors));
  const { tolerance } = rules;
  if (tolerance !== undefined && parseQuantity(tolerance).sign < 0) errors.invalid(at.child('tolerance'), tolerance, negativeProblem);
}

function validatePolicy({ type, value, periodSeconds }: HPAScalingPolicy, at: Path, errors: FieldErrors): void {
  const period = at.child('periodSeconds');
  if (!policyTypes.includes(type)) errors.notSupported(at.child('type'), type, policyTypes);
  if (value <= 0) errors.invalid(at.child('value'), value, 'must be greater than zero');
  if (periodSeconds <= 0) errors.invalid(period, periodSeconds, 'must be greater than zero');
  if (periodSeconds > MAX_PERIOD_SECONDS) errors.invalid(period, periodSeconds, `must be less than or equal to ${MAX_PERIOD_SECONDS}`);
}
