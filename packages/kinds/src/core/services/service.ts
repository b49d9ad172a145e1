/** Services. */
import { ageAt } from '@plat-dev/meta/age';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { immutableProblem, nameIsDns1035Label, nameIsLabel } from '@plat-dev/meta/names';
import { ageColumn, nameColumn } from '../../columns.ts';
import { type GateRule, type KindEnv, kind, type NameRule } from '../../kind.ts';
import { proxy, status } from '../../subresources.ts';
import { loadBalancerWarnings } from '../../validation/load-balancer-status.ts';
import { metadataAgain, metadataUpdateAgain } from '../../validation/repeated-metadata.ts';
import { Service, type ServicePort } from '../schema/service.ts';
import { validateClusterIPsUpdate, validateFamiliesUpdate } from './service-addresses.ts';
import { dropTypeDependentFields } from './service-changes.ts';
import { hasMixedProtocols, validateLoadBalancerClass, validateService } from './service-rules.ts';
import { fillModes, validateServiceStatus } from './service-status.ts';
import { isExternal, needsHealthCheck, needsNodePorts } from './service-types.ts';
import { serviceWarnings } from './service-warnings.ts';

/** Names may begin with a digit where the feature is on. */
const nameRule: NameRule = (name, prefix, env) =>
  env?.feature('RelaxedServiceNameValidation') ? nameIsLabel(name, prefix) : nameIsDns1035Label(name, prefix);

const DEFAULT_AFFINITY_SECONDS = 10800;

function defaults(service: Service, env: KindEnv): void {
  const { spec } = service;
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  else if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined)
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: DEFAULT_AFFINITY_SECONDS } };
  for (const port of spec.ports ?? []) if (port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port;
  if (isExternal(service, env) && (spec.externalTrafficPolicy ?? '') === '') spec.externalTrafficPolicy = 'Cluster';
  if ((spec.type === 'ClusterIP' || needsNodePorts(service)) && env.feature('ServiceInternalTrafficPolicy'))
    spec.internalTrafficPolicy ??= 'Cluster';
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true;
  fillModes(service, env);
}

function validateUpdate(service: Service, old: Service, errors: FieldErrors, env: KindEnv): void {
  metadataUpdateAgain(service, old, errors, env);
  validateClusterIPsUpdate(service, old, errors);
  validateFamiliesUpdate(service, old, errors);
  const { loadBalancerClass } = service.spec;
  if (service.spec.type === 'LoadBalancer' && old.spec.type === 'LoadBalancer' && loadBalancerClass !== old.spec.loadBalancerClass)
    errors.invalid(Path.of('spec', 'loadBalancerClass'), loadBalancerClass ?? 'null', 'may not change once set');
  validateLoadBalancerClass(service.spec, errors);
  if (needsHealthCheck(old) && needsHealthCheck(service) && service.spec.healthCheckNodePort !== old.spec.healthCheckNodePort)
    errors.forbidden(Path.of('spec', 'healthCheckNodePort'), immutableProblem);
  // From release 1.34 on only new names are checked.
  if (!env.since('1.34')) metadataAgain(service, { namespaced: true, nameRule }, errors, env);
  validateService(service, errors, env, old);
}

/** Services of several protocols, and what load balancers report of their ports. */
const mixedProtocols: readonly GateRule<Service>[] = [
  { gate: 'MixedProtocolLBService', uses: ({ spec }) => hasMixedProtocols(spec) },
  {
    gate: 'MixedProtocolLBService',
    uses: ({ status: { loadBalancer } }) => loadBalancer.ingress?.some(({ ports }) => ports !== undefined) ?? false,
    clear: ({ status: { loadBalancer } }) => {
      for (const ingress of loadBalancer.ingress ?? []) delete ingress.ports;
    },
  },
];

// ---- Table -------------------------------------------------------------------------------------------------------

/** The external addresses of a service. */
function externalText({ spec, status: { loadBalancer } }: Service): string {
  const own = spec.externalIPs ?? [];
  switch (spec.type) {
    case 'ClusterIP':
    case 'NodePort':
      return own.length > 0 ? own.join(',') : '<none>';
    case 'LoadBalancer': {
      const points = (loadBalancer.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '').filter((point) => point !== '');
      const all = [...[...new Set(points)].sort(), ...own];
      return all.length > 0 ? all.join(',') : '<pending>';
    }
    case 'ExternalName':
      return spec.externalName ?? '';
    default:
      return '<unknown>';
  }
}

const portText = ({ port, nodePort, protocol }: ServicePort): string =>
  nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`;

function selectorText(selector: Readonly<Record<string, string>> = {}): string {
  const terms = Object.keys(selector)
    .sort()
    .map((key) => `${key}=${selector[key]}`);
  return terms.length === 0 ? '<none>' : terms.join(',');
}

export const ServiceKind = kind<Service>({
  group: '',
  kind: 'Service',
  plural: 'services',
  short: ['svc'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: { v1: { schema: Service, defaults } },
  hub: 'v1',
  nameRule,
  createOnUpdate: true,
  deleteReturnsObject: true,
  strategy: {
    prepareForCreate: (service) => {
      service.status = { loadBalancer: {} };
    },
    prepareForUpdate: (service, old, env) => {
      service.status = old.status;
      dropTypeDependentFields(service, old, env);
    },
    validate: (service, errors, env) => validateService(service, errors, env),
    validateUpdate,
    warnings: serviceWarnings,
    // Services of this type once got the policy by mistake; it has no effect on them.
    canonicalize: ({ spec }) => {
      if (spec.type === 'ExternalName') delete spec.internalTrafficPolicy;
    },
    resetFields: [['status']],
  },
  gated: mixedProtocols,
  subresources: {
    proxy: proxy('ServiceProxyOptions'),
    status: status<Service>({
      prepareForUpdate: (service, old) => {
        service.spec = old.spec;
      },
      validateUpdate: validateServiceStatus,
      warnings: ({ status: { loadBalancer } }, _old, env) => loadBalancerWarnings(loadBalancer, env),
      resetFields: [['spec']],
    }),
  },
  from: {
    '1.31': { fields: { 'spec.clusterIP': ({ spec }) => spec.clusterIP ?? '', 'spec.type': ({ spec }) => spec.type ?? '' } },
  },
  columns: [
    nameColumn,
    { name: 'Type', type: 'string', description: 'How the service is reached.' },
    { name: 'Cluster-IP', type: 'string', description: 'The address of the service inside the cluster.' },
    { name: 'External-IP', type: 'string', description: 'Addresses by which the service is reached from outside.' },
    { name: 'Port(s)', type: 'string', description: 'The ports of the service, with node ports where it has them.' },
    ageColumn,
    { name: 'Selector', type: 'string', priority: 1, description: 'The labels by which the pods are found.' },
  ],
  cells: (service, env) => {
    const { metadata, spec } = service;
    return [
      metadata.name ?? '',
      spec.type ?? '',
      spec.clusterIPs?.[0] ?? '<none>',
      externalText(service),
      spec.ports?.map(portText).join(',') || '<none>',
      ageAt(env.now(), metadata.creationTimestamp),
      selectorText(spec.selector),
    ];
  },
});
