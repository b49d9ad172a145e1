/** Validation of workloads and of groups of pods, which share most of their fields. */
import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { dns1123Label, dns1123Subdomain, immutableProblem, labelKey, type Problems, pathSegmentName } from '@plat-dev/meta/names';
import { validateConditions } from '../validation/conditions.ts';
import { each } from '../validation/each.ts';
import { report } from '../validation/field-checks.ts';
import type {
  PodGroup,
  PodGroupResourceClaim,
  PodGroupSchedulingConstraints,
  PodGroupSchedulingPolicy,
  PodGroupSpec,
  PodGroupTemplate,
  Workload,
} from './schema/workloads.ts';

const MAX_TEMPLATES = 8;
const MAX_CLAIMS = 4;
const MAX_TOPOLOGIES = 1;
const MAX_PRIORITY = 1_000_000_000;
const spec = Path.of('spec');
const statusAt = Path.of('status');
type Rule = (text: string) => Problems;

function named(value: string, rule: Rule, at: Path, errors: FieldErrors): void {
  if (value === '') errors.required(at);
  else report(errors, at, value, rule(value));
}

export function validateWorkload({ spec: { controllerRef, podGroupTemplates = [] } }: Workload, errors: FieldErrors): void {
  if (controllerRef !== undefined) {
    const at = spec.child('controllerRef');
    const { apiGroup = '', kind, name } = controllerRef;
    if (apiGroup !== '') report(errors, at.child('apiGroup'), apiGroup, dns1123Subdomain(apiGroup));
    named(kind, pathSegmentName, at.child('kind'), errors);
    named(name, pathSegmentName, at.child('name'), errors);
  }
  const at = spec.child('podGroupTemplates');
  if (podGroupTemplates.length === 0) errors.required(at);
  else if (podGroupTemplates.length > MAX_TEMPLATES) errors.tooMany(at, podGroupTemplates.length, MAX_TEMPLATES);
  else {
    once(podGroupTemplates, at, errors);
    each(podGroupTemplates, at, (template, here) => {
      named(template.name, dns1123Label, here.child('name'), errors);
      validateGroup(template, here, errors);
    });
  }
}

/** Items that their names tell apart. */
function once(list: readonly { name: string }[] | undefined, at: Path, errors: FieldErrors): void {
  const names = new Set<string>();
  each(list, at, ({ name }, here) => {
    if (names.has(name)) errors.duplicate(here, { name });
    names.add(name);
  });
}

function validateGroup(group: PodGroupTemplate | PodGroupSpec, at: Path, errors: FieldErrors): void {
  validatePolicy(group.schedulingPolicy, at.child('schedulingPolicy'), errors);
  validateConstraints(group.schedulingConstraints, at.child('schedulingConstraints'), errors);
  validateClaims(group.resourceClaims, at.child('resourceClaims'), errors);
  const { disruptionMode: mode, priorityClassName = '', priority } = group;
  if (mode !== undefined && !['Pod', 'PodGroup'].includes(mode)) errors.notSupported(at.child('disruptionMode'), mode, ['Pod', 'PodGroup']);
  if (priorityClassName !== '') report(errors, at.child('priorityClassName'), priorityClassName, dns1123Subdomain(priorityClassName));
  if (priority !== undefined && priority > MAX_PRIORITY)
    errors.invalid(at.child('priority'), priority, `must be less than or equal to ${MAX_PRIORITY}`);
}

/** Reports a choice of which not exactly one is made. */
function oneOf(fields: readonly string[], choice: object, at: Path, errors: FieldErrors): void {
  const texts = fields.map((field) => `\`${field}\``);
  const set = fields.filter((field) => Reflect.get(choice, field) !== undefined);
  if (set.length === 0) errors.invalid(at, '', `must specify one of: ${texts.join(', ')}`);
  else if (set.length > 1) errors.invalid(at, `{${set.join(', ')}}`, `must specify exactly one of: ${texts.join(', ')}`);
}

function validatePolicy(policy: PodGroupSchedulingPolicy, at: Path, errors: FieldErrors): void {
  oneOf(['basic', 'gang'], policy, at, errors);
  if (policy.gang === undefined) return;
  const here = at.child('gang').child('minCount');
  if (policy.gang.minCount === 0) errors.required(here);
  else if (policy.gang.minCount < 1) errors.invalid(here, policy.gang.minCount, 'must be greater than or equal to 1');
}

function validateConstraints(constraints: PodGroupSchedulingConstraints | undefined, at: Path, errors: FieldErrors): void {
  const { topology = [] } = constraints ?? {};
  const here = at.child('topology');
  if (topology.length > MAX_TOPOLOGIES) errors.tooMany(here, topology.length, MAX_TOPOLOGIES);
  else each(topology, here, ({ key }, place) => named(key, labelKey, place.child('key'), errors));
}

function validateClaims(claims: readonly PodGroupResourceClaim[] | undefined, at: Path, errors: FieldErrors): void {
  if ((claims?.length ?? 0) > MAX_CLAIMS) {
    errors.tooMany(at, claims?.length ?? 0, MAX_CLAIMS);
    return;
  }
  once(claims, at, errors);
  each(claims, at, (claim, here) => {
    oneOf(['resourceClaimName', 'resourceClaimTemplateName'], claim, here, errors);
    named(claim.name, dns1123Label, here.child('name'), errors);
    for (const field of ['resourceClaimName', 'resourceClaimTemplateName'] as const) {
      const name = claim[field];
      if (name !== undefined) report(errors, here.child(field), name, dns1123Subdomain(name));
    }
  });
}

export function validatePodGroup({ spec: groupSpec }: PodGroup, errors: FieldErrors): void {
  const { podGroupTemplateRef: template } = groupSpec;
  if (template !== undefined) {
    const at = spec.child('podGroupTemplateRef');
    oneOf(['workload'], template, at, errors);
    const here = at.child('workload');
    if (template.workload !== undefined) {
      named(template.workload.workloadName, dns1123Subdomain, here.child('workloadName'), errors);
      named(template.workload.podGroupTemplateName, dns1123Label, here.child('podGroupTemplateName'), errors);
    }
  }
  validateGroup(groupSpec, spec, errors);
}

/** Fields of the spec that keep their first value. */
export function keepFields<S extends object>(fields: readonly (keyof S & string)[], now: S, old: S, errors: FieldErrors): void {
  const fieldOf = (of: object, field: string): unknown => own(of as Readonly<Record<string, unknown>>, field);
  for (const field of fields) {
    const value = fieldOf(now, field);
    if (!equal(value, fieldOf(old, field))) errors.invalid(spec.child(field), value ?? null, immutableProblem);
  }
}

export function validateGroupStatus({ spec: { resourceClaims = [] }, status }: PodGroup, errors: FieldErrors): void {
  validateConditions(status.conditions, statusAt.child('conditions'), errors);
  const at = statusAt.child('resourceClaimStatuses');
  const { resourceClaimStatuses: claims = [] } = status;
  if (claims.length > MAX_CLAIMS) {
    errors.tooMany(at, claims.length, MAX_CLAIMS);
    return;
  }
  once(claims, at, errors);
  each(claims, at, ({ name, resourceClaimName }, here) => {
    if (!resourceClaims.some((claim) => claim.name === name))
      errors.invalid(here.child('name'), name, 'must match the name of an entry in `spec.resourceClaims`');
    if (resourceClaimName !== undefined)
      report(errors, here.child('resourceClaimName'), resourceClaimName, dns1123Subdomain(resourceClaimName));
  });
}
