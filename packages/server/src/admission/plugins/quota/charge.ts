/** Checks an object against the quotas of its namespace, and computes their new usage. */

import { addAmount } from '@plat-dev/kinds/core/pods/pod-amounts';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { ResourceQuota } from '@plat-dev/kinds/core/schema/quota';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { hasScopes, isInScope, isInScopes, scopesOf } from '@plat-dev/kinds/quota/scopes';
import { type CountedResource, resourceCounted, type Usage, usageOf } from '@plat-dev/kinds/quota/usage';
import { amount } from '@plat-dev/kinds/validation/resources';
import { own } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { isAtLeast } from '@plat-dev/lib/version';
import type { Identity } from '@plat-dev/meta/identity';
import type { Quantity } from '@plat-dev/meta/quantity';
import { refusal } from '../../refusal.ts';
import type { AdmissionRequest } from '../../types.ts';
import { demandedNames, demandedScopes, type LimitedResource, type ScopeRule } from './limits.ts';
import { containersWithoutLimits } from './required-limits.ts';

/** The parameters of one request for all quotas of a namespace. */
export interface Charging {
  readonly request: AdmissionRequest;
  readonly resource: CountedResource;
  readonly identity: Identity;
  /** Those of the kind. */
  readonly limited: readonly LimitedResource[];
  readonly now: number;
}

const isPods = ({ group, name }: CountedResource): boolean => group === '' && name === 'pods';

/**
 * The quotas that the request charges, in hub form, with their new usage and their current version. Throws
 * `forbidden` if the object exceeds one.
 */
export function* chargeQuotas(charging: Charging, quotas: readonly ResourceQuota[]): Work<ResourceQuota[]> {
  const { request, resource, identity } = charging;
  const object = request.object as ApiObject;
  const matching: { quota: ResourceQuota; names: string[]; enters: boolean }[] = [];
  const covered = new Set<string>();
  const coveredScopes: ScopeRule[] = [];
  for (const quota of quotas) {
    yield;
    const scopes = scopesOf(quota.spec);
    const inScope = isInScopes(resource, scopes, object);
    if (hasScopes(resource)) coveredScopes.push(...scopes.filter((scope) => isInScope(resource, scope, object)));
    const names = inScope ? Object.keys(quota.status.hard ?? {}).filter((name) => isOf(name, resource, identity)) : [];
    if (names.length === 0) continue;
    checkStated(charging, quota, names);
    for (const name of names) covered.add(name);
    // Since release 1.33 an object that a change brings under a quota counts there as a new one does.
    const enters =
      request.operation === 'UPDATE' && isAtLeast(request.served.release, '1.33') && !isInScopes(resource, scopes, request.oldObject);
    matching.push({ quota, names, enters });
  }
  const usage = usageOf(resource, object, identity, charging.now);
  const change = changeOf(charging, usage);
  if (change.size === 0 && !matching.some(({ enters }) => enters)) return [];
  checkCovered(charging, usage, covered, coveredScopes);
  const chargedQuotas: ResourceQuota[] = [];
  for (const { quota, names, enters } of matching) {
    yield;
    const inQuota = new Set(names);
    const quotaChange: Usage = new Map([...(enters ? usage : change)].filter(([name, quantity]) => inQuota.has(name) && !quantity.isZero));
    if (quotaChange.size > 0) chargedQuotas.push(charged(request, quota, quotaChange));
  }
  return chargedQuotas;
}

function isOf(name: string, resource: CountedResource, identity: Identity): boolean {
  const countedResource = resourceCounted(name, identity);
  return countedResource !== undefined && countedResource.group === resource.group && countedResource.name === resource.name;
}

/** The object must specify the limited resources, and their usage so far must be known. */
function checkStated({ request, resource }: Charging, quota: ResourceQuota, names: readonly string[]): void {
  const { name } = quota.metadata;
  const missing = isPods(resource) ? containersWithoutLimits(request.object as unknown as Pod, names) : undefined;
  if (missing !== undefined) throw refusal(request, `failed quota: ${name}: ${missing}`);
  if (names.every((one) => own(quota.status.used, one) !== undefined)) return;
  throw refusal(request, `status unknown for quota: ${name}, resources: ${[...names].sort().join(',')}`);
}

/** The usage of the request beyond that of the old object. */
function changeOf({ request, resource, identity, now }: Charging, usage: Usage): Usage {
  const negative = [...usage].filter(([, quantity]) => quantity.sign < 0).map(([name]) => name);
  if (negative.length > 0) throw refusal(request, `quota usage is negative for resource(s): ${negative.sort().join(',')}`);
  const change: Usage = new Map(usage);
  if (request.operation === 'UPDATE' && request.oldObject !== undefined)
    for (const [name, quantity] of usageOf(resource, request.oldObject, identity, now)) addAmount(change, name, quantity.negate());
  for (const [name, quantity] of change) if (quantity.isZero) change.delete(name);
  return change;
}

/** Some resources may be used only if a quota covers them (`limitedResources` of the configuration). */
function checkCovered(
  { request, resource, limited }: Charging,
  usage: Usage,
  covered: ReadonlySet<string>,
  coveredScopes: readonly ScopeRule[],
): void {
  if (limited.length === 0) return;
  const names = demandedNames(limited, usage).filter((name) => !covered.has(name));
  if (names.length > 0) throw refusal(request, `insufficient quota to consume: ${names.sort().join(',')}`);
  if (!hasScopes(resource)) return;
  const scopes = demandedScopes(limited)
    .filter((scope) => isInScope(resource, scope, request.object))
    .filter(({ scopeName }) => !coveredScopes.some((one) => one.scopeName === scopeName));
  if (scopes.length === 0) return;
  const texts = scopes.map(({ scopeName, operator, values }) => `{${scopeName} ${operator} [${(values ?? []).join(' ')}]}`);
  throw refusal(request, `insufficient quota to match these scopes: [${texts.join(' ')}]`);
}

function charged(request: AdmissionRequest, quota: ResourceQuota, quotaChange: Usage): ResourceQuota {
  const hard = amounts(quota.status.hard, quotaChange);
  const used = amounts(quota.status.used, quotaChange);
  const after: Usage = new Map(used);
  for (const [name, quantity] of quotaChange) addAmount(after, name, quantity);
  // A decrease is never refused, even if the usage is still too high.
  const exceeded = [...quotaChange.keys()].filter(
    (name) => (quotaChange.get(name) as Quantity).sign > 0 && (after.get(name) as Quantity).compare(hard.get(name) as Quantity) > 0,
  );
  if (exceeded.length > 0) {
    const list = (usage: Usage): string =>
      exceeded
        .sort()
        .map((name) => `${name}=${usage.get(name)}`)
        .join(',');
    throw refusal(
      request,
      `exceeded quota: ${quota.metadata.name}, requested: ${list(quotaChange)}, used: ${list(used)}, limited: ${list(hard)}`,
    );
  }
  const texts = Object.fromEntries([...after].map(([name, quantity]) => [name, quantity.toString()]));
  return { ...quota, status: { ...quota.status, used: { ...quota.status.used, ...texts } } };
}

/** Of the resources that are charged: a quota may have thousands of others. */
function amounts(texts: Record<string, string> | undefined, quotaChange: Usage): Usage {
  const quantities: Usage = new Map();
  for (const name of quotaChange.keys()) {
    const text = own(texts, name);
    if (text !== undefined) quantities.set(name, amount(text));
  }
  return quantities;
}
