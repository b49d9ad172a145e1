/** Types of services, and the addresses and ports that they need: shared by validation, defaults and allocation. */
import type { ReleaseEnv } from '../../kind.ts';
import type { Service } from '../schema/service.ts';

export const headless = 'None';
export const portProtocols = ['SCTP', 'TCP', 'UDP'];
export const serviceTypes = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

/** Whether a service of this type has an address of its own, be it `None`. */
export const needsClusterIP = ({ spec }: Service): boolean => spec.type !== 'ExternalName';
export const needsNodePorts = ({ spec }: Service): boolean => spec.type === 'NodePort' || spec.type === 'LoadBalancer';
/** Whether clients outside of the cluster reach the service: by node ports, and from release 1.29 on by external addresses. */
export const isExternal = (service: Service, env: ReleaseEnv): boolean =>
  needsNodePorts(service) || (env.since('1.29') && service.spec.type === 'ClusterIP' && (service.spec.externalIPs ?? []).length > 0);
/** A load balancer for local endpoints checks each node on a health check port. */
export const needsHealthCheck = ({ spec }: Service): boolean => spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
export const isHeadless = ({ spec }: Service): boolean => spec.clusterIPs?.length === 1 && spec.clusterIPs[0] === headless;

export const sameList = (a: readonly unknown[] = [], b: readonly unknown[] = []): boolean =>
  a.length === b.length && a.every((value, i) => value === b[i]);
