/** Validation of the names and amounts of compute resources. */

import { own } from '@plat-dev/lib/own';
import { TextCache } from '@plat-dev/lib/text-cache';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import type { Identity } from '@plat-dev/meta/identity';
import { negativeProblem, qualifiedName } from '@plat-dev/meta/names';
import { parseQuantity, type Quantity } from '@plat-dev/meta/quantity';
import type { ResourceRequirements } from '../core/schema/resources.ts';
import type { KindEnv } from '../kind.ts';
import { report } from './field-checks.ts';
import { invalidText, quantityText } from './go-text.ts';

/** Recently parsed amounts: pods repeat a handful. */
const parsed = new TextCache<Quantity>(1024, 32);

/** The amount of a canonical text, as decoding leaves it. */
export const amount = (text: string): Quantity => parsed.get(text, parseQuantity);

const hugePages = 'hugepages-';
export const isHugePages = (name: string): boolean => name.startsWith(hugePages);

/** Resources of containers that need no domain. */
const containerResources = new Set(['cpu', 'memory', 'ephemeral-storage']);
const countedResources = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);
const otherResources = new Set([
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'storage',
  'requests.storage',
]);

const isStandardContainerResource = (name: string): boolean => containerResources.has(name) || isHugePages(name);
export const isStandardResource = (name: string): boolean =>
  isStandardContainerResource(name) || countedResources.has(name) || otherResources.has(name) || name.startsWith(`requests.${hugePages}`);

/** Native resources: those without a domain, and those in the domain of the identity. */
export const isNativeResource = (name: string, identity: Identity): boolean => !name.includes('/') || name.includes(`${identity.domain}/`);

/** `example.com/gpu`: an extended resource, counted in whole units. */
export const isExtendedResource = (name: string, identity: Identity): boolean =>
  !isNativeResource(name, identity) && !name.startsWith('requests.') && qualifiedName(`requests.${name}`).length === 0;

/** Whether a resource may be overcommitted: then requests may be lower than limits. */
export const mayOvercommit = (name: string, identity: Identity): boolean => isNativeResource(name, identity) && !isHugePages(name);

const isWholeResource = (name: string, identity: Identity): boolean => countedResources.has(name) || isExtendedResource(name, identity);

export function validateResourceName(name: string, at: Path, errors: FieldErrors): void {
  const problems = qualifiedName(name);
  report(errors, at, name, problems);
  if (problems.length === 0 && !name.includes('/') && !isStandardResource(name))
    errors.invalid(at, name, 'must be a standard resource type or fully qualified');
}

export function validateContainerResourceName(name: string, at: Path, errors: FieldErrors, identity: Identity): void {
  if (containerResources.has(name)) return;
  validateResourceName(name, at, errors);
  if (!name.includes('/')) {
    if (!isStandardContainerResource(name)) errors.invalid(at, name, 'must be a standard resource for containers');
  } else if (!isNativeResource(name, identity) && !isExtendedResource(name, identity))
    errors.invalid(at, name, "doesn't follow extended resource name standard");
}

/** An amount of a resource: not negative, and whole if the resource is counted in units. */
export function validateResourceAmount(name: string, text: string, at: Path, errors: FieldErrors, identity: Identity): void {
  const quantity = amount(text);
  if (quantity.sign < 0) errors.invalid(at, text, negativeProblem);
  // Most amounts are whole, and only others need a check of the name.
  if (!containerResources.has(name) && !isDigits(text) && quantity.millis() % 1000n !== 0n && isWholeResource(name, identity))
    invalidText(errors, at, quantityText(quantity), 'must be an integer');
}

function isDigits(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x30 || code > 0x39) return false;
  }
  return true;
}

function validateHugePages(name: string, text: string, at: Path, errors: FieldErrors): void {
  let pages: Quantity | undefined;
  try {
    pages = parseQuantity(name.slice(hugePages.length));
  } catch {
    // An invalid page size has no multiples to check.
  }
  if (pages === undefined || pages.sign <= 0 || pages.millis() % 1000n !== 0n || amount(text).value() % pages.value() !== 0n)
    errors.invalid(at, text, `${text} is not positive integer multiple of ${name}`);
}

interface Kinds {
  compute: boolean;
  hugePages: boolean;
}
function note(resourceKinds: Kinds, name: string, text: string, at: Path, errors: FieldErrors): void {
  if (name === 'cpu' || name === 'memory') resourceKinds.compute = true;
  else if (isHugePages(name)) {
    resourceKinds.hugePages = true;
    validateHugePages(name, text, at, errors);
  }
}

type NameRule = (name: string, at: Path, errors: FieldErrors, identity: Identity) => void;

/** The requests and limits of a container or of a pod, or the overhead of a pod. */
export function validateResourceRequirements(
  resources: ResourceRequirements,
  at: Path,
  errors: FieldErrors,
  env: KindEnv,
  nameRule: NameRule = validateContainerResourceName,
): void {
  const { limits, requests } = resources;
  if (limits === undefined && requests === undefined) return;
  const { identity } = env;
  const resourceKinds: Kinds = { compute: false, hugePages: false };
  const errorsBefore = errors.list.length;
  const limitsAt = at.child('limits');
  for (const name in limits) {
    const text = limits[name] as string;
    const here = limitsAt.key(name);
    nameRule(name, here, errors, identity);
    validateResourceAmount(name, text, here, errors, identity);
    note(resourceKinds, name, text, here, errors);
  }
  // A valid limit is a valid request.
  const limitsAreRight = errors.list.length === errorsBefore;
  const requestsAt = at.child('requests');
  for (const name in requests) {
    const text = requests[name] as string;
    const here = requestsAt.key(name);
    const limit = limits === undefined ? undefined : (own(limits, name) as string | undefined);
    if (limit === undefined || !limitsAreRight) nameRule(name, here, errors, identity);
    if (limit !== text || !limitsAreRight) validateResourceAmount(name, text, here, errors, identity);
    validateAgainstLimit(name, text, limit, at, errors, env);
    note(resourceKinds, name, text, here, errors);
  }
  if (resourceKinds.hugePages && !resourceKinds.compute) errors.forbidden(at, 'HugePages require cpu or memory');
}

function validateAgainstLimit(name: string, text: string, limit: string | undefined, at: Path, errors: FieldErrors, env: KindEnv): void {
  if (limit === undefined) {
    if (!mayOvercommit(name, env.identity)) errors.required(at.child('limits'), 'Limit must be set for non overcommitable resources');
    return;
  }
  if (text === limit) return;
  const order = amount(text).compare(amount(limit));
  const limitText = `${name} limit${env.since('1.27') ? ` of ${limit}` : ''}`;
  if (order !== 0 && !mayOvercommit(name, env.identity)) errors.invalid(at.child('requests'), text, `must be equal to ${limitText}`);
  else if (order > 0) errors.invalid(at.child('requests'), text, `must be less than or equal to ${limitText}`);
}
