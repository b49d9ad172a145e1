/**
 * Drops fields that do not apply to a new type of a service, but only if the server may have filled them in and the client did
 * not change them: otherwise validation refuses them.
 */
import type { ReleaseEnv } from '../../kind.ts';
import type { Service } from '../schema/service.ts';
import { isExternal, needsClusterIP, needsHealthCheck, needsNodePorts, sameList } from './service-types.ts';

export function dropTypeDependentFields(service: Service, old: Service, env: ReleaseEnv): void {
  const { spec } = service;
  const was = old.spec;
  if (needsClusterIP(old) && !needsClusterIP(service)) {
    if ((spec.clusterIP ?? '') === (was.clusterIP ?? '') && sameList(spec.clusterIPs, was.clusterIPs)) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    if (sameList(spec.ipFamilies, was.ipFamilies)) delete spec.ipFamilies;
    if (spec.ipFamilyPolicy === was.ipFamilyPolicy) delete spec.ipFamilyPolicy;
  }
  if (needsNodePorts(old) && !needsNodePorts(service) && !hasNewNodePorts(service, old))
    for (const port of spec.ports ?? []) delete port.nodePort;
  if (needsHealthCheck(old) && !needsHealthCheck(service) && spec.healthCheckNodePort === was.healthCheckNodePort)
    delete spec.healthCheckNodePort;
  if (was.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    if (spec.allocateLoadBalancerNodePorts === was.allocateLoadBalancerNodePorts) delete spec.allocateLoadBalancerNodePorts;
    if (spec.loadBalancerClass === was.loadBalancerClass) delete spec.loadBalancerClass;
  }
  if (isExternal(old, env) && !isExternal(service, env) && spec.externalTrafficPolicy === was.externalTrafficPolicy)
    delete spec.externalTrafficPolicy;
  if (spec.type !== 'LoadBalancer') service.status = { ...service.status, loadBalancer: {} };
}

function hasNewNodePorts(service: Service, old: Service): boolean {
  const oldNodePorts = new Set(old.spec.ports?.map((port) => port.nodePort));
  return service.spec.ports?.some(({ nodePort }) => nodePort !== undefined && nodePort !== 0 && !oldNodePorts.has(nodePort)) ?? false;
}
