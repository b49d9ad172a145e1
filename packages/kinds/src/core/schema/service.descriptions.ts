import type { Descriptions } from '../../description-texts.ts';

const appProtocol = 'Application protocol of the port, such as http or a name with a domain prefix. A hint for proxies and load balancers.';
const protocol = 'Protocol of the port: TCP, UDP or SCTP. Defaults to TCP.';

export const service: Descriptions = {
  'core.Service': {
    $: 'A stable name and address for a set of pods.',
    spec: 'Desired behavior of the service: its ports, addresses, and the pods behind it.',
    status: 'Observed state of the load balancer, if the service has one.',
  },
  'core.ServiceSpec': {
    $: 'The ports and addresses of a service, and how its traffic is distributed.',
    ports: 'Ports that the service listens on. At least one, unless the service is headless or an ExternalName.',
    selector: 'Labels of the pods that traffic is sent to. Without it, endpoints are managed by others. Ignored for ExternalName.',
    clusterIP: 'Virtual IP address of the service; allocated if it is empty. None makes the service headless. Rarely changeable.',
    clusterIPs: 'Virtual IP addresses, at most one of each address family. The first one equals clusterIP.',
    type: 'How the service is exposed: ClusterIP, NodePort (also on every node), LoadBalancer (also outside) or ExternalName (an alias). Defaults to ClusterIP.',
    externalIPs: 'Additional addresses whose traffic the nodes accept for the service. The cluster does not manage them.',
    sessionAffinity: 'ClientIP sends a client to the same pod each time; None does not. Defaults to None.',
    loadBalancerIP: 'Deprecated: address to request from the load balancer, where the provider supports it.',
    loadBalancerSourceRanges: 'Client networks, as CIDRs, that the load balancer admits, where the provider supports it.',
    externalName: 'DNS name that a service of type ExternalName is an alias of, in lower case.',
    externalTrafficPolicy:
      'Cluster spreads traffic from outside over all nodes; Local keeps it on the node that received it and preserves the client address. Defaults to Cluster.',
    healthCheckNodePort:
      'Port on every node where load balancers check for local endpoints. Only for LoadBalancer with externalTrafficPolicy Local; allocated if empty.',
    publishNotReadyAddresses: 'Publish endpoints of pods that are not ready, for peer discovery. Defaults to false.',
    sessionAffinityConfig: 'Settings of the session affinity.',
    ipFamilies: 'Address families of the service: IPv4, IPv6 or both. Assigned if empty; the primary family cannot be changed.',
    ipFamilyPolicy: 'SingleStack, PreferDualStack (both families where the cluster has them) or RequireDualStack. Defaults to SingleStack.',
    allocateLoadBalancerNodePorts:
      'Whether a LoadBalancer service also gets node ports. Ports that are requested are kept either way. Defaults to true.',
    loadBalancerClass: 'Class of load balancer that implements the service. Only for LoadBalancer; cannot be changed once set.',
    internalTrafficPolicy: 'Cluster sends traffic from inside to all endpoints, Local only to those on the same node. Defaults to Cluster.',
    trafficDistribution:
      'Which endpoints are preferred: PreferSameZone those in the zone of the client, PreferSameNode those on its node; PreferClose is the older name of PreferSameZone. Without it all are equal.',
  },
  'core.ServicePort': {
    $: 'A port that a service listens on, and the port of the pods that it leads to.',
    name: 'Name of the port, a DNS label unique within the service. Required if there are several ports.',
    protocol,
    appProtocol,
    port: 'Number of the port that the service listens on, from 1 to 65535.',
    targetPort: 'Port of the pods, by number or by container port name. Defaults to the value of port; ignored for headless services.',
    nodePort: 'Port of every node that leads to the service. Allocated from the node port range if empty, for the types that use it.',
  },
  'core.SessionAffinityConfig': {
    $: 'Settings of session affinity.',
    clientIP: 'Settings of the affinity ClientIP.',
  },
  'core.ClientIPConfig': {
    $: 'Settings of session affinity by client address.',
    timeoutSeconds: 'Seconds for which a client stays with its pod, from 1 to 86400. Defaults to 10800, which is 3 hours.',
  },
  'core.ServiceStatus': {
    $: 'The observed state of a service.',
    loadBalancer: 'Observed state of the load balancer.',
    conditions: 'Observed conditions, at most one of each type.',
  },
  'core.LoadBalancerStatus': {
    $: 'The observed state of a load balancer.',
    ingress: 'Points at which traffic for the service enters.',
  },
  'core.LoadBalancerIngress': {
    $: 'A point at which traffic enters a load balancer.',
    ip: 'IP address, for load balancers that have one.',
    hostname: 'Host name, for load balancers that are found by DNS.',
    ports: 'State of each port of the load balancer, where the provider reports it.',
    ipMode:
      'How traffic for the IP address arrives: VIP with it as the destination, Proxy with that of a node or pod. Only allowed with ip. Defaults to VIP.',
  },
  'core.PortStatus': {
    $: 'The observed state of a port of a load balancer.',
    port: 'Number of the service port that the state is about.',
    protocol: 'Protocol of that port: TCP, UDP or SCTP.',
    error: 'Why the port could not be set up, as one CamelCase word, possibly with a domain prefix.',
  },
  'core.Endpoints': {
    $: 'The addresses behind a service. EndpointSlices are the scalable form of the same.',
    subsets: 'Sets of addresses and ports: each address of a set serves each port of it.',
  },
  'core.EndpointSubset': {
    $: 'Addresses that share a set of ports.',
    addresses: 'Addresses that are ready for traffic.',
    notReadyAddresses: 'Addresses that are not ready: they are starting, failed a readiness check, or are stopping.',
    ports: 'Ports that are available on each of the addresses.',
  },
  'core.EndpointAddress': {
    $: 'An address behind a service.',
    ip: 'IP address of the endpoint. Loopback, link-local and multicast addresses are not allowed.',
    hostname: 'Host name of the endpoint, used in DNS records of headless services.',
    nodeName: 'Node that hosts the endpoint, if it is known.',
    targetRef: 'Object that provides the endpoint, usually a pod.',
  },
  'core.EndpointPort': {
    $: 'A port behind a service.',
    name: 'Name of the port, equal to that of the service port. Required if there are several.',
    port: 'Number of the port on the endpoints.',
    protocol,
    appProtocol,
  },
};
