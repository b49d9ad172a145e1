/** Validation of resource quotas. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { immutableProblem } from '@plat-dev/meta/names';
import type { ResourceQuota, ResourceQuotaSpec, ScopedResourceSelectorRequirement } from '../core/schema/quota.ts';
import type { KindEnv } from '../kind.ts';
import { goList } from './go-list.ts';
import { invalidText, listText } from './go-text.ts';
import { isStandardResource, validateResourceAmount, validateResourceName } from './resources.ts';

/** Resources that a quota may limit: all with a plain name except `storage`, which claims request. */
const isQuotaResource = (name: string): boolean => name !== 'storage' && isStandardResource(name);

type Amounts = Readonly<Record<string, string>> | undefined;

function validateAmounts(amounts: Amounts, at: Path, errors: FieldErrors, env: KindEnv): void {
  for (const name in amounts) {
    const here = at.key(name);
    validateResourceName(name, here, errors);
    if (!name.includes('/') && !isQuotaResource(name)) errors.invalid(here, name, 'must be a standard resource for quota');
    validateResourceAmount(name, amounts[name] as string, here, errors, env.identity);
  }
}

export function validateQuotaStatus(quota: ResourceQuota, errors: FieldErrors, env: KindEnv): void {
  const status = Path.of('status');
  validateAmounts(quota.status.hard, status.child('hard'), errors, env);
  validateAmounts(quota.status.used, status.child('used'), errors, env);
}

export function validateQuotaSpec({ spec }: ResourceQuota, errors: FieldErrors, env: KindEnv): void {
  const at = Path.of('spec');
  validateAmounts(spec.hard, at.child('hard'), errors, env);
  const scopes = scopesIn(env);
  validateScopes(spec, at.child('scopes'), errors, scopes);
  validateScopeSelector(spec, at.child('scopeSelector'), errors, scopes);
}

const scopesText = (scopes: readonly string[] | undefined): string => goList('core.ResourceQuotaScope', scopes);

export function validateQuotaUpdate(quota: ResourceQuota, old: ResourceQuota, errors: FieldErrors, env: KindEnv): void {
  validateQuotaSpec(quota, errors, env);
  const [now, oldScopes] = [new Set(quota.spec.scopes), new Set(old.spec.scopes)];
  if (now.size !== oldScopes.size || [...now].some((scope) => !oldScopes.has(scope)))
    invalidText(errors, Path.of('spec', 'scopes'), scopesText(quota.spec.scopes), immutableProblem);
}

// ---- scopes ------------------------------------------------------------------------------------------------------

/** Scopes that a pod is in or not; `PriorityClass` takes values. */
const plainScopes = new Set(['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'CrossNamespacePodAffinity']);
/** Since release 1.33 claims have a scope, too: that of their class of attributes. */
type Scopes = ReadonlySet<string>;
const podScopes: Scopes = new Set([...plainScopes, 'PriorityClass']);
const allScopes: Scopes = new Set([...podScopes, 'VolumeAttributesClass']);
const scopesIn = (env: KindEnv): Scopes => (env.since('1.33') && env.feature('VolumeAttributesClass') ? allScopes : podScopes);
const opposites: readonly (readonly [string, string])[] = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];
const computeResources = new Set(['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory']);

/** Whether pods of a scope can use the resource at all. */
function fits(scope: string, resource: string, scopes: Scopes): boolean {
  if (!scopes.has(scope)) return true;
  if (scope === 'VolumeAttributesClass') return isClaimResource(resource);
  return resource === 'pods' || (scope !== 'BestEffort' && computeResources.has(resource));
}
const isClaimResource = (resource: string): boolean =>
  resource === 'persistentvolumeclaims' || resource === 'requests.storage' || resource.includes('.storageclass.');
const misfits = (scope: string, spec: ResourceQuotaSpec, scopes: Scopes): string[] =>
  Object.keys(spec.hard ?? {}).filter((name) => isQuotaResource(name) && !fits(scope, name, scopes));

function validateScopes(spec: ResourceQuotaSpec, at: Path, errors: FieldErrors, known: Scopes): void {
  const { scopes } = spec;
  if (scopes === undefined) return;
  const fail = (detail: string): void => invalidText(errors, at, scopesText(scopes), detail);
  for (const scope of scopes) {
    if (!known.has(scope)) fail('unsupported scope');
    for (const _ of misfits(scope, spec, known)) fail('unsupported scope applied to resource');
  }
  for (const pair of opposites) if (pair.every((scope) => scopes.includes(scope))) fail('conflicting scopes');
}

function validateScopeSelector(spec: ResourceQuotaSpec, selectorAt: Path, errors: FieldErrors, known: Scopes): void {
  const { scopeSelector } = spec;
  if (scopeSelector === undefined) return;
  const at = selectorAt.child('matchExpressions');
  const requirements = scopeSelector.matchExpressions ?? [];
  for (const requirement of requirements) {
    if (!known.has(requirement.scopeName)) errors.invalid(at.child('scopeName'), requirement.scopeName, 'unsupported scope');
    for (const _ of misfits(requirement.scopeName, spec, known)) errors.invalid(at, scopeSelector, 'unsupported scope applied to resource');
    validateRequirement(requirement, at, errors);
  }
  const scopes = requirements.map((r) => r.scopeName);
  for (const pair of opposites)
    if (pair.every((scope) => scopes.includes(scope))) invalidText(errors, at, scopesText(spec.scopes), 'conflicting scopes');
}

function validateRequirement({ scopeName, operator, values = [] }: ScopedResourceSelectorRequirement, at: Path, errors: FieldErrors): void {
  if (plainScopes.has(scopeName) && operator !== 'Exists')
    errors.invalid(
      at.child('operator'),
      operator,
      "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
    );
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0)
      errors.required(at.child('values'), "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector");
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0)
      invalidText(
        errors,
        at.child('values'),
        listText(values),
        "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
      );
  } else errors.invalid(at.child('operator'), operator, 'not a valid selector operator');
}
