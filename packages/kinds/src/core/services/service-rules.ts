/** Validation of services. */

import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { domainName } from '@plat-dev/meta/identity';
import { nonSpecialIP, parseCIDR } from '@plat-dev/meta/ip';
import { validateLabels } from '@plat-dev/meta/labels';
import { portNumber } from '@plat-dev/meta/names';
import type { KindEnv } from '../../kind.ts';
import { address, range } from '../../validation/addresses.ts';
import { label, portOrName, qualified, report, subdomain, word } from '../../validation/field-checks.ts';
import type { Service, ServicePort, ServiceSpec } from '../schema/service.ts';
import { validateClusterIPs } from './service-addresses.ts';
import { isExternal, isHeadless, needsHealthCheck, portProtocols, serviceTypes } from './service-types.ts';

const spec = Path.of('spec');
const ports = spec.child('ports');
/** The port of the kubelet. */
const AGENT_PORT = 10250;
const MAX_AFFINITY_SECONDS = 86400;
const affinities = ['ClientIP', 'None'];
const trafficPolicies = ['Cluster', 'Local'];
const onlyLoadBalancer = "may only be used when `type` is 'LoadBalancer'";

/** `old` is the stored service, whose addresses of older rules may stay. */
export function validateService(service: Service, errors: FieldErrors, env: KindEnv, old?: Service): void {
  const { spec: serviceSpec } = service;
  if ((serviceSpec.ports ?? []).length === 0 && !isHeadless(service) && serviceSpec.type !== 'ExternalName') errors.required(ports);
  if (env.since('1.27')) validateTopologyAnnotations(service, errors, env);
  validateForType(service, errors, env);
  validatePorts(serviceSpec.ports ?? [], errors);
  validateLabels(serviceSpec.selector, spec.child('selector'), errors);
  validateAffinity(serviceSpec, errors);
  validateClusterIPs(service, errors, env, old);
  serviceSpec.externalIPs?.forEach((ip, i) => {
    const at = spec.child('externalIPs').index(i);
    if (address(ip, at, errors, env, old?.spec.externalIPs)) report(errors, at, ip, nonSpecialIP(ip));
  });
  word(serviceSpec.type, serviceTypes, spec.child('type'), errors);
  validateNodePorts(serviceSpec, errors);
  validateRepeatedPorts(serviceSpec.ports ?? [], errors);
  if (env.since('1.30')) validateRanges(service, errors, env, old);
  else validateSourceRanges(service, errors, env);
  validateLoadBalancer(serviceSpec, errors);
  validateLoadBalancerClass(serviceSpec, errors);
  validateTraffic(service, errors, env);
  if (serviceSpec.type === 'LoadBalancer' && hasMixedProtocols(serviceSpec) && !env.feature('MixedProtocolLBService'))
    errors.invalid(ports, serviceSpec.ports, "may not contain more than 1 protocol when type is 'LoadBalancer'");
}

export const hasMixedProtocols = ({ ports }: ServiceSpec): boolean =>
  ports?.some(({ protocol }) => protocol !== ports[0]?.protocol) ?? false;

/** Two names of one setting. */
function validateTopologyAnnotations({ metadata: { annotations } }: Service, errors: FieldErrors, { identity }: KindEnv): void {
  const [older, newer] = [domainName(identity, 'topology-aware-hints', 'service'), domainName(identity, 'topology-mode', 'service')];
  const [olderValue, newerValue] = [annotations?.[older], annotations?.[newer]];
  if (olderValue !== undefined && newerValue !== undefined && olderValue !== newerValue)
    errors.invalid(Path.of('metadata', 'annotations').key(newer), newerValue, `must match annotations[${older}] when both are specified`);
}

function validateForType(service: Service, errors: FieldErrors, env: KindEnv): void {
  const { spec: serviceSpec } = service;
  const { type } = serviceSpec;
  if (type === 'LoadBalancer' && !env.since('1.33'))
    serviceSpec.ports?.forEach(({ port }, i) => {
      if (port === AGENT_PORT)
        errors.invalid(ports.index(i), port, `may not expose port ${AGENT_PORT} externally since it is used by kubelet`);
    });
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless(service))
    errors.invalid(spec.child('clusterIPs').index(0), 'None', `may not be set to 'None' for ${type} services`);
  if (type !== 'ExternalName') return;
  for (const field of ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const)
    if (serviceSpec[field] !== undefined && serviceSpec[field].length > 0)
      errors.forbidden(spec.child(field), 'may not be set for ExternalName services');
  const name = (serviceSpec.externalName ?? '').replace(/\.$/, '');
  if (name === '') errors.required(spec.child('externalName'));
  else subdomain(name, spec.child('externalName'), errors);
}

