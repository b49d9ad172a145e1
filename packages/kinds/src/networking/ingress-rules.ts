/** Validation of ingresses. */

import { FieldErrors, Path } from '@plat-dev/meta/field';
import { domainName } from '@plat-dev/meta/identity';
import { parseIP } from '@plat-dev/meta/ip';
import { dns1123Subdomain, nameIsDns1035Label, nameIsLabel, portName, portNumber, wildcardDns1123Subdomain } from '@plat-dev/meta/names';
import type { KindEnv, NameRule, WriteRequest } from '../kind.ts';
import { each } from '../validation/each.ts';
import { report, subdomain } from '../validation/field-checks.ts';
import { invalidText } from '../validation/go-text.ts';
import { validateLoadBalancerStatus } from '../validation/load-balancer-status.ts';
import { validateTypedReference } from '../validation/references.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import type { HTTPIngressPath, Ingress, IngressBackend, IngressRule, IngressSpec, IngressTLS } from './schema/ingress.ts';

const spec = Path.of('spec');
const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];

/** Invalid values that older releases accepted: a stored ingress may keep them, and clients of version 1beta1 may write them. */
interface Allowances {
  readonly badSecretNames: boolean;
  readonly badWildcardRules: boolean;
  /** Names of fields in the version of the request. */
  readonly names: Names;
}
interface Names {
  readonly defaultBackend: string;
  readonly serviceRule: NameRule;
  serviceName(backend: Path): Path;
  portName(backend: Path): Path;
  portNumber(backend: Path): Path;
}
const newNames: Names = {
  defaultBackend: 'defaultBackend',
  serviceRule: nameIsDns1035Label,
  serviceName: (backend) => backend.child('service').child('name'),
  portName: (backend) => backend.child('service').child('port').child('name'),
  portNumber: (backend) => backend.child('service').child('port').child('number'),
};
const betaNames: Names = {
  defaultBackend: 'backend',
  serviceRule: nameIsDns1035Label,
  serviceName: (backend) => backend.child('serviceName'),
  portName: (backend) => backend.child('servicePort'),
  portNumber: (backend) => backend.child('servicePort'),
};
const strict: Allowances = { badSecretNames: false, badWildcardRules: false, names: newNames };
const beta: Allowances = { badSecretNames: true, badWildcardRules: true, names: betaNames };
const isBeta = ({ resource }: WriteRequest): boolean => resource.version === 'v1beta1';

export function validateIngress(ingress: Ingress, errors: FieldErrors, env: KindEnv, request: WriteRequest): void {
  validateSpec(ingress.spec, errors, allowances(env, isBeta(request) ? beta : strict));
  // The annotation is older than the field; old and new controllers would read a class in both differently.
  const annotation = domainName(env.identity, 'ingress.class');
  const className = ingress.metadata.annotations?.[annotation];
  const { ingressClassName } = ingress.spec;
  if (className === undefined || ingressClassName === undefined) return;
  const at = Path.of('annotations').child(annotation);
  if (!env.since('1.27')) errors.invalid(at, className, 'can not be set when the class field is also set');
  else if (className !== ingressClassName) errors.invalid(at, className, 'must match `ingressClassName` when both are specified');
}

export function validateIngressUpdate(ingress: Ingress, old: Ingress, errors: FieldErrors, env: KindEnv, request: WriteRequest): void {
  metadataUpdateAgain(ingress, old, errors, env);
  metadataAgain(ingress, { namespaced: true }, errors, env);
  validateSpec(ingress.spec, errors, allowances(env, isBeta(request) ? beta : faultsOf(old), old));
}
const faultsOf = ({ spec: { tls = [], rules = [] } }: Ingress): Allowances => ({
  badSecretNames: tls.some(({ secretName = '' }) => secretName !== '' && dns1123Subdomain(secretName).length > 0),
  badWildcardRules: rules.some(({ host = '', http }) => host.includes('*') && http !== undefined && isBad(http)),
  names: newNames,
});

/** Services may begin with a digit where the feature is on, and where the stored ingress names one that does. */
function allowances(env: KindEnv, allowed: Allowances, old?: Ingress): Allowances {
  const relaxed = env.feature('RelaxedServiceNameValidation') || (env.since('1.34') && old !== undefined && namesRelaxedService(old));
  return relaxed ? { ...allowed, names: { ...allowed.names, serviceRule: nameIsLabel } } : allowed;
}
const namesRelaxedService = ({ spec: { defaultBackend, rules = [] } }: Ingress): boolean =>
  [defaultBackend, ...rules.flatMap(({ http }) => (http?.paths ?? []).map(({ backend }) => backend))].some((backend) => {
    const name = backend?.service?.name;
    return name !== undefined && nameIsLabel(name).length === 0 && nameIsDns1035Label(name).length > 0;
  });

export function ingressWarnings(ingress: Ingress, old: Ingress | undefined, env: KindEnv): string[] {
  const annotation = domainName(env.identity, 'ingress.class');
  const isOld = ingress.metadata.annotations?.[annotation] !== undefined && ingress.spec.ingressClassName === undefined;
  return old === undefined && isOld && env.since('1.27')
    ? [`annotation ${JSON.stringify(annotation)} is deprecated, please use 'spec.ingressClassName' instead`]
    : [];
}

