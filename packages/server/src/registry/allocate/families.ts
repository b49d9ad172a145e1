/**
 * The address families of a service: those that the client requested, completed from those that the cluster has. Runs
 * before addresses are allocated, also for a dry run.
 */
import type { Service } from '@plat-dev/kinds/core/schema/service';
import { validateClusterIPs } from '@plat-dev/kinds/core/services/service-addresses';
import { headless, needsClusterIP, sameList } from '@plat-dev/kinds/core/services/service-types';
import type { KindEnv } from '@plat-dev/kinds/kind';
import { invalidText, listText } from '@plat-dev/kinds/validation/go-text';
import { invalid } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { type IPFamily, ipFamily } from '@plat-dev/meta/ip';

const spec = Path.of('spec');
const policyPath = spec.child('ipFamilyPolicy');

const otherFamily = (family: string): IPFamily => (family === 'IPv4' ? 'IPv6' : 'IPv4');

/** Refuses the write if there are errors. */
export function refuse(service: Service, errors: FieldErrors): void {
  if (!errors.empty) throw invalid({ group: '', resource: 'Service' }, service.metadata.name ?? '', errors.list);
}

/** `configured`: the families of the cluster, the default one first. Throws an ApiError for families that are not available. */
export function fillFamilies(service: Service, old: Service | undefined, configured: readonly IPFamily[], env: KindEnv): void {
  if (!needsClusterIP(service) || keepsPreference(service, old)) return;
  fillPolicy(service, old);
  const errors = new FieldErrors();
  validateClusterIPs(service, errors, env, old);
  refuse(service, errors);
  if (old !== undefined) shrink(service, old, errors);
  checkPolicy(service, errors);
  inferFamilies(service, configured, errors);
  refuse(service, errors);
  if (isUnbound(service)) fillUnbound(service, configured);
  else {
    checkConfigured(service, configured, errors);
    refuse(service, errors);
    fillUp(service, configured);
  }
}

/**
 * A service with PreferDualStack keeps its families, even if those of the cluster have changed since: it is upgraded
 * or downgraded only when its fields are changed.
 */
export function keepsPreference(service: Service, old: Service | undefined): boolean {
  if (old === undefined || !needsClusterIP(service) || service.spec.type !== old.spec.type) return false;
  if (service.spec.ipFamilyPolicy !== 'PreferDualStack' || (old.spec.ipFamilyPolicy ?? 'PreferDualStack') !== 'PreferDualStack')
    return false;
  return sameList(service.spec.clusterIPs, old.spec.clusterIPs) && sameList(service.spec.ipFamilies, old.spec.ipFamilies);
}

/** An update that does not set the policy keeps it; a new service has one family, unless it is headless and without selector. */
function fillPolicy(service: Service, old: Service | undefined): void {
  service.spec.ipFamilyPolicy ??= old?.spec.ipFamilyPolicy ?? (isUnbound(service) ? 'RequireDualStack' : 'SingleStack');
}
/** Headless and without selector: its endpoints are not managed by a controller. */
const isUnbound = ({ spec: { clusterIP, selector } }: Service): boolean =>
  clusterIP === headless && Object.keys(selector ?? {}).length === 0;

/** A request for one family may change the policy; one that does not name families may not release the second address. */
function shrink({ spec: serviceSpec }: Service, { spec: oldSpec }: Service, errors: FieldErrors): void {
  const { clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = serviceSpec;
  if (ipFamilyPolicy === 'SingleStack') {
    if (sameList(clusterIPs, oldSpec.clusterIPs) && clusterIPs.length > 1) serviceSpec.clusterIPs = clusterIPs.slice(0, 1);
    if (sameList(ipFamilies, oldSpec.ipFamilies) && ipFamilies.length > 1) serviceSpec.ipFamilies = ipFamilies.slice(0, 1);
    return;
  }
  const fewer = (now: readonly string[], oldList: readonly string[] = []): boolean => now.length > 0 && now.length < oldList.length;
  if (fewer(clusterIPs, oldSpec.clusterIPs))
    errors.invalid(policyPath, ipFamilyPolicy, "must be 'SingleStack' to release the secondary cluster IP");
  if (fewer(ipFamilies, oldSpec.ipFamilies))
    errors.invalid(policyPath, ipFamilyPolicy, "must be 'SingleStack' to release the secondary IP family");
}

function checkPolicy({ spec: { clusterIPs = [], ipFamilies = [], ipFamilyPolicy } }: Service, errors: FieldErrors): void {
  if (ipFamilyPolicy !== 'SingleStack') return;
  const requiredPolicy = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
  if (clusterIPs.length === 2) errors.invalid(policyPath, ipFamilyPolicy, `${requiredPolicy} cluster IPs are specified`);
  if (ipFamilies.length === 2) errors.invalid(policyPath, ipFamilyPolicy, `${requiredPolicy} IP families are specified`);
}

/** The families follow from the addresses. */
function inferFamilies({ spec: serviceSpec }: Service, configured: readonly IPFamily[], errors: FieldErrors): void {
  const { clusterIPs = [] } = serviceSpec;
  const families = [...(serviceSpec.ipFamilies ?? [])];
  for (let i = 0; i < clusterIPs.length && clusterIPs[i] !== headless; i++) {
    if (i < families.length) continue;
    const family = ipFamily(clusterIPs[i] as string) as IPFamily;
    if (configured.includes(family)) families.push(family);
    else invalidText(errors, spec.child('clusterIPs').index(i), listText(clusterIPs), `${family} is not configured on this cluster`);
  }
  if (families.length > 0) serviceSpec.ipFamilies = families;
}

/** The endpoints of such a service are not known, so that it may have families that the cluster does not have. */
function fillUnbound({ spec: serviceSpec }: Service, configured: readonly IPFamily[]): void {
  const [first = configured[0] as string, second] = serviceSpec.ipFamilies ?? [];
  if (second === undefined) serviceSpec.ipFamilies = serviceSpec.ipFamilyPolicy === 'SingleStack' ? [first] : [first, otherFamily(first)];
}

function checkConfigured({ spec: serviceSpec }: Service, configured: readonly IPFamily[], errors: FieldErrors): void {
  if (serviceSpec.ipFamilyPolicy === 'RequireDualStack' && configured.length < 2)
    errors.invalid(policyPath, serviceSpec.ipFamilyPolicy, 'this cluster is not configured for dual-stack services');
  serviceSpec.ipFamilies?.forEach((family, i) => {
    if (!configured.includes(family as IPFamily))
      errors.invalid(spec.child('ipFamilies').index(i), family, 'not configured on this cluster');
  });
}

function fillUp({ spec: serviceSpec }: Service, configured: readonly IPFamily[]): void {
  const families = serviceSpec.ipFamilies?.length ? serviceSpec.ipFamilies : [configured[0] as string];
  const both = serviceSpec.ipFamilyPolicy !== 'SingleStack' && families.length === 1 && configured.length === 2;
  serviceSpec.ipFamilies = both ? [...families, otherFamily(families[0] as string)] : families;
}