// ---- ports -------------------------------------------------------------------------------------------------------

function validatePorts(servicePorts: readonly ServicePort[], errors: FieldErrors): void {
  const names = new Set<string>();
  servicePorts.forEach((port, i) => {
    const at = ports.index(i);
    const { name = '' } = port;
    if (name !== '') {
      label(name, at.child('name'), errors);
      if (names.has(name)) errors.duplicate(at.child('name'), name);
      names.add(name);
    } else if (servicePorts.length > 1) errors.required(at.child('name'));
    report(errors, at.child('port'), port.port, portNumber(port.port));
    word(port.protocol, portProtocols, at.child('protocol'), errors);
    portOrName(port.targetPort, at.child('targetPort'), errors);
    if (port.appProtocol !== undefined) qualified(port.appProtocol, at.child('appProtocol'), errors);
  });
}

function validateNodePorts({ type, ports: nodePorts = [] }: ServiceSpec, errors: FieldErrors): void {
  if (type === 'ClusterIP')
    nodePorts.forEach(({ nodePort }, i) => {
      if (nodePort) errors.forbidden(ports.index(i).child('nodePort'), "may not be used when `type` is 'ClusterIP'");
    });
  const usedPorts = new Set<string>();
  nodePorts.forEach(({ protocol, nodePort }, i) => {
    if (!nodePort) return;
    if (usedPorts.has(`${protocol}/${nodePort}`)) errors.duplicate(ports.index(i).child('nodePort'), nodePort);
    usedPorts.add(`${protocol}/${nodePort}`);
  });
}

function validateRepeatedPorts(servicePorts: readonly ServicePort[], errors: FieldErrors): void {
  const portTexts = new Set<string>();
  servicePorts.forEach(({ protocol, port }, i) => {
    if (portTexts.has(`${protocol}/${port}`))
      errors.add(
        'FieldValueDuplicate',
        ports.index(i),
        `Duplicate value: core.ServicePort{Name:"", Protocol:${JSON.stringify(protocol)}, AppProtocol:(*string)(nil), Port:${port}, TargetPort:intstr.IntOrString{Type:0, IntVal:0, StrVal:""}, NodePort:0}`,
      );
    portTexts.add(`${protocol}/${port}`);
  });
}

// ---- affinity, load balancers, traffic ---------------------------------------------------------------------------

function validateAffinity({ sessionAffinity, sessionAffinityConfig: config }: ServiceSpec, errors: FieldErrors): void {
  word(sessionAffinity, affinities, spec.child('sessionAffinity'), errors);
  const at = spec.child('sessionAffinityConfig');
  if (sessionAffinity === 'None') {
    if (config !== undefined) errors.forbidden(at, 'must not be set when session affinity is None');
  } else if (sessionAffinity === 'ClientIP') {
    const seconds = config?.clientIP?.timeoutSeconds;
    if (config === undefined) errors.required(at, 'when session affinity type is ClientIP');
    else if (config.clientIP === undefined) errors.required(at.child('clientIP'), 'when session affinity type is ClientIP');
    else if (seconds === undefined) errors.required(at.child('clientIP').child('timeoutSeconds'), 'when session affinity type is ClientIP');
    else if (seconds <= 0 || seconds > MAX_AFFINITY_SECONDS)
      errors.invalid(at.child('clientIP').child('timeoutSeconds'), seconds, `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`);
  }
}

/** The source ranges of a load balancer: a field, or in old manifests an annotation. */
function validateSourceRanges(service: Service, errors: FieldErrors, env: KindEnv): void {
  const annotation = domainName(env.identity, 'load-balancer-source-ranges', 'service.beta');
  const text = service.metadata.annotations?.[annotation];
  const ranges = service.spec.loadBalancerSourceRanges ?? [];
  if (ranges.length === 0 && text === undefined) return;
  const [at, valueText, sourceRanges] =
    ranges.length > 0
      ? [spec.child('LoadBalancerSourceRanges'), `[${ranges.join(' ')}]`, ranges]
      : [Path.of('metadata', 'annotations').key(annotation), text ?? '', (text ?? '').trim() === '' ? [] : (text ?? '').trim().split(',')];
  if (service.spec.type !== 'LoadBalancer') errors.forbidden(at, onlyLoadBalancer);
  if (sourceRanges.some((range) => parseCIDR(range.trim()) === undefined))
    errors.invalid(at, valueText, 'must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ');
}

