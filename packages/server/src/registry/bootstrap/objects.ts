/** Other bootstrap objects: namespaces, priority classes, the service of the API server, published certificates. */
import { isIP } from 'node:net';
import { domainName, type Identity } from '@plat-dev/meta/identity';

export function systemNamespaces(identity: Identity) {
  const { nodeLease, public: publicNamespace, system } = identity.namespaces;
  return ['default', nodeLease, publicNamespace, system].map((name) => ({
    metadata: { name, labels: { [domainName(identity, 'metadata.name')]: name } },
    spec: { finalizers: [identity.word] },
    status: { phase: 'Active' },
  }));
}

export function systemPriorityClasses() {
  const systemClass = (name: string, value: number, description: string) => ({
    metadata: { name },
    value,
    description,
    preemptionPolicy: 'PreemptLowerPriority',
  });
  return [
    systemClass(
      'system-cluster-critical',
      2_000_000_000,
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
    ),
    systemClass('system-node-critical', 2_000_001_000, 'Used for system critical pods that must not be moved from their current node.'),
  ];
}

/** `address` is the first of the service range, `port` the port of this server. */
export function serverService(identity: Identity, address: string, port: number) {
  return {
    metadata: { name: identity.serviceName, namespace: 'default', labels: { component: 'apiserver', provider: identity.word } },
    spec: {
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: port }],
      clusterIP: address,
      clusterIPs: [address],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilies: [isIP(address) === 6 ? 'IPv6' : 'IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
    },
    status: { loadBalancer: {} },
  };
}

/** The range of `--service-cluster-ip-range`, as an object that gives out addresses. */
export function defaultServiceRange(identity: Identity, cidrs: readonly string[], time: string) {
  const product = identity.word.replace(/^./, (letter) => letter.toUpperCase());
  const message = `${product} default Service CIDR is ready`;
  return {
    metadata: { name: identity.serviceName },
    spec: { cidrs: [...cidrs] },
    status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: time, reason: '', message }] },
  };
}

export interface ProxyTrust {
  readonly clientCA: string;
  readonly usernameHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
  readonly allowedNames: readonly string[];
}

/** Publishes the authorities that this server trusts to extension servers. Lists are written as JSON. */
export function authenticationConfigMap(identity: Identity, clientCA: string | undefined, proxy: ProxyTrust | undefined) {
  const list = (values: readonly string[]): string => JSON.stringify(values);
  return {
    metadata: { name: 'extension-apiserver-authentication', namespace: identity.namespaces.system },
    data: {
      ...(clientCA !== undefined && { 'client-ca-file': clientCA }),
      ...(proxy !== undefined && {
        'requestheader-client-ca-file': proxy.clientCA,
        'requestheader-username-headers': list(proxy.usernameHeaders),
        'requestheader-group-headers': list(proxy.groupHeaders),
        'requestheader-extra-headers-prefix': list(proxy.extraHeaderPrefixes),
        'requestheader-allowed-names': list(proxy.allowedNames),
      }),
    },
  };
}
