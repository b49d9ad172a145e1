/**
 * A service that is updated without its allocated values keeps them, so that a client may apply its original
 * manifest repeatedly.
 */
import type { Service } from '@plat-dev/kinds/core/schema/service';
import { needsClusterIP, needsHealthCheck, needsNodePorts, sameList } from '@plat-dev/kinds/core/services/service-types';

export function patchAllocated(service: Service, old: Service): void {
  const { spec } = service;
  const oldSpec = old.spec;
  if (needsClusterIP(old) && needsClusterIP(service)) {
    if ((spec.clusterIP ?? '') === '' && oldSpec.clusterIP !== undefined) spec.clusterIP = oldSpec.clusterIP;
    if ((spec.clusterIPs ?? []).length === 0 && oldSpec.clusterIPs !== undefined) spec.clusterIPs = [...oldSpec.clusterIPs];
  }
  if (needsNodePorts(old) && needsNodePorts(service)) patchNodePorts(service, old);
  if (needsHealthCheck(old) && needsHealthCheck(service) && !spec.healthCheckNodePort && oldSpec.healthCheckNodePort)
    spec.healthCheckNodePort = oldSpec.healthCheckNodePort;
}

/** A port without node port gets back the node port of the old port with its name, unless another port uses it now. */
function patchNodePorts(service: Service, old: Service): void {
  const usedNodePorts = new Set((service.spec.ports ?? []).map((port) => port.nodePort));
  const byName = new Map((old.spec.ports ?? []).map((port) => [port.name ?? '', port.nodePort]));
  for (const port of service.spec.ports ?? []) {
    if (port.nodePort) continue;
    const oldNodePort = byName.get(port.name ?? '');
    if (oldNodePort && !usedNodePorts.has(oldNodePort)) port.nodePort = oldNodePort;
  }
}

/**
 * Keeps `clusterIP` and `clusterIPs` consistent where the client sets only one of them:
 *
 *   create  clusterIP=A                        → clusterIPs=[A]
 *   update  clusterIP changed, list untouched  → the list follows
 *   update  clusterIP cleared, list untouched  → the list is cleared
 */
export function syncClusterIPs(service: Service, old: Service | undefined): void {
  const { spec } = service;
  const { clusterIP = '', clusterIPs = [] } = spec;
  if (old === undefined) {
    if (clusterIP !== '' && clusterIPs.length === 0) spec.clusterIPs = [clusterIP];
    return;
  }
  const oldClusterIP = old.spec.clusterIP ?? '';
  if (clusterIPs.length === 0 && clusterIP === oldClusterIP && old.spec.clusterIPs !== undefined)
    spec.clusterIPs = [...old.spec.clusterIPs];
  if (clusterIP === oldClusterIP || !sameList(spec.clusterIPs, old.spec.clusterIPs)) return;
  if (clusterIP === '') delete spec.clusterIPs;
  else spec.clusterIPs = [clusterIP];
}
