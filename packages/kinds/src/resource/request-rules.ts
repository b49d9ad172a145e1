/** Validation of what a claim requests. A claim and a template of claims share these rules. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { nameIsSubdomain } from '@plat-dev/meta/names';
import type { KindEnv } from '../kind.ts';
import { each } from '../validation/each.ts';
import { report } from '../validation/field-checks.ts';
import { isExtendedResource } from '../validation/resources.ts';
import { eachOnceUpTo, eachUpTo, itself } from './bounded-lists.ts';
import { validateSelectors } from './device-selectors.ts';
import { validateToleration } from './device-taints.ts';
import { validateDriverName, validateFullName, validateLabel } from './names.ts';
import { validateJsonObject } from './opaque-values.ts';
import type {
  DeviceClaim,
  DeviceClassSpec,
  DeviceConstraint,
  DeviceRequest,
  DeviceSubRequest,
  ExactDeviceRequest,
} from './schema/claims.ts';
import type { DeviceConfiguration } from './schema/device-parts.ts';

export const MAX_REQUESTS = 32;
const MAX_SUB_REQUESTS = 8;
const MAX_CONSTRAINTS = 32;
export const MAX_CONFIGURATIONS = 32;
const MAX_OPAQUE_BYTES = 10 * 1024;
const unionProblem = 'exactly one of `exactly` or `firstAvailable` is required';
const referenceProblem = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
const modes = ['All', 'ExactCount'];

/** The names that parts of the claim may refer to: `gpu`, and `gpu/large` for an alternative. */
export type RequestNames = ReadonlySet<string>;

export function requestNames({ requests = [] }: DeviceClaim): RequestNames {
  return new Set(requests.flatMap(({ name, firstAvailable = [] }) => [name, ...firstAvailable.map((one) => `${name}/${one.name}`)]));
}

export function validateDeviceClaim(claim: DeviceClaim, at: Path, errors: FieldErrors, env: KindEnv): void {
  const names = requestNames(claim);
  eachOnceUpTo(
    MAX_REQUESTS,
    claim.requests,
    at.child('requests'),
    errors,
    ({ name }) => name,
    (request, here) => validateRequest(request, here, errors, env),
  );
  eachUpTo(MAX_CONSTRAINTS, claim.constraints, at.child('constraints'), errors, (constraint, here) =>
    validateConstraint(constraint, names, here, errors, env),
  );
  eachUpTo(MAX_CONFIGURATIONS, claim.config, at.child('config'), errors, (config, here) => {
    validateReferences(config.requests, names, here.child('requests'), errors);
    validateConfiguration(config, here, errors);
  });
}

function validateRequest(request: DeviceRequest, at: Path, errors: FieldErrors, env: KindEnv): void {
  const { name, exactly, firstAvailable = [] } = request;
  validateLabel(name, at.child('name'), errors);
  if (exactly !== undefined && firstAvailable.length > 0) errors.invalid(at, null, `${unionProblem}, but multiple fields are set`);
  else if (exactly !== undefined) validateExact(exactly, at.child('exactly'), errors, env);
  else if (firstAvailable.length === 0) errors.required(at, unionProblem);
  else
    eachOnceUpTo(
      MAX_SUB_REQUESTS,
      firstAvailable,
      at.child('firstAvailable'),
      errors,
      (one) => one.name,
      (one, here) => {
        validateLabel(one.name, here.child('name'), errors);
        validateExact(one, here, errors, env);
      },
    );
}

function validateExact(request: ExactDeviceRequest | DeviceSubRequest, at: Path, errors: FieldErrors, env: KindEnv): void {
  const { deviceClassName, selectors, allocationMode, count = 0, tolerations } = request;
  const classAt = at.child('deviceClassName');
  if (deviceClassName === '') errors.required(classAt);
  else report(errors, classAt, deviceClassName, nameIsSubdomain(deviceClassName));
  validateSelectors(selectors, at.child('selectors'), errors, env);
  if (allocationMode === 'All') {
    if (count !== 0) errors.invalid(at.child('count'), count, "must not be specified when allocationMode is 'All'");
  } else if (allocationMode !== 'ExactCount') errors.notSupported(at.child('allocationMode'), allocationMode ?? '', modes);
  else if (count <= 0) errors.invalid(at.child('count'), count, 'must be greater than zero');
  each(tolerations, at.child('tolerations'), (toleration, here) => validateToleration(toleration, here, errors, env));
}

function validateConstraint(constraint: DeviceConstraint, names: RequestNames, at: Path, errors: FieldErrors, env: KindEnv): void {
  const { requests, matchAttribute, distinctAttribute } = constraint;
  validateReferences(requests, names, at.child('requests'), errors);
  if (matchAttribute !== undefined) validateFullName(matchAttribute, at.child('matchAttribute'), errors);
  else if (distinctAttribute !== undefined) validateFullName(distinctAttribute, at.child('distinctAttribute'), errors);
  else if (env.feature('DRAConsumableCapacity'))
    errors.required(at, 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set');
  else errors.required(at.child('matchAttribute'));
}

/** Names of requests of the claim, each once. */
export function validateReferences(list: readonly string[] | undefined, names: RequestNames, at: Path, errors: FieldErrors): void {
  eachOnceUpTo(MAX_REQUESTS, list, at, errors, itself, (name, here) => validateReference(name, names, here, errors));
}
export function validateReference(name: string, names: RequestNames, at: Path, errors: FieldErrors): void {
  const parts = name.split('/');
  if (parts.length <= 2) for (const part of parts) validateLabel(part, at, errors);
  if (!names.has(name)) errors.invalid(at, name, referenceProblem);
}

export function validateConfiguration({ opaque }: DeviceConfiguration, at: Path, errors: FieldErrors): void {
  const here = at.child('opaque');
  if (opaque === undefined) {
    errors.required(here);
    return;
  }
  validateDriverName(opaque.driver, here.child('driver'), errors);
  validateJsonObject(opaque.parameters, MAX_OPAQUE_BYTES, here.child('parameters'), errors);
}

const specAt = Path.of('spec');

export function validateClassSpec(spec: DeviceClassSpec, errors: FieldErrors, env: KindEnv): void {
  validateSelectors(spec.selectors, specAt.child('selectors'), errors, env);
  eachUpTo(MAX_CONFIGURATIONS, spec.config, specAt.child('config'), errors, (config, here) => validateConfiguration(config, here, errors));
  const name = spec.extendedResourceName;
  if (name !== undefined && !isExtendedResource(name, env.identity))
    errors.invalid(specAt.child('extendedResourceName'), name, 'must be a valid extended resource name');
}

/** One device of the class, unless the request says otherwise. */
export function fillRequest(request: { deviceClassName?: string; allocationMode?: string; count?: number | bigint }): void {
  if ((request.allocationMode ?? '') === '') request.allocationMode = 'ExactCount';
  if (request.allocationMode === 'ExactCount' && !request.count) request.count = 1;
}
export function fillRequests({ requests = [] }: DeviceClaim): void {
  for (const { exactly, firstAvailable = [] } of requests) {
    if (exactly !== undefined) fillRequest(exactly);
    for (const one of firstAvailable) fillRequest(one);
  }
}
