/** Validation of the addresses of a service: `clusterIP`, `clusterIPs` and `ipFamilies` agree. */

import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { ipFamily } from '@plat-dev/meta/ip';
import type { KindEnv } from '../../kind.ts';
import { address } from '../../validation/addresses.ts';
import { repeatedTexts } from '../../validation/each.ts';
import { goList } from '../../validation/go-list.ts';
import { invalidText, listText } from '../../validation/go-text.ts';
import type { Service, ServiceSpec } from '../schema/service.ts';
import { headless, isHeadless } from './service-types.ts';

const spec = Path.of('spec');
const clusterIPsPath = spec.child('clusterIPs');
const familiesPath = spec.child('ipFamilies');
const policyPath = spec.child('ipFamilyPolicy');

const families = ['IPv4', 'IPv6'];
const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

/** Rules that hold before and after addresses are allocated. */
export function validateClusterIPs(service: Service, errors: FieldErrors, env: KindEnv, old?: Service): void {
  const { type, ipFamilyPolicy } = service.spec;
  if (type === 'ExternalName') return;
  validateAgreement(service.spec, errors);
  validateFamilies(service.spec.ipFamilies ?? [], errors);
  if (ipFamilyPolicy !== undefined && !policies.includes(ipFamilyPolicy)) errors.notSupported(policyPath, ipFamilyPolicy, policies);
  if (!validateAddresses(service.spec.clusterIPs ?? [], errors, env, old?.spec.clusterIPs)) return;
  validateStacks(service, errors);
}

/** The single address is primary; it is the first of several. */
function validateAgreement({ clusterIP = '', clusterIPs = [] }: ServiceSpec, errors: FieldErrors): void {
  const fail = (detail: string): void => invalidText(errors, clusterIPsPath, listText(clusterIPs), detail);
  if (clusterIP === '') {
    if (clusterIPs.length > 0) fail('must be empty when `clusterIP` is not specified');
  } else if (clusterIPs.length === 0) errors.required(clusterIPsPath);
  else if (clusterIPs[0] !== clusterIP) fail('first value must match `clusterIP`');
}

function validateFamilies(ipFamilies: readonly string[], errors: FieldErrors): void {
  const again = repeatedTexts(ipFamilies);
  ipFamilies.forEach((family, i) => {
    if (!families.includes(family)) errors.notSupported(familiesPath.index(i), family, families);
    if (again[i]) errors.duplicate(familiesPath.index(i), family);
  });
}

/** Returns whether every address is valid: only then can they be compared. */
function validateAddresses(addresses: readonly string[], errors: FieldErrors, env: KindEnv, stored?: readonly string[]): boolean {
  let readable = true;
  addresses.forEach((ip, i) => {
    if (i === 0 && ip === headless) {
      if (addresses.length === 1) return;
      readable = false;
      invalidText(errors, clusterIPsPath, listText(addresses), "'None' must be the first and only value");
      return;
    }
    if (!address(ip, clusterIPsPath.index(i), errors, env, stored)) readable = false;
  });
  if (addresses.length > 2) invalidText(errors, clusterIPsPath, listText(addresses), 'may only hold up to 2 values');
  return readable;
}

function validateStacks(service: Service, errors: FieldErrors): void {
  const { clusterIPs = [], ipFamilies = [] } = service.spec;
  if (clusterIPs.length > 1 && new Set(clusterIPs.map(ipFamily)).size < clusterIPs.length)
    invalidText(errors, clusterIPsPath, listText(clusterIPs), 'may specify no more than one IP for each IP family');
  if (isHeadless(service)) return;
  clusterIPs.forEach((ip, i) => {
    const expectedFamily = ipFamilies[i];
    if ((expectedFamily === 'IPv4' || expectedFamily === 'IPv6') && ipFamily(ip) !== expectedFamily)
      errors.invalid(clusterIPsPath.index(i), ip, `expected an ${expectedFamily} value as indicated by \`ipFamilies[${i}]\``);
  });
}

// ---- updates -----------------------------------------------------------------------------------------------------

const changed = 'may not change once set';

/** A second address may be added or released; the first one is immutable while the service has addresses. */
export function validateClusterIPsUpdate(service: Service, old: Service, errors: FieldErrors): void {
  if (service.spec.type === 'ExternalName' || old.spec.type === 'ExternalName') return;
  if (isHeadless(service) && isHeadless(old)) return;
  const now = service.spec.clusterIPs ?? [];
  const oldIPs = old.spec.clusterIPs ?? [];
  const fail = (i: number, detail: string): void => invalidText(errors, clusterIPsPath.index(i), listText(now), detail);
  if (oldIPs.length === now.length) {
    oldIPs.forEach((ip, i) => {
      if (ip !== now[i]) fail(i, changed);
    });
    return;
  }
  if (now.length === 0) fail(0, 'primary clusterIP can not be unset');
  else if (oldIPs.length > 0 && now[0] !== oldIPs[0]) fail(0, changed);
  if (oldIPs.length > now.length && now.length === 1 && service.spec.ipFamilyPolicy !== 'SingleStack')
    errors.invalid(
      policyPath,
      service.spec.ipFamilyPolicy ?? 'null',
      "must be set to 'SingleStack' when releasing the secondary clusterIP",
    );
}

export function validateFamiliesUpdate(service: Service, old: Service, errors: FieldErrors): void {
  if (service.spec.type === 'ExternalName' || old.spec.type === 'ExternalName') return;
  if (isHeadless(service) || isHeadless(old)) return;
  const { ipFamilies: now = [], clusterIPs = [], ipFamilyPolicy } = service.spec;
  const oldFamilies = old.spec.ipFamilies ?? [];
  const fail = (valueText: string, detail: string): void => invalidText(errors, familiesPath.index(0), valueText, detail);
  if (oldFamilies.length === now.length) {
    oldFamilies.forEach((family, i) => {
      if (family !== now[i]) fail(goList('core.IPFamily', now), changed);
    });
    return;
  }
  const down = oldFamilies.length > now.length;
  if (down && clusterIPs.length === 0) fail(goList('core.IPFamily', now), 'primary ipFamily can not be unset');
  if (now.length > 0 && oldFamilies.length > 0 && now[0] !== oldFamilies[0]) fail(listText(clusterIPs), changed);
  if (down && now.length === 1 && ipFamilyPolicy !== 'SingleStack')
    errors.invalid(policyPath, ipFamilyPolicy ?? 'null', "must be set to 'SingleStack' when releasing the secondary ipFamily");
}