/** The same since release 1.30, which names each range; those of the stored service may stay. */
function validateRanges(service: Service, errors: FieldErrors, env: KindEnv, old: Service | undefined): void {
  const annotation = domainName(env.identity, 'load-balancer-source-ranges', 'service.beta');
  const text = service.metadata.annotations?.[annotation];
  const ranges = service.spec.loadBalancerSourceRanges ?? [];
  const invalidRange = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';
  if (ranges.length > 0) {
    const at = spec.child('LoadBalancerSourceRanges');
    if (service.spec.type !== 'LoadBalancer') errors.forbidden(at, onlyLoadBalancer);
    const stored = (old?.spec.loadBalancerSourceRanges ?? []).map((value) => value.trim());
    ranges.forEach((value, i) => {
      range(value.trim(), at.index(i), errors, env, { stored, invalidRange });
    });
  } else if (text !== undefined) {
    const at = Path.of('metadata', 'annotations').key(annotation);
    if (service.spec.type !== 'LoadBalancer') errors.forbidden(at, onlyLoadBalancer);
    if (text.trim() === '' || (env.since('1.33') && old?.metadata.annotations?.[annotation] === text)) return;
    for (const value of text.trim().split(',')) range(value.trim(), at, errors, env, { invalidRange });
  }
}

function validateLoadBalancer({ type, allocateLoadBalancerNodePorts: allocate }: ServiceSpec, errors: FieldErrors): void {
  if (allocate !== undefined && type !== 'LoadBalancer') errors.forbidden(spec.child('allocateLoadBalancerNodePorts'), onlyLoadBalancer);
  if (allocate === undefined && type === 'LoadBalancer') errors.required(Path.of('allocateLoadBalancerNodePorts'));
}

export function validateLoadBalancerClass({ type, loadBalancerClass }: ServiceSpec, errors: FieldErrors): void {
  if (loadBalancerClass === undefined) return;
  if (type === 'LoadBalancer') qualified(loadBalancerClass, spec.child('loadBalancerClass'), errors);
  else errors.forbidden(spec.child('loadBalancerClass'), onlyLoadBalancer);
}

function validateTraffic(service: Service, errors: FieldErrors, env: KindEnv): void {
  const { externalTrafficPolicy: external = '', healthCheckNodePort: health = 0, internalTrafficPolicy: internal, type } = service.spec;
  if (isExternal(service, env)) word(external, trafficPolicies, spec.child('externalTrafficPolicy'), errors);
  else if (external !== '') errors.invalid(spec.child('externalTrafficPolicy'), external, onlyExternal(env));
  const healthAt = spec.child('healthCheckNodePort');
  if (!needsHealthCheck(service)) {
    if (health !== 0)
      errors.invalid(healthAt, health, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'");
  } else if (health === 0) errors.required(healthAt);
  else report(errors, healthAt, health, portNumber(health));
  if (internal !== undefined) {
    if (!trafficPolicies.includes(internal)) errors.notSupported(spec.child('internalTrafficPolicy'), internal, trafficPolicies);
  } else if ((type === 'ClusterIP' || type === 'NodePort' || type === 'LoadBalancer') && env.feature('ServiceInternalTrafficPolicy'))
    errors.required(spec.child('internalTrafficPolicy'));
  validateDistribution(service.spec, errors, env);
}
const onlyExternal = (env: KindEnv): string =>
  env.since('1.29') ? 'may only be set for externally-accessible services' : "may only be set when `type` is 'NodePort' or 'LoadBalancer'";

function validateDistribution({ trafficDistribution }: ServiceSpec, errors: FieldErrors, env: KindEnv): void {
  if (trafficDistribution === undefined) return;
  const distributions = ['PreferClose', ...(env.feature('PreferSameTrafficDistribution') ? ['PreferSameZone', 'PreferSameNode'] : [])];
  if (!distributions.includes(trafficDistribution))
    errors.notSupported(spec.child('trafficDistribution'), trafficDistribution, distributions);
}