export function validateIngressStatusUpdate(ingress: Ingress, old: Ingress, errors: FieldErrors, env: KindEnv): void {
  metadataUpdateAgain(ingress, old, errors, env);
  validateLoadBalancerStatus(ingress.status.loadBalancer, old.status.loadBalancer, errors, env);
}

function isBad(http: NonNullable<IngressRule['http']>): boolean {
  const pathErrors = new FieldErrors();
  validatePaths(http, spec, pathErrors, newNames);
  return !pathErrors.empty;
}

function validateSpec({ defaultBackend, rules, tls, ingressClassName }: IngressSpec, errors: FieldErrors, allowed: Allowances): void {
  const { names } = allowed;
  if (defaultBackend === undefined && (rules ?? []).length === 0)
    invalidText(errors, spec, '[]networking.IngressRule(nil)', `either \`${names.defaultBackend}\` or \`rules\` must be specified`);
  if (defaultBackend !== undefined) validateBackend(defaultBackend, spec.child(names.defaultBackend), errors, names);
  each(rules, spec.child('rules'), (rule, at) => validateRule(rule, at, errors, allowed));
  each(tls, spec.child('tls'), (entry, at) => validateTLS(entry, at, errors, allowed));
  if (ingressClassName !== undefined) subdomain(ingressClassName, spec.child('ingressClassName'), errors);
}

function validateRule({ host = '', http }: IngressRule, at: Path, errors: FieldErrors, allowed: Allowances): void {
  const wildcard = host.includes('*');
  if (host !== '') {
    if (parseIP(host) !== undefined) errors.invalid(at.child('host'), host, 'must be a DNS name, not an IP address');
    report(errors, at.child('host'), host, wildcard ? wildcardDns1123Subdomain(host) : dns1123Subdomain(host));
  }
  if (http !== undefined && !(wildcard && allowed.badWildcardRules))
    validatePaths(http, at.child('http').child('paths'), errors, allowed.names);
}

function validatePaths({ paths = [] }: NonNullable<IngressRule['http']>, at: Path, errors: FieldErrors, names: Names): void {
  if (paths.length === 0) errors.required(at);
  each(paths, at, (path, here) => validatePath(path, here, errors, names));
}

/** Sequences that servers normalize differently, which paths of the types Exact and Prefix must not have. */
const badSequences = ['//', '/./', '/../', '%2f', '%2F'];
const badEndings = ['/..', '/.'];

function validatePath({ path = '', pathType, backend }: HTTPIngressPath, at: Path, errors: FieldErrors, names: Names): void {
  if (pathType === undefined) {
    errors.required(at.child('pathType'), 'pathType must be specified');
    return;
  }
  if (!pathTypes.includes(pathType)) errors.notSupported(at.child('pathType'), pathType, pathTypes);
  else if (!path.startsWith('/') && (path !== '' || pathType !== 'ImplementationSpecific'))
    errors.invalid(at.child('path'), path, 'must be an absolute path');
  if (pathType === 'Exact' || pathType === 'Prefix') {
    for (const part of badSequences) if (path.includes(part)) errors.invalid(at.child('path'), path, `must not contain '${part}'`);
    for (const part of badEndings) if (path.endsWith(part)) errors.invalid(at.child('path'), path, `cannot end with '${part}'`);
  }
  validateBackend(backend, at.child('backend'), errors, names);
}

function validateBackend({ service, resource }: IngressBackend, at: Path, errors: FieldErrors, names: Names): void {
  if (service !== undefined && resource !== undefined) errors.invalid(at, '', 'cannot set both resource and service backends');
  else if (resource !== undefined) validateTypedReference(resource, at.child('resource'), errors);
  else if (service !== undefined) validateService(service, at, errors, names);
  else errors.invalid(at, '', 'resource or service backend is required');
}

function validateService({ name, port }: NonNullable<IngressBackend['service']>, at: Path, errors: FieldErrors, names: Names): void {
  if (name === '') errors.required(names.serviceName(at));
  else report(errors, names.serviceName(at), name, names.serviceRule(name, false));
  const { name: named = '', number = 0 } = port;
  if (named !== '' && number !== 0) errors.invalid(at, '', 'cannot set both port name & port number');
  else if (named !== '') report(errors, names.portName(at), named, portName(named));
  else if (number !== 0) report(errors, names.portNumber(at), number, portNumber(number));
  else errors.required(at, 'port name or number is required');
}

function validateTLS({ hosts = [], secretName = '' }: IngressTLS, at: Path, errors: FieldErrors, allowed: Allowances): void {
  each(hosts, at.child('hosts'), (host, here) => {
    report(errors, here, host, host.includes('*') ? wildcardDns1123Subdomain(host) : dns1123Subdomain(host));
  });
  if (secretName !== '' && !allowed.badSecretNames) subdomain(secretName, at.child('secretName'), errors);
}
